/// What the server sent does not fit what it sent before: the session is to be closed with error 61.
struct ProtocolViolation: Error, Equatable {
    /// What is wrong, for the user's eyes.
    let reason: String
}

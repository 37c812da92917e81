/// A message of a client on its way through the session.
struct ClientMessage: Sendable, Hashable {
    /// The text.
    var text: String
    /// Its sequence; nil if it has none.
    var sequence: String?
    /// Its number in the sequence, or among those without; nil if the client wants no outcome.
    var progressive: Int?
    /// How long it may wait for earlier ones.
    var maxWait: Duration
    /// Whether the client wants to know what became of it.
    var wantsOutcome: Bool
}

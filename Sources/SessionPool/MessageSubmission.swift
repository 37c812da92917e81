/// A message that a request asks to send.
package struct MessageSubmission: Sendable, Equatable {
    /// The text.
    package var text: String
    /// The sequence; nil: unordered.
    package var sequence: String?
    /// How long the server waits for missing earlier messages, in seconds; nil: the server's default.
    package var delayTimeout: Double?
    /// Whether the message waits for a session if there is none.
    package var enqueueWhileDisconnected = false
    /// Whether the outcome is asked for and told.
    package var wantsOutcome = true

    /// A message with the defaults.
    package init(text: String) { self.text = text }
}

/// The figures of a client since it was made.
package struct ClientCounters: Sendable, Equatable {
    /// Sessions that were opened.
    package var sessions: UInt64 = 0
    /// How often the connection was lost and the client went on by itself.
    package var reconnects: UInt64 = 0
    /// Updates received, over all subscriptions.
    package var updates: UInt64 = 0
    /// Server errors received.
    package var serverErrors: UInt64 = 0
    /// Messages sent.
    package var messages: UInt64 = 0
}

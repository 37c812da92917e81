/// Names one connection that the session machine asked for: a WebSocket, or one HTTP request with its response.
///
/// Identifiers are never used twice within a machine, so that whatever still arrives for a connection that was given
/// up is recognised and ignored.
package struct ConnectionID: Sendable, Hashable {
    /// A number unique within its machine.
    package let rawValue: UInt64

    /// Wraps a number.
    package init(_ rawValue: UInt64) { self.rawValue = rawValue }
}

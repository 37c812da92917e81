/// The server's number for one connection as the conversation sees it: a WebSocket, or one HTTP request with its response.
package struct LinkID: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The number.
    package let rawValue: Int

    /// Wraps a number.
    package init(_ rawValue: Int) { self.rawValue = rawValue }

    /// The number as text.
    package var description: String { "#\(rawValue)" }

    /// Order by number.
    package static func < (left: LinkID, right: LinkID) -> Bool { left.rawValue < right.rawValue }
}

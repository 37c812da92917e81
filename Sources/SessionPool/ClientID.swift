/// Names a client of the pool; the id that REST shows.
package struct ClientID: Hashable, Sendable, CustomStringConvertible {
    /// The id.
    package let rawValue: String
    /// Wraps an id.
    package init(_ rawValue: String) { self.rawValue = rawValue }
    /// The id.
    package var description: String { rawValue }
}

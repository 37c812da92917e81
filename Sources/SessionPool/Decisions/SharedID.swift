/// Names one shared upstream subscription; a number that is never used again.
package struct SharedID: Hashable, Sendable {
    /// The number.
    package let rawValue: UInt64
    /// Wraps a number.
    package init(_ rawValue: UInt64) { self.rawValue = rawValue }
}

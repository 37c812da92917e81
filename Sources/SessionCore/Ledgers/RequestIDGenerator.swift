package import TLCP

/// Gives every request that is written, and every copy of it, an identifier of its own; one per client, never reset.
package struct RequestIDGenerator: Sendable {
    private var last = 0

    /// A generator whose first identifier is 1.
    package init() {}

    /// The next identifier.
    package mutating func next() -> RequestID {
        last &+= 1
        return RequestID(last)
    }
}

/// Who has a stream open.
package struct StreamOwner: Sendable, Equatable {
    /// The peer's address, as text.
    package var peer: String
    /// The name of the caller's key or token; nil where nobody has to say who they are.
    package var identity: String?

    /// An owner.
    package init(peer: String, identity: String? = nil) {
        self.peer = peer
        self.identity = identity
    }
}

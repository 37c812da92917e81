/// What a row of a COMMAND item does to a key.
struct RowCommand: Sendable, Hashable {
    /// The three commands of the protocol.
    enum Kind: String, Sendable {
        /// The key appears.
        case add = "ADD"
        /// The key's row changes.
        case update = "UPDATE"
        /// The key goes.
        case delete = "DELETE"
    }

    /// The key.
    var key: String
    /// What happens to it.
    var kind: Kind
}

internal import TLCP

/// What is known of the session that exists.
struct SessionRecord {
    /// The server's name for it.
    let id: SessionID
    /// The address that it was created at.
    let creationAddress: String
    /// Whether control links are ignored; as the option stood at creation.
    let ignoresControlLink: Bool
    /// The address for everything that needs a new connection.
    var address: String
    /// The control link that was refused last, so that it is noted once.
    var refusedLink: String?
    /// The greatest request that the server accepts, in bytes.
    var requestLimit: Int
    /// How far the flow of data notifications has been processed.
    var cursor = RecoveryCursor()
}

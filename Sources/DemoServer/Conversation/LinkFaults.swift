/// What is wrong with a connection on purpose.
struct LinkFaults: Sendable, Hashable {
    /// Where a line is cut.
    struct LineCut: Sendable, Hashable {
        /// Bytes that are still written; nil: half of them.
        var length: Int?
    }

    /// Writes get lost up to this instant.
    var mutedUntil: Duration?
    /// Writes wait up to this instant.
    var stalledUntil: Duration?
    /// Nothing is read or written any more.
    var isHalfOpen = false
    /// An HTTP stream is held back until it ends.
    var isHeld = false
    /// Writes are cut into pieces of at most this length.
    var pieceLength: Int?
    /// Every line is written by itself.
    var isOneLinePerWrite = false
    /// Where the next line is cut, and the connection with it; nil: nowhere.
    var lineCut: LineCut?
    /// The next data notification is not written.
    var skipsNextData = false
    /// The stream ends after this many bytes.
    var contentLength: Int?
    /// The address for `CLIENTIP`.
    var clientAddress: String?
    /// The control link for `CONOK`.
    var controlLink: String?
    /// `CONOK` is written twice.
    var repeatsConOK = false
    /// What is added to `PROG`.
    var progressOffset = 0
}

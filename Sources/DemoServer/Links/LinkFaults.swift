/// The faults applied to a connection.
struct LinkFaults: Sendable, Hashable {
    struct LineCut: Sendable, Hashable {
        /// Bytes that are still written; nil: half of them.
        var length: Int?
    }

    /// Writes are lost up to this instant.
    var mutedUntil: Duration?
    /// Writes are delayed up to this instant.
    var stalledUntil: Duration?
    /// Nothing is read or written.
    var isHalfOpen = false
    /// An HTTP stream is held back until it ends.
    var isHeld = false
    /// Writes are cut into pieces of at most this length.
    var pieceLength: Int?
    /// Every line is a write of its own.
    var isOneLinePerWrite = false
    /// The place at which the next line, and with it the connection, is cut; nil: none.
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
    /// Added to the value of `PROG`.
    var progressOffset = 0

    /// Notes an effect on the writes of a connection; other effects are ignored.
    mutating func apply(_ effect: FaultEffect, at now: Duration) {
        switch effect {
        case .mute(let time): mutedUntil = now + time
        case .loseAnswer: mutedUntil = now + .seconds(86_400)
        case .stall(let time), .delay(let time): stalledUntil = now + time
        case .halfOpen: isHalfOpen = true
        case .split(let length): pieceLength = max(1, length)
        case .oneLinePerWrite: isOneLinePerWrite = true
        case .contentLength(let length): contentLength = max(0, length)
        case .clientAddress(let address): clientAddress = address
        case .controlLink(let address): controlLink = address
        case .progress(let offset): progressOffset = min(max(offset, -1_000_000_000), 1_000_000_000)
        case .duplicateAnswer: repeatsConOK = true
        case .cutLine(let length): lineCut = LineCut(length: length.map { max(0, $0) })
        default: break
        }
    }
}

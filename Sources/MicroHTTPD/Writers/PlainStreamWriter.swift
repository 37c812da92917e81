internal import CMicroHTTPD
internal import Glibc
internal import StreamIO

/// A stream on a socket taken from the library: the loop writes its head, its bytes and its end, and closes it.
final class PlainStreamWriter: StreamWriter {
    private static let lastChunk = SharedBytes(ChunkFraming.lastChunk)
    /// The number of bytes that are read from the client of a stream; after that the kernel's window limits the client.
    private static let inputLimit = 64 * 1024

    let stream: OpenStream
    private(set) var blockedSince: Moment?
    private let descriptor: Int32
    private let place: ConnectionPlace
    private let ledger: ConnectionLedger
    private let isChunked: Bool
    private var head: SharedBytes?
    /// The pieces that the kernel did not accept, the first one cut to its rest. Only a blocked stream has any.
    private var rest: [StreamPiece] = []
    private var isFinishing = false
    private var inputCount = 0

    /// - Parameter descriptor: The socket, closed in `end`.
    init(
        descriptor: Int32,
        place: ConnectionPlace,
        ledger: ConnectionLedger,
        head: SharedBytes,
        stream: OpenStream,
        isChunked: Bool
    ) {
        self.descriptor = descriptor
        self.place = place
        self.ledger = ledger
        self.head = head
        self.stream = stream
        self.isChunked = isChunked
    }

    var socket: Int32? { isChunked ? descriptor : nil }

    func begin(_ poller: Poller) -> Bool {
        // The library changes this option for its own responses on the same connection.
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        return poller.add(descriptor, token: stream.id.rawValue, interest)
    }

    func write(_ batch: inout StreamBatch, _ output: SocketOutput, _ poller: Poller, now: Moment) -> WriteOutcome {
        guard blockedSince == nil else { return .blocked }
        batch.removeAll()
        if let head {
            batch.append(head)
            self.head = nil
        }
        let progress = stream.content.fill(&batch, now: now)
        if progress == .finish {
            isFinishing = true
            if isChunked { batch.append(Self.lastChunk) }
        }
        guard case .written(let count) = output.write(batch.pieces[...], to: descriptor) else {
            return .over(.peerClosed)
        }
        if count < batch.byteCount {
            keep(batch.pieces, after: count, poller, now: now)
            batch.removeAll()
            return .blocked
        }
        batch.removeAll()
        switch progress {
        case .idle(let deadline): return .idle(wakeAt: deadline)
        case .more: return .more
        case .finish: return .over(.finished)
        }
    }

    func keep(_ pieces: [StreamPiece], after count: Int, _ poller: Poller, now: Moment) {
        rest = Self.rest(of: pieces[...], after: count)
        blockedSince = now
        poller.change(descriptor, token: stream.id.rawValue, interest)
    }

    func noticed(_ events: Poller.Events, _ output: SocketOutput, _ poller: Poller, now: Moment) -> WriteOutcome? {
        if !events.isDisjoint(with: .closed) { return .over(.peerClosed) }
        if events.contains(.readable) {
            guard let count = output.drain(descriptor) else { return .over(.peerClosed) }
            inputCount += count
            if inputCount >= Self.inputLimit { poller.change(descriptor, token: stream.id.rawValue, interest) }
        }
        return events.contains(.writable) && blockedSince != nil ? unblocked(output, poller, now) : nil
    }

    func end(_ output: SocketOutput, _ poller: Poller, closingBody: Bool) {
        poller.remove(descriptor)
        if closingBody && isChunked && rest.isEmpty && head == nil && !isFinishing {
            let piece = StreamPiece(owner: Self.lastChunk, bytes: Self.lastChunk.bytes)
            _ = output.write([piece], to: descriptor)
        }
        rest = []
        // On a close with unread input the kernel would discard the last bytes written.
        var rounds = 0
        while rounds < 16, let count = output.drain(descriptor), count > 0 { rounds += 1 }
        close(descriptor)
        ledger.release(place)
    }

    /// Writes the remaining bytes; after the last of them the content is visited again.
    private func unblocked(_ output: SocketOutput, _ poller: Poller, _ now: Moment) -> WriteOutcome {
        guard case .written(let count) = output.write(rest[...], to: descriptor) else { return .over(.peerClosed) }
        rest = Self.rest(of: rest[...], after: count)
        guard rest.isEmpty else {
            if count > 0 { blockedSince = now }
            return .blocked
        }
        blockedSince = nil
        poller.change(descriptor, token: stream.id.rawValue, interest)
        return isFinishing ? .over(.finished) : .more
    }

    private var interest: Poller.Events {
        var events = Poller.Events.closed
        if inputCount < Self.inputLimit { events.insert(.readable) }
        if blockedSince != nil { events.insert(.writable) }
        return events
    }

    private static func rest(of pieces: ArraySlice<StreamPiece>, after count: Int) -> [StreamPiece] {
        var left = count
        var rest = pieces
        while let first = rest.first, first.bytes.count <= left {
            left -= first.bytes.count
            rest.removeFirst()
        }
        var result = Array(rest)
        if left > 0, let first = result.first {
            result[0].bytes = UnsafeRawBufferPointer(rebasing: first.bytes[left...])
        }
        return result
    }
}

/// Takes the socket of a connection from the library.
///
/// The library has no call for that; a suspended connection would keep its object and buffers, some 5 KiB, for as long
/// as the stream is open. So the socket gets another descriptor, and a dummy socket gets the old one: the library,
/// resumed, shuts down and closes the dummy and frees everything.
enum SocketHandover {
    /// Moves the socket of a suspended connection (it is then in no epoll set of the library) to another descriptor.
    ///
    /// - Returns: The new descriptor, to be closed by the caller; nil if the system refuses, with nothing changed.
    static func take(_ descriptor: Int32) -> Int32? {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let dummy = socket(AF_UNIX, type, 0)
        guard dummy >= 0 else { return nil }
        defer { close(dummy) }
        let taken = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard taken >= 0 else { return nil }
        guard dup2(dummy, descriptor) == descriptor else {
            close(taken)
            return nil
        }
        // `dup2` does not copy this flag.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return taken
    }
}

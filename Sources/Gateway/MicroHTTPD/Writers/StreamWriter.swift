internal import Glibc
internal import Primitives
internal import StreamIO

/// The writer of one open stream: writes its head, its bytes and its end. Used by the thread that has the loop's turn.
final class StreamWriter {
    private static let lastChunk = SharedBytes(ChunkFraming.lastChunk)
    /// The number of bytes that are read from the client of a stream; after that the kernel's window limits the client.
    private static let inputLimit = 64 * 1024
    /// A read counts as at least so many bytes, because TLS records may have no content.
    private static let leastInput = 64

    let stream: OpenStream
    /// When the client stopped accepting bytes; nil if it accepts them, or none are pending.
    private(set) var blockedSince: Moment?
    /// The bytes that the system kept for the client of a blocked stream at the last look.
    private var queued: Int32 = 0
    private let connection: StreamConnection
    private let isChunked: Bool
    private var head: SharedBytes?
    /// The pieces that were not accepted, the first one cut to its rest. Only a blocked stream has any.
    private var rest: [StreamPiece] = []
    private var isFinishing = false
    private var inputCount = 0

    /// - Parameter connection: Closed in `end`.
    init(connection: StreamConnection, head: SharedBytes, stream: OpenStream, isChunked: Bool) {
        self.connection = connection
        self.head = head
        self.stream = stream
        self.isChunked = isChunked
    }

    /// The sink, if shared bytes can be written to it as they are, and it accepts bytes.
    var sharedSink: StreamSink? { isChunked && blockedSince == nil ? connection.sink : nil }

    /// Starts watching for the client, which may accept no bytes for `blockedTimeout` at most; false if the system refuses.
    func begin(_ poller: Poller, blockedTimeout: Duration) -> Bool {
        Self.sendAtOnce(connection.descriptor)
        Self.limitSilence(of: connection.descriptor, to: blockedTimeout)
        return poller.add(connection.descriptor, token: stream.id.rawValue, interest)
    }

    /// Sets the options that the library changes for its own responses on the same connection.
    static func sendAtOnce(_ descriptor: Int32) {
        for (option, value) in [(TCP_CORK, 0), (TCP_NODELAY, 1)] as [(Int32, Int32)] {
            var value = value
            setsockopt(descriptor, Int32(IPPROTO_TCP), option, &value, socklen_t(MemoryLayout<Int32>.size))
        }
    }

    /// Lets the system end the connection of a client that no longer acknowledges bytes, because the machine or network of the
    /// client is gone: the system still accepts bytes, so that the stream does not look blocked. The connection ends a second
    /// later than a blocked stream, which ends with a reason.
    static func limitSilence(of descriptor: Int32, to timeout: Duration) {
        var value = Int32(min(timeout / .milliseconds(1), 1e9)) + 1_000
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    func write(_ batch: inout StreamBatch, _ output: StreamOutput, _ poller: Poller, now: Moment) -> WriteOutcome {
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
        guard case .written(let count) = output.write(batch.pieces[...], to: connection.sink) else {
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

    /// The client accepted only this many bytes of a shared write: keeps the rest. The stream is blocked.
    func keep(_ pieces: [StreamPiece], after count: Int, _ poller: Poller, now: Moment) {
        rest = Self.rest(of: pieces[...], after: count)
        block(at: now)
        poller.change(connection.descriptor, token: stream.id.rawValue, interest)
    }

    private func block(at now: Moment) {
        blockedSince = now
        queued = bytesInQueue
    }

    /// Whether the client of a blocked stream has accepted bytes since the last look; if so, the stream is blocked since now. The
    /// system reports a writable socket once a third of its buffer is free, which takes a slow client a long time.
    func acceptsBytes(at now: Moment) -> Bool {
        let former = queued
        block(at: now)
        return queued < former
    }

    private var bytesInQueue: Int32 {
        var count: Int32 = 0
        return ioctl(connection.descriptor, UInt(TIOCOUTQ), &count) == 0 ? count : 0
    }

    /// Handles an event of the descriptor; nil if it changes nothing.
    func noticed(_ events: Poller.Events, _ output: StreamOutput, _ poller: Poller, now: Moment) -> WriteOutcome? {
        if !events.isDisjoint(with: .closed) { return .over(.peerClosed) }
        if events.contains(.readable), readsInput {
            guard let count = output.drain(connection.sink) else { return .over(.peerClosed) }
            inputCount += max(count, Self.leastInput)
            if !readsInput { poller.change(connection.descriptor, token: stream.id.rawValue, interest) }
        }
        return events.contains(.writable) && blockedSince != nil ? unblocked(output, poller, now) : nil
    }

    /// Ends the stream and its connection.
    ///
    /// - Parameter closingBody: Whether the body should be ended properly, if that is possible at once.
    func end(_ output: StreamOutput, _ poller: Poller, closingBody: Bool) {
        poller.remove(connection.descriptor)
        if closingBody && isChunked && rest.isEmpty && head == nil && !isFinishing {
            let piece = StreamPiece(owner: Self.lastChunk, bytes: Self.lastChunk.bytes)
            _ = output.write([piece], to: connection.sink)
        }
        rest = []
        // Encrypted input is not decrypted.
        output.discardInput(of: connection.descriptor)
        connection.close()
    }

    /// Writes the remaining bytes; after the last of them the content is visited again.
    private func unblocked(_ output: StreamOutput, _ poller: Poller, _ now: Moment) -> WriteOutcome {
        guard case .written(let count) = output.write(rest[...], to: connection.sink) else { return .over(.peerClosed) }
        rest = Self.rest(of: rest[...], after: count)
        guard rest.isEmpty else {
            if count > 0 { block(at: now) }
            return .blocked
        }
        blockedSince = nil
        poller.change(connection.descriptor, token: stream.id.rawValue, interest)
        return isFinishing ? .over(.finished) : .more
    }

    private var interest: Poller.Events {
        var events = Poller.Events.closed
        if readsInput { events.insert(.readable) }
        if blockedSince != nil { events.insert(.writable) }
        return events
    }

    /// A request for new keys is not read while a record is kept in the session, which would then send it twice.
    private var readsInput: Bool { inputCount < Self.inputLimit && blockedSince == nil }

    static func rest(of pieces: ArraySlice<StreamPiece>, after count: Int) -> [StreamPiece] {
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

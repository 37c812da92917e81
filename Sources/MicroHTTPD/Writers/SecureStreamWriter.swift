internal import Glibc
internal import StreamIO

/// A stream whose bytes are sent by the library, for TLS: the library reads them when it can send; while there are
/// none the connection is suspended and the loop watches its descriptor.
final class SecureStreamWriter: StreamWriter {
    let stream: OpenStream
    private(set) var blockedSince: Moment?
    private let exchange: Exchange
    /// Retains the writer in its table while the stream is open, which is longer than the library reads from it.
    private unowned let scheduler: StreamScheduler
    /// The pieces that did not fit into the library's buffer, the first one cut to its rest.
    private var rest: ArraySlice<StreamPiece> = []
    private var isFinishing = false
    private var isOver = false
    private var isSuspended = false

    init(exchange: Exchange, stream: OpenStream, scheduler: StreamScheduler) {
        self.exchange = exchange
        self.stream = stream
        self.scheduler = scheduler
    }

    /// The library encrypts, so shared bytes cannot be written directly.
    var socket: Int32? { nil }

    func begin(_ poller: Poller) -> Bool { true }

    func keep(_ pieces: [StreamPiece], after count: Int, _ poller: Poller, now: Moment) {
        preconditionFailure("shared bytes were written past the library")
    }

    func write(_ batch: inout StreamBatch, _ output: SocketOutput, _ poller: Poller, now: Moment) -> WriteOutcome {
        wake(poller)
        return .handedOver
    }

    func noticed(_ events: Poller.Events, _ output: SocketOutput, _ poller: Poller, now: Moment) -> WriteOutcome? {
        events.isDisjoint(with: .closed) ? nil : .over(.peerClosed)
    }

    func end(_ output: SocketOutput, _ poller: Poller, closingBody: Bool) {
        isFinishing = isFinishing || closingBody
        leave()
        if isSuspended {
            wake(poller)
        } else if !closingBody {
            // The library has the connection and waits for its client, which has left.
            shutdown(exchange.record.descriptor, Int32(SHUT_RDWR))
        }
    }

    /// The content reader: fills the buffer, or suspends the connection if nothing is due.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        if isOver { return isFinishing ? ContentReaderCode.end : ContentReaderCode.error }
        var filled = 0
        while filled < buffer.count {
            if rest.isEmpty {
                guard !isFinishing else { break }
                rest = scheduler.fill(self)
                if rest.isEmpty { break }
            }
            filled += copy(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
        }
        if filled > 0 {
            blockedSince = scheduler.handedOut(self, filled)
            return filled
        }
        blockedSince = nil
        if isFinishing {
            scheduler.closed(self, .finished)
            return ContentReaderCode.end
        }
        if !isSuspended {
            isSuspended = true
            exchange.server.suspend(exchange.connection)
            scheduler.suspended(self, exchange.record.descriptor)
        }
        return 0
    }

    /// The stream is no longer open; the library may not have been notified yet.
    func leave() {
        isOver = true
        exchange.phase = .over
        exchange.secureStream = nil
    }

    /// The content has no more bytes.
    func willFinish() {
        isFinishing = true
    }

    private func wake(_ poller: Poller) {
        guard isSuspended else { return }
        isSuspended = false
        poller.remove(exchange.record.descriptor)
        exchange.resume()
    }

    private func copy(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        var filled = 0
        while filled < buffer.count, let first = rest.first {
            let count = min(first.bytes.count, buffer.count - filled)
            UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: first.bytes[..<count]))
            filled += count
            if count == first.bytes.count {
                rest.removeFirst()
            } else {
                rest[rest.startIndex].bytes = UnsafeRawBufferPointer(rebasing: first.bytes[count...])
            }
        }
        return filled
    }
}

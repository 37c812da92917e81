internal import CMicroHTTPD
internal import Glibc
internal import Primitives

/// Accepts the connections of a loop. When the system has no descriptors left, the acceptor closes spare ones to accept
/// connections that may only send operational requests. Without spare descriptors, or if the system has no memory, it
/// pauses: new connections wait in the queue of the kernel. Confined to the loop's thread.
final class Acceptor {
    /// The most connections that one pass of the loop accepts.
    private static let batch = 64
    private static let pause = Duration.seconds(1)
    /// The most operational connections of a loop at a time while the system has no descriptors left.
    private static let mostSpares = 4

    private let listener: ListeningSocket
    private let token: UInt64
    private let poller: Poller
    private let ledger: ConnectionLedger
    private let report: (String) -> Void
    private var isClosed = false
    /// Unused descriptors, to be closed when a connection needs one.
    private var spares: [Int32] = []
    /// When the acceptor tries again; nil while it is not paused.
    private(set) var pausedUntil: Moment?

    /// - Parameters:
    ///   - listener: Owned by the acceptor.
    ///   - report: Called with the system's reason when connections are refused, at most once a minute in all loops.
    init(
        _ listener: ListeningSocket,
        token: UInt64,
        poller: Poller,
        ledger: ConnectionLedger,
        report: @escaping (String) -> Void
    ) {
        self.listener = listener
        self.token = token
        self.poller = poller
        self.ledger = ledger
        self.report = report
    }

    /// Starts watching the listening socket; false if the system refuses.
    func begin() -> Bool {
        fillSpares()
        return poller.add(listener.descriptor, token: token, .connection)
    }

    /// Accepts the queued connections. Those beyond the limits are closed.
    func accept(into server: HTTPServer, now: Moment) {
        guard !isClosed, pausedUntil == nil else { return }
        fillSpares()
        for _ in 0..<Self.batch {
            var outcome = acceptOne(into: server)
            let shortage = outcome
            if outcome == EMFILE || outcome == ENFILE, let spare = spares.popLast() {
                Glibc.close(spare)
                outcome = acceptOne(into: server, beyondLimit: true)
                // Succeeds if the connection was closed at once, or if there was none.
                fillSpares()
                if outcome == 0 { warn(shortage, now) }
            }
            switch outcome {
            case 0, ECONNABORTED, EINTR, EPROTO, EPERM: continue
            case EMFILE, ENFILE, ENOBUFS, ENOMEM:
                poller.remove(listener.descriptor)
                pausedUntil = now + Self.pause
                warn(outcome, now)
                return
            default: return
            }
        }
    }

    /// Tries again after the pause.
    func advance(to now: Moment) {
        guard let end = pausedUntil, end <= now else { return }
        pausedUntil = isClosed || begin() ? nil : now + Self.pause
    }

    /// Closes the listening socket; may be called twice.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        pausedUntil = nil
        poller.remove(listener.descriptor)
        listener.close()
        spares.forEach { Glibc.close($0) }
        spares = []
    }

    /// Accepts one connection; returns 0 or the error of the system.
    private func acceptOne(into server: HTTPServer, beyondLimit: Bool = false) -> Int32 {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { pointer in
            let address = UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: sockaddr.self)
            let socket = cmhd_accept(listener.descriptor, address, &length)
            guard socket >= 0 else { return errno }
            if let place = ledger.admit(PeerAddress(address), descriptor: socket, beyondLimit: beyondLimit) {
                server.add(socket, address, length, place)
            } else {
                Glibc.close(socket)
            }
            return 0
        }
    }

    private func fillSpares() {
        while spares.count < Self.mostSpares {
            let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return }
            spares.append(descriptor)
        }
    }

    private func warn(_ error: Int32, _ now: Moment) {
        if ledger.mayReportRefusal(at: now) { report(SystemText.text(for: error)) }
    }
}

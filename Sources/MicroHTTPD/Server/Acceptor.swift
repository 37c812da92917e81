internal import CMicroHTTPD
internal import Glibc
internal import StreamIO

/// Accepts the connections of a loop. When the system refuses them, for lack of descriptors or memory, it pauses: new
/// connections wait in the queue of the kernel. Confined to the loop's thread.
final class Acceptor {
    /// The most connections that one pass of the loop accepts.
    private static let batch = 64
    private static let pause = Duration.seconds(1)

    private let listener: ListeningSocket
    private let token: UInt64
    private let poller: Poller
    private let ledger: ConnectionLedger
    private let report: (String) -> Void
    private var isClosed = false
    /// When it tries again; nil while it is not paused.
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
    func begin() -> Bool { poller.add(listener.descriptor, token: token, .connection) }

    /// Accepts the queued connections. Those beyond the limits are closed.
    func accept(into server: HTTPServer, now: Moment) {
        guard !isClosed, pausedUntil == nil else { return }
        for _ in 0..<Self.batch {
            var storage = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let outcome = withUnsafeMutablePointer(to: &storage) { pointer in
                let address = UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: sockaddr.self)
                return acceptOne(address, &length, into: server)
            }
            switch outcome {
            case 0, ECONNABORTED, EINTR, EPROTO, EPERM: continue
            case EMFILE, ENFILE, ENOBUFS, ENOMEM:
                poller.remove(listener.descriptor)
                pausedUntil = now + Self.pause
                if ledger.mayReportRefusal(at: now) { report(SystemText.text(for: outcome)) }
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
    }

    /// Accepts one connection; returns 0 or the error of the system.
    private func acceptOne(
        _ address: UnsafeMutablePointer<sockaddr>,
        _ length: inout socklen_t,
        into server: HTTPServer
    ) -> Int32 {
        let socket = cmhd_accept(listener.descriptor, address, &length)
        guard socket >= 0 else { return errno }
        if let place = ledger.admit(PeerAddress(address)) {
            server.add(socket, address, length, place)
        } else {
            Glibc.close(socket)
        }
        return 0
    }
}

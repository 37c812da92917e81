internal import MicroHTTPD
internal import Synchronization

/// The front end, once it runs.
final class RunningDaemon: Sendable {
    private let daemon = Mutex<Daemon?>(nil)

    /// None runs yet.
    init() {}

    /// This one runs from now on.
    func set(_ daemon: Daemon) { self.daemon.withLock { $0 = daemon } }

    /// Its figures; all zero before it runs.
    var figures: DaemonFigures { daemon.withLock { $0 }?.figures ?? DaemonFigures() }

    /// Uses another certificate for connections from now on. Does nothing before it runs.
    func replaceCertificate(_ certificate: DaemonConfiguration.Certificate) async throws(DaemonError) {
        guard let daemon = daemon.withLock({ $0 }) else { return }
        try await daemon.replaceCertificate(certificate)
    }
}

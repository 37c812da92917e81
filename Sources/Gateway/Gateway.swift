package import EventHub
internal import LightstreamerClient
package import Logging
internal import MicroHTTPD
internal import SessionCore
package import SessionPool
internal import Synchronization

/// The product: joins the pool of upstream sessions, the event hub, the REST interface and the HTTP front end.
package final class Gateway: Sendable {
    /// What it was told, at its start or since.
    package let current: LiveConfiguration
    /// The upstream side.
    package let pool: SessionPool
    /// The fan-out.
    package let hub: EventHub

    private let logger: Logger
    private let streams: StreamRegistry
    private let access: AccessControl
    private let host: HTTPHost
    private let daemon: RunningDaemon
    private let stop = StopSignal()

    /// A gateway that is not running yet.
    package init(configuration: GatewayConfiguration, logger: Logger) {
        self.logger = logger
        let (current, access) = (LiveConfiguration(configuration), AccessControl(configuration.access))
        let (requests, upstreamMetrics, daemon) = (RequestMetrics(), UpstreamMetrics(), RunningDaemon())
        (self.current, self.access, self.daemon) = (current, access, daemon)
        hub = EventHub(
            configuration: configuration.hub,
            epoch: RandomID.make(prefix: "e"),
            clock: Moment.monotonic
        )
        let sink = HubSink(hub: hub, owners: access.owners, upstreamMetrics: upstreamMetrics)
        var client = ClientConfiguration()
        client.logger = logger
        pool = SessionPool(configuration: configuration.pool, sink: sink, clientConfiguration: client, logger: logger)
        streams = StreamRegistry(hub: hub)
        let exposition = MetricsReport(
            requests: requests,
            upstreamMetrics: upstreamMetrics,
            pool: pool,
            hub: hub,
            streams: streams,
            daemon: { daemon.figures }
        )
        host = HTTPHost(
            current: current,
            access: access,
            pool: pool,
            streams: streams,
            requests: requests,
            logger: logger,
            metrics: { exposition.text }
        )
    }

    /// Listens and serves until `beginShutdown` or cancellation; then says goodbye to every stream, finishes what is
    /// under way within the grace time, disconnects upstream and returns.
    ///
    /// - Parameter listening: Called once with the port, when connections are accepted.
    /// - Throws: `DaemonError` if it cannot listen; the mistake in a key that tokens are verified with.
    package func run(listening: @escaping @Sendable (UInt16) async -> Void = { _ in }) async throws {
        let (streams, configuration) = (streams, configuration)
        _ = try await access.load(configuration.access)
        configuration.pool.sessionLimit.apply()
        let daemon = Daemon(configuration: configuration.http, handler: host) { loop in
            streams.makeFeed(for: loop)
        }
        let port = try daemon.start()
        self.daemon.set(daemon)
        defer { daemon.close() }
        logger.info("listening", metadata: ["address": "\(configuration.http.host)", "port": "\(port)"])
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.pool.run() }
            group.addTask { await self.host.run() }
            await listening(port)
            await stop.wait()
            logger.info("stopping", metadata: ["streams": "\(streams.count)"])
            host.stopAccepting()
            daemon.stopAccepting()
            streams.closeAll(reason: "shutdown")
            let isQuiet = await daemon.drain(within: configuration.shutdownGrace)
            if !isQuiet { logger.warning("cut off what was not finished within the grace time") }
            group.cancelAll()
        }
    }

    /// What holds at present.
    package var configuration: GatewayConfiguration { current.value }

    /// Takes over what can change while streams go on: access, limits, origins, upstreams and their quotas, lingers,
    /// the certificate. Streams are ended only where the rights that opened them are gone.
    ///
    /// - Returns: What has changed and takes effect with the next start only, as keys of the configuration.
    /// - Throws: `DaemonError` for a certificate that cannot be used, and the mistake in a key that tokens are verified
    ///   with; the rest is not taken over then.
    package func reload(_ newer: GatewayConfiguration) async throws -> [String] {
        let older = current.value
        if let certificate = newer.http.certificate, older.http.certificate != nil {
            try await daemon.replaceCertificate(certificate)
        }
        let isRevoked = try await access.load(newer.access)
        pool.reload(newer.pool)
        newer.pool.sessionLimit.apply()
        current.replace(by: newer.keeping(older))
        for stream in streams.list() where isRevoked(stream.owner.identity) {
            streams.close(stream.summary.id, reason: "revoked")
        }
        return newer.partsForNextStart(after: older)
    }

    /// Starts the stop that `run` then carries out. May be called from anywhere, more than once.
    package func beginShutdown() { stop.set() }
}

/// A word that is given once and that many may wait for.
struct StopSignal: Sendable {
    private let stream: AsyncStream<Never>
    private let source: AsyncStream<Never>.Continuation

    init() {
        (stream, source) = AsyncStream.makeStream(of: Never.self)
    }

    /// Gives the word.
    func set() { source.finish() }

    /// Waits for the word, or for cancellation.
    func wait() async {
        for await _ in stream {}
    }
}

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

/// The version of this program, which is also that of its contract, `openapi.yaml`.
package enum GatewayVersion {
    /// As Semantic Versioning writes it.
    package static let text = "1.0.0"
}

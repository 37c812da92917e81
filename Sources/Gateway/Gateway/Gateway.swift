internal import Changes
package import EventHub
internal import FoundationEssentials
internal import GatewayStreaming
internal import LightstreamerClient
package import Logging
internal import MicroHTTPD
internal import Primitives
package import SessionPool
internal import StreamIO

/// Connects the pool of upstream sessions, the event hub, the REST interface and the HTTP server.
package final class Gateway: Sendable {
    package let current: LiveConfiguration
    package let pool: SessionPool
    package let hub: EventHub

    private let logger: Logger
    private let streams: StreamRegistry
    private let access: AccessControl
    let host: HTTPHost
    private let daemon: RunningDaemon
    private let coordination: any Coordination
    private let stop = StopSignal()

    /// How long a stop waits for the notification of the other members.
    private static let leaveTime = Duration.seconds(1)

    /// Makes the coordination of a gateway with a hub whose events the coordination numbers; nil for a gateway that runs alone.
    package typealias MakeCoordination = @Sendable (GatewayConfiguration, Logger) -> ((EventHub) -> any Coordination)?

    /// A gateway that is not running yet.
    ///
    /// - Parameter coordination: Makes the coordination; by default the gateway runs alone.
    package init(
        configuration: GatewayConfiguration,
        logger: Logger,
        coordination makeCoordination: MakeCoordination = { _, _ in nil }
    ) {
        self.logger = logger
        let current = LiveConfiguration(configuration)
        let (requests, daemon) = (RequestMetrics(), RunningDaemon())
        (self.current, self.daemon) = (current, daemon)
        var limits = configuration.hubConfiguration()
        limits.refusalText = ProblemDetails.refusalText
        let makeShared = makeCoordination(configuration, logger)
        let hub = EventHub(
            configuration: limits,
            epoch: RandomID.make(prefix: "e"),
            numbering: makeShared == nil ? .counted : .given
        )
        self.hub = hub
        let coordination = makeShared?(hub) ?? SingleProcess(hub: hub, clock: Moment.monotonic)
        self.coordination = coordination
        let access = AccessControl(configuration.access, tickets: coordination.tickets)
        self.access = access
        var client = ClientConfiguration()
        client.logger = logger
        pool = SessionPool(
            configuration: configuration.poolConfiguration(),
            sink: coordination.publisher,
            removed: { [access] in access.owners.forget($0) },
            clientConfiguration: client,
            logger: logger,
            held: { [access, weak coordination] in
                access.owners.usage.held.merging(coordination?.held ?? [:]) { $0.union($1) }
            },
            observeConnection: ConnectionLog(logger: logger).observe
        )
        coordination.attach(pool)
        streams = StreamRegistry(hub: hub)
        let messages = MessageMemory()
        let messageUse = { @Sendable in messages.use(limit: current.value.pool.maxMessageBytes) }
        let report = MetricsReport(
            requests: requests,
            pool: pool,
            hub: hub,
            streams: streams,
            daemon: { daemon.figures },
            messages: messageUse,
            coordination: coordination,
            keySet: { [access] in access.keySetFigures },
            isLatest: { current.isLatest }
        )
        let services = Services(
            current: current,
            access: access,
            pool: pool,
            streams: streams,
            streamResources: StreamResources(memory: hub.memory) { [weak coordination] in
                coordination?.made(.streamRemoved($0))
            },
            timers: TimerQueue(clock: Moment.monotonic),
            process: ProcessState(startedAt: Moment.monotonic()),
            metrics: { report.text },
            clock: Moment.monotonic,
            coordination: coordination,
            messages: messages,
            memory: { MemoryBudgets(hub.memory, daemon.figures, messages: messageUse()) }
        )
        host = HTTPHost(services: services, middlewares: HTTPHost.guards(services), requests: requests, logger: logger)
    }

    /// Serves requests until `beginShutdown` or cancellation. Then it sends `closing` to every stream, completes
    /// pending responses within the grace time, disconnects from the upstreams and returns.
    ///
    /// - Parameter listening: Called once with the port, as soon as connections are accepted.
    /// - Throws: `ListeningError` if it cannot listen; `DaemonError` for other failures of the HTTP server; the mistake
    ///   in a key for the verification of tokens.
    package func run(listening: @escaping @Sendable (UInt16) async -> Void = { _ in }) async throws {
        let (streams, configuration, coordination) = (streams, configuration, coordination)
        _ = try access.load(configuration.access)
        configuration.pool.sessionLimit.apply()
        let daemon = Daemon(
            configuration: configuration.daemon(following: current),
            handler: host
        ) { loop -> any StreamFeed in streams.makeFeed(for: loop) }
        let port: UInt16
        do {
            port = try daemon.start()
        } catch .cannotListen(let reason) {
            let http = configuration.http
            throw ListeningError(service: "the gateway", host: http.host, port: Int(http.port), reason: reason)
        }
        self.daemon.set(daemon)
        defer { daemon.close() }
        logger.info("listening", metadata: ["address": "\(configuration.http.host)", "port": .stringConvertible(port)])
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.pool.run() }
            group.addTask { await self.host.run() }
            group.addTask { await self.watch(daemon) }
            group.addTask { await coordination.run() }
            group.addTask {
                await KeySetLoader(access: self.access, revoke: self.host.services.end, logger: self.logger).run()
            }
            await listening(port)
            await stop.wait()
            logger.info("stopping", metadata: ["streams": .stringConvertible(streams.count)])
            host.stopAccepting()
            daemon.stopAccepting()
            await coordination.leave(within: Self.leaveTime)
            hub.closeAll(reason: "shutdown")
            let isQuiet = await daemon.drain(within: configuration.shutdownGrace)
            if !isQuiet { logger.warning("closed connections that were still busy at the end of the grace time") }
            group.cancelAll()
        }
    }

    package var configuration: GatewayConfiguration { current.value }

    /// Applies the settings that can change at run time: access, limits, origins, upstreams and their quotas, lingers,
    /// the certificate. Ends only what callers have lost the right to.
    ///
    /// - Returns: The changed keys that take effect with the next start only.
    /// - Throws: `ConfigurationError` if the new configuration requires no credentials on the address that the gateway
    ///   listens on until the next start; `DaemonError` for an unusable certificate; the mistake in a key for the
    ///   verification of tokens. Other settings are then left as they were.
    package func reload(_ newer: GatewayConfiguration) async throws -> [String] {
        let older = current.value
        if let rule = newer.access.violation(listeningOn: older.http.host) {
            let place = "the address in use, \(older.http.host)"
            throw ConfigurationError(mistakes: [ConfigurationMistake(place: place, key: "http.host", rule: rule)])
        }
        if let certificate = newer.http.certificate, older.http.certificate != nil {
            try await daemon.replaceCertificate(certificate)
        }
        let revocation = try access.load(newer.access)
        pool.reload(newer.poolConfiguration())
        coordination.reload(newer)
        newer.pool.sessionLimit.apply()
        current.replace(by: newer.keepingRestartSettings(of: older))
        host.services.end(revocation)
        return newer.restartKeys(changedFrom: older)
    }

    /// Makes `run` stop. May be called from any thread, more than once.
    package func beginShutdown() { stop.set() }
}

/// A signal that is set once; any number of tasks may wait for it.
package struct StopSignal: Sendable {
    private let stream: AsyncStream<Never>
    private let source: AsyncStream<Never>.Continuation

    package init() { (stream, source) = AsyncStream.makeStream(of: Never.self) }

    package func set() { source.finish() }

    /// Waits for the signal, or for cancellation.
    package func wait() async { for await _ in stream {} }
}

/// The HTTP server, once it runs.
final class RunningDaemon: Sendable {
    private let daemon = RankedMutex<Daemon?>(nil)

    func set(_ daemon: Daemon) { self.daemon.withLock { $0 = daemon } }

    /// The figures of the server; all zero before it runs.
    var figures: DaemonFigures { daemon.withLock { $0 }?.figures ?? DaemonFigures() }

    /// Replaces the certificate for new connections. Does nothing before the server runs.
    func replaceCertificate(_ certificate: DaemonConfiguration.Certificate) async throws(DaemonError) {
        guard let daemon = daemon.withLock({ $0 }) else { return }
        try await daemon.replaceCertificate(certificate)
    }
}

/// The version of the gateway and of its contract, openapi.yaml.
package enum GatewayVersion {
    /// In the form of Semantic Versioning.
    package static let text = "1.3.0"
}

/// A service cannot listen on its address.
package struct ListeningError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The service, as the beginning of a sentence.
    package let service: String
    package let host: String
    package let port: Int
    package let reason: String

    package init(service: String, host: String, port: Int, reason: String) {
        self.service = service
        self.host = host
        self.port = port
        self.reason = reason
    }

    /// One sentence with address and port.
    package var description: String {
        let isInUse = reason.contains("ddress already in use")
        let advice = isInUse ? "the address is in use by another process" : reason
        return "\(service) cannot listen on \(host.contains(":") ? "[\(host)]" : host):\(port): \(advice)"
    }
}

/// How often each network thread has come round.
private final class NetworkRounds: Sendable {
    private let counts: RankedMutex<[UInt64]>

    init(count: Int) { counts = RankedMutex(Array(repeating: 0, count: count)) }

    var all: [UInt64] { counts.withLock { $0 } }

    func cameRound(_ index: Int) { counts.withLock { $0[index] &+= 1 } }
}

extension Gateway {
    /// The time between two calls of all threads.
    private static let watchInterval = Duration.seconds(1)

    /// Calls the threads of the process, and notes which of them come round, until cancelled.
    func watch(_ daemon: Daemon) async {
        let (watchdog, pool, threads) = (host.services.process.watchdog, pool, pool.settings.eventLoops)
        let network = NetworkRounds(count: threads.count)
        watchdog.watch {
            var subjects: [Watchdog.Subject] = []
            for (index, loop) in daemon.loops.enumerated() {
                subjects.append(Watchdog.Subject(name: "HTTP thread \(index)", rounds: loop.rounds))
            }
            for (index, rounds) in network.all.enumerated() {
                subjects.append(Watchdog.Subject(name: "network thread \(index)", rounds: rounds))
            }
            for client in pool.clients() {
                subjects.append(Watchdog.Subject(name: "client \(client.id)", rounds: client.core.waitingWork))
            }
            return subjects
        }
        // The subjects refer to the daemon, which refers to the handler and so to the watchdog.
        defer { watchdog.watch { [] } }
        var last = (wall: Date(), now: Moment.monotonic())
        while !Task.isCancelled {
            let present = (wall: Date(), now: Moment.monotonic())
            let step = .seconds(present.wall.timeIntervalSince(last.wall)) - (present.now - last.now)
            if step > Self.watchInterval { host.services.endExpiredStreams() }
            last = present
            watchdog.check(at: present.now)
            for loop in daemon.loops { loop.call() }
            threads.onEach { network.cameRound($0) }
            try? await Task.sleep(for: Self.watchInterval)
        }
    }
}

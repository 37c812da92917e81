import EventHub
internal import GatewayStreaming
import JSONText
import Logging
import MicroHTTPD
import SessionCore
import SessionPool
import StreamIO
import TestSupport

@testable import Gateway

/// A gateway without sockets and with authentication. It opens no connections unless a test activates a subscription.
struct AccessFixture {
    static let admin = "lsg_admin"
    static let alice = "lsg_alice"
    static let bob = "lsg_bob"
    static let reader = "lsg_reader"

    let services: Services
    let host: HTTPHost
    let hub: EventHub
    let time = ManualTime()
    let requests = RequestMetrics()

    init(
        _ access: AccessConfiguration = AccessFixture.keys(),
        upstreams: [UpstreamConfiguration] = AccessFixture.upstreams,
        maxStreams: Int = 100,
        tickets: any Tickets = TicketStore(),
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
        configure: (inout GatewayConfiguration) -> Void = { _ in }
    ) async throws {
        // Pages are answered at once.
        _ = EmbeddedFiles.shared
        var configuration = GatewayConfiguration()
        configuration.access = access
        configuration.pool.upstreams = upstreams
        configuration.maxStreams = maxStreams
        configure(&configuration)
        let time = time
        let control = AccessControl(access, tickets: tickets, clock: { time.moment }, wallTime: { time.wall })
        _ = try control.load(access)
        let hub = EventHub(configuration: configuration.hub, epoch: "e", clock: { time.moment })
        self.hub = hub
        services = Services(
            current: LiveConfiguration(configuration),
            access: control,
            pool: SessionPool(
                configuration: configuration.pool,
                sink: hub,
                removed: { control.owners.forget($0) },
                logger: logger
            ),
            streams: StreamRegistry(hub: hub),
            streamResources: StreamResources(memory: hub.memory),
            timers: TimerQueue(clock: { time.moment }),
            process: ProcessState(startedAt: .zero),
            metrics: { "up 1\n" },
            clock: { time.moment },
            coordination: SingleProcess(hub: hub, clock: { time.moment })
        )
        host = HTTPHost(
            services: services,
            middlewares: HTTPHost.guards(services),
            requests: requests,
            logger: logger
        )
    }

    static let upstreams = ["demo", "secret"].map {
        var upstream = UpstreamConfiguration(name: $0, serverAddress: "http://127.0.0.1:9", adapterSet: "DEMO")
        upstream.password = "upstream-password"
        return upstream
    }

    /// Four callers: one with all rights, two with limited rights, one with read access only.
    static func keys() -> AccessConfiguration {
        var access = AccessConfiguration()
        let limited = Rights(
            operations: Set(Right.allCases),
            upstreams: [WildcardPattern("demo")],
            items: [WildcardPattern("item*"), WildcardPattern("own")]
        )
        access.keys = [
            key("admin", admin, .all), key("alice", alice, limited), key("bob", bob, limited),
            key("reader", reader, Rights(operations: [.read], upstreams: limited.upstreams, items: limited.items)),
        ]
        return access
    }

    static func key(_ name: String, _ key: String, _ rights: Rights) -> KeyConfiguration {
        var configuration = KeyConfiguration(name: name, hash: KeyHash(of: key))
        configuration.rights = rights
        return configuration
    }

    /// Performs a request; a stream that it opens ends at once.
    func perform(
        _ method: String,
        _ target: String,
        as key: String? = nil,
        _ body: String = "",
        _ headers: [HTTPField] = [],
        peer: String = "127.0.0.1"
    ) -> Fixture.Outcome {
        let (outcome, stream) = open(method, target, as: key, body, headers, peer: peer)
        stream?.onEnd(.neverOpened)
        return outcome
    }

    /// Performs a request; a stream that it opens stays open until it is ended.
    func open(
        _ method: String,
        _ target: String,
        as key: String? = nil,
        _ body: String = "",
        _ headers: [HTTPField] = [],
        peer: String = "127.0.0.1"
    ) -> (Fixture.Outcome, AdmittedStream?) {
        let request = HTTPRequest(method, target, as: key, headers, body, peer: peer)
        switch host.decide(request, later: { _ in }) {
        case .respond(let response): return (Fixture.outcome(response), nil)
        case .wait: return (Fixture.Outcome(isWaiting: true), nil)
        case .stream(let headers, let stream):
            return (Fixture.Outcome(status: 200, headers: headers, isStream: true), stream)
        }
    }

    /// The first events of a stream, which the HTTP server opens before `meanwhile`.
    func events(_ target: String, as key: String, _ meanwhile: () -> Void = {}) -> String {
        open("GET", target, as: key).1.map { events($0, meanwhile) } ?? ""
    }

    /// The first events of an admitted stream.
    func events(_ stream: AdmittedStream, _ meanwhile: () -> Void = {}) -> String {
        defer { stream.onEnd(.neverOpened) }
        let number = StreamID(slot: 0, generation: 0)
        let opening = StreamOpening(stream: stream.id, id: number, framing: .bare, now: time.moment)
        var batch = StreamBatch(byteLimit: 1 << 16, pieceLimit: 64)
        // The shard owns the stream.
        let shard = hub.makeShard(seed: 0) {}
        return withExtendedLifetime(shard) {
            let opened = shard.open(opening)
            meanwhile()
            var news = FeedNews()
            _ = shard.collect(into: &news, ifAtMost: nil, now: time.moment)
            _ = opened.fill(&batch, now: time.moment)
            return String(decoding: batch.pieces.flatMap { Array($0.bytes) }, as: UTF8.self)
        }
    }

    /// Creates an inactive subscription and returns its id.
    func makeSubscription(as key: String, items: String = #"["item1"]"#, upstream: String = "demo") -> String {
        let body = #"{"upstream":"\#(upstream)","mode":"MERGE","items":\#(items),"fields":["f"],"active":false}"#
        return perform("POST", "/v1/subscriptions", as: key, body).json["id"]?.string ?? ""
    }

    /// Creates a dedicated client that does not connect and returns its id.
    func makeClient(as key: String) -> String {
        perform("POST", "/v1/clients", as: key, #"{"upstream":"demo","connect":false}"#).json["id"]?.string ?? ""
    }

    /// Makes a ticket.
    func makeTicket(as key: String) -> String {
        perform("POST", "/v1/tickets", as: key).json["ticket"]?.string ?? ""
    }
}

extension HTTPRequest {
    /// A request to `gateway.example`, as it arrives. A body is JSON.
    init(
        _ method: String,
        _ target: String,
        as key: String?,
        _ headers: [HTTPField] = [],
        _ body: String = "",
        peer: String = "127.0.0.1"
    ) {
        let parts = target.split(separator: "?", maxSplits: 1).map(String.init)
        var fields = HTTPFields([HTTPField("Host", "gateway.example")] + headers)
        if let key { fields.append("Authorization", "Bearer \(key)") }
        if !body.isEmpty { fields.append("Content-Type", "application/json") }
        self.init(
            method: method,
            rawPath: parts.first ?? "",
            rawQuery: parts.count > 1 ? parts[1] : nil,
            headers: fields,
            body: Array(body.utf8),
            peer: PeerAddress(host: peer, port: 1)
        )
    }
}

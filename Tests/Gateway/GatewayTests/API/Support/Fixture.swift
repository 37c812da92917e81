import Changes
internal import GatewayStreaming
import JSONText
import Logging
import MicroHTTPD
import Primitives
import SessionCore
import SessionPool
import StreamIO
import Synchronization

@testable import EventHub
@testable import Gateway

/// A gateway without sockets: requests are passed to its host. The upstream `demo` is not connected unless a test
/// connects.
struct Fixture {
    let services: Services
    let host: HTTPHost
    let hub = EventHub(epoch: "e", clock: Moment.monotonic)

    init(upstreams: [String] = ["demo"], configure: (inout GatewayConfiguration) -> Void = { _ in }) {
        // Pages are answered at once.
        _ = EmbeddedFiles.shared
        var configuration = GatewayConfiguration()
        configuration.pool.upstreams = upstreams.map {
            UpstreamConfiguration(name: $0, serverAddress: "http://127.0.0.1:9", adapterSet: "DEMO")
        }
        configuration.access.origins = ["https://a.example"]
        configure(&configuration)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let access = AccessControl(configuration.access)
        services = Services(
            current: LiveConfiguration(configuration),
            access: access,
            pool: SessionPool(configuration: configuration.pool, sink: hub, logger: logger),
            streams: StreamRegistry(hub: hub),
            streamResources: StreamResources(),
            timers: TimerQueue(clock: Moment.monotonic),
            process: ProcessState(startedAt: .zero),
            metrics: { "" },
            clock: Moment.monotonic,
            coordination: SingleProcess(hub: hub, clock: Moment.monotonic)
        )
        host = HTTPHost(services: services, middlewares: [CORSMiddleware(access: access)], logger: logger)
    }

    /// The result of a request.
    struct Outcome {
        var status = 0
        var headers = HTTPFields()
        var bytes: [UInt8] = []
        /// The number of bytes, also of those that are not sent.
        var length = 0
        var isWaiting = false
        var isStream = false

        var text: String { String(decoding: bytes, as: UTF8.self) }
        var json: JSONValue { (try? JSONValue(parsing: bytes)) ?? .null }
        var code: String? { json["code"]?.string }
        var detail: String? { json["detail"]?.string }
        var pointers: [String] {
            (json["errors"]?.array ?? []).compactMap { $0["pointer"]?.string ?? $0["parameter"]?.string }
        }
    }

    /// The first events of the stream at a target, which the HTTP server opens after `meanwhile`.
    func events(_ target: String, _ meanwhile: (_ subscription: SubscriptionID) -> Void) -> String {
        let parts = target.split(separator: "?", maxSplits: 1).map(String.init)
        let request = HTTPRequest(method: "GET", rawPath: parts[0], rawQuery: parts.count > 1 ? parts[1] : nil)
        guard case .stream(_, let stream) = host.decide(request, later: { _ in }) else { return "" }
        defer { stream.onEnd(.neverOpened) }
        for case .subscription(let id) in hub.stream(stream.id)?.request.sources ?? [] { meanwhile(id) }
        let number = StreamID(slot: 0, generation: 0)
        let opening = StreamOpening(stream: stream.id, id: number, framing: .bare, now: Moment.monotonic())
        var batch = StreamBatch(byteLimit: 1 << 16, pieceLimit: 64)
        // The shard owns the stream.
        let shard = hub.makeShard(seed: 0) {}
        return withExtendedLifetime(shard) {
            _ = shard.open(opening).fill(&batch, now: Moment.monotonic())
            return String(decoding: batch.pieces.flatMap { Array($0.bytes) }, as: UTF8.self)
        }
    }

    /// Performs a request; a deferred response is passed to `later`.
    func perform(
        _ method: String,
        _ target: String,
        _ body: String = "",
        _ headers: [String: String] = [:],
        later: @escaping @Sendable (HTTPResponse) -> Void = { _ in }
    ) -> Outcome {
        let parts = target.split(separator: "?", maxSplits: 1).map(String.init)
        var fields = HTTPFields(headers.map { HTTPField($0.key, $0.value) })
        if !body.isEmpty, fields["Content-Type"] == nil { fields.append("Content-Type", "application/json") }
        let request = HTTPRequest(
            method: method,
            rawPath: parts.first ?? "",
            rawQuery: parts.count > 1 ? parts[1] : nil,
            headers: fields,
            body: Array(body.utf8)
        )
        switch host.decide(request, later: later) {
        case .respond(let response): return Self.outcome(response)
        case .wait: return Outcome(isWaiting: true)
        case .stream(let headers, let stream):
            stream.onEnd(.neverOpened)
            return Outcome(status: 200, headers: headers, isStream: true)
        }
    }

    static func outcome(_ response: HTTPResponse) -> Outcome {
        let bytes: [UInt8] =
            switch response.body {
            case .empty: []
            case .bytes(let bytes): bytes
            case .shared(let shared): Array(shared.bytes)
            case .omitted: []
            }
        return Outcome(
            status: response.status,
            headers: response.headers,
            bytes: bytes,
            length: response.body.count
        )
    }

    /// Creates an inactive subscription and returns its id.
    func makeSubscription(_ extra: String = "") -> String {
        let body = #"{"upstream":"demo","mode":"MERGE","items":["i1"],"fields":["f1"],"active":false\#(extra)}"#
        return perform("POST", "/v1/subscriptions", body).json["id"]?.string ?? ""
    }

    /// Creates a dedicated client that does not connect and returns its id.
    func makeClient() -> String {
        perform("POST", "/v1/clients", #"{"upstream":"demo","connect":false}"#).json["id"]?.string ?? ""
    }
}

extension HTTPHost {
    /// Responds to a complete request. After `.wait` the response goes to `later`; a late stream is not opened.
    func decide(_ request: HTTPRequest, later: @escaping @Sendable (HTTPResponse) -> Void) -> HTTPDecision {
        let responder = HTTPResponder { answer in
            if case .response(let response) = answer { later(response) } else { answer.refuse() }
        }
        return handle(request, responder)
    }
}

extension EventHub {
    /// The outcome of the opening of a stream; nil until the stream is open.
    func outcome(of stream: String) -> ResumeOutcome? { state.withLock { $0.streams.records[stream]?.outcome } }

    /// The reason for which a stream is being closed; nil while it is not.
    func closeReason(of stream: String) -> String? { state.withLock { $0.streams.records[stream]?.closeReason } }
}

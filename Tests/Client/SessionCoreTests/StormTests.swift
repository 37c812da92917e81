internal import SessionCore
internal import TLCP
internal import Testing

/// The number of requests with which a client meets servers that let all attempts of a kind fail.
@Suite struct StormTests {
    /// A server, the requests that it may get in ten seconds, and the status that the client shows most of the time, or
    /// reaches.
    struct Situation: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var atMost: Int
        var reaches: ClientStatus?
        var options = ConnectionOptionValues()
        var server: @Sendable (StormRequest) -> StormAnswer
    }

    private static func situation(
        _ name: String,
        atMost: Int,
        reaches: ClientStatus? = nil,
        _ options: ConnectionOptionValues = ConnectionOptionValues(),
        _ server: @escaping @Sendable (StormRequest) -> StormAnswer
    ) -> Situation {
        Situation(testDescription: name, atMost: atMost, reaches: reaches, options: options, server: server)
    }

    private static func forced(_ transport: ForcedTransport, retryDelay: Double = 2) -> ConnectionOptionValues {
        var options = ConnectionOptionValues()
        options.forcedTransport = transport
        options.retryDelay = retryDelay
        return options
    }

    /// A delay in which all transports can fail twice.
    private static var quick: ConnectionOptionValues {
        var options = ConnectionOptionValues()
        options.retryDelay = 0.5
        return options
    }

    private static let situations: [Situation] = [
        situation("no WebSocket, stream bind closed", atMost: 8, reaches: .connectedHTTPPolling) {
            $0 == .webSocket ? .refused : $0 == .stream ? .closed : .works
        },
        situation("no WebSocket, stream bind answered with 403", atMost: 6, reaches: .connectedHTTPPolling) {
            $0 == .webSocket || $0 == .stream ? .refused : .works
        },
        situation(
            "no WebSocket, stream bind closed, older edition",
            atMost: 8,
            reaches: .connectedHTTPPolling,
            .olderEdition
        ) {
            $0 == .webSocket ? .refused : $0 == .stream ? .closed : .works
        },
        situation("only HTTP streaming, stream bind closed", atMost: 20, forced(.httpStreaming)) {
            $0 == .stream ? .closed : .works
        },
        situation(
            "only HTTP streaming, stream bind closed, long delay",
            atMost: 4,
            forced(.httpStreaming, retryDelay: 20)
        ) {
            $0 == .stream ? .closed : .works
        },
        situation("poll bind closed", atMost: 16, forced(.httpPolling)) { $0 == .poll ? .closed : .works },
        situation("poll bind answered with 403", atMost: 16, forced(.httpPolling)) { $0 == .poll ? .refused : .works },
        situation("poll broken after CONOK", atMost: 16, forced(.httpPolling)) { $0 == .poll ? .broken : .works },
        situation("stream broken after CONOK, recovery refused", atMost: 12) {
            $0 == .webSocket ? .broken : $0 == .recovery ? .lines(["CONERR,4,gone"]) : .works
        },
        situation("stream broken after CONOK, recovery closed", atMost: 12) {
            $0 == .webSocket ? .broken : $0 == .recovery ? .closed : .works
        },
        situation("stream broken after CONOK, recovery works", atMost: 20, reaches: .connectedHTTPStreaming) {
            $0 == .webSocket ? .broken : .works
        },
        situation("no WebSocket, stream broken after CONOK", atMost: 8, reaches: .connectedHTTPPolling) {
            $0 == .webSocket ? .refused : $0 == .stream ? .broken : .works
        },
        situation("all but HTTP polls broken after CONOK", atMost: 14, reaches: .connectedHTTPPolling, quick) {
            $0 == .webSocket || $0 == .stream ? .broken : .works
        },
        situation("stream broken after data, recovery works", atMost: 24) {
            $0 == .webSocket ? .lines(["WSOK", "CONOK,sid,70000,5000,*", "U,9,1,x"]) : .works
        },
        situation("stream broken after data, older edition", atMost: 8, .olderEdition) {
            $0 == .webSocket ? .lines(["WSOK", "CONOK,sid,70000,5000,*", "U,9,1,x"]) : .works
        },
        situation("stream broken after CONOK, older edition", atMost: 4, .olderEdition) {
            $0 == .webSocket ? .broken : .works
        },
        situation("session ended after CONOK", atMost: 8) {
            $0 == .webSocket ? .lines(["WSOK", "CONOK,sid,70000,5000,*", "END,48,again"]) : .works
        },
        situation("flow of data with a gap", atMost: 8) {
            $0 == .webSocket ? .lines(["WSOK", "CONOK,sid,70000,5000,*", "PROG,9"]) : .works
        },
        situation("creation closed", atMost: 8, forced(.http)) { $0 == .creation ? .closed : .works },
        situation("nothing reached", atMost: 8) { _ in .unreachable },
        situation("poll ended at once with LOOP,0", atMost: 16, forced(.httpPolling)) {
            $0 == .poll ? .lines(["CONOK,sid,70000,0,*", "LOOP,0"]) : .works
        },
        situation("HTTP stream ended at once with LOOP,0", atMost: 16, forced(.httpStreaming)) {
            $0 == .stream ? .lines(["CONOK,sid,70000,0,*", "LOOP,0"]) : .works
        },
        situation("WebSocket ended at once with LOOP,0", atMost: 16, forced(.wsStreaming)) {
            $0 == .webSocket ? .lines(["WSOK", "CONOK,sid,70000,0,*", "LOOP,0"]) : .works
        },
    ]

    @Test(arguments: situations)
    func attemptsThatFailAtOnceKeepTheRetryDelay(situation: Situation) {
        let storm = Storm(situation)
        storm.run(forMilliseconds: 10_000)
        #expect(storm.requests <= situation.atMost)
        if let status = situation.reaches { #expect(storm.harness.status == status) }
    }
}

/// What a request of the client is for.
enum StormRequest {
    case webSocket, creation, stream, poll, recovery, control
}

/// What a server does with a request.
enum StormAnswer {
    /// It answers as a server should, and keeps streams and polls open.
    case works
    /// An HTTP status that is no success.
    case refused
    /// The end of the connection, without a byte before it.
    case closed
    /// The end of the connection after the lines with which it begins.
    case broken
    /// No connection.
    case unreachable
    /// These lines, and the end of the connection.
    case lines([String])
}

/// A client and a server that answers each request within a few milliseconds.
final class Storm {
    private static let latency = 5
    let harness: SessionHarness
    private let server: @Sendable (StormRequest) -> StormAnswer
    private var answered: Set<ConnectionID> = []
    /// The number of connections that the client has opened.
    var requests: Int { harness.orders.count }

    init(_ situation: StormTests.Situation) {
        harness = SessionHarness { $0 = situation.options }
        server = situation.server
    }

    func run(forMilliseconds time: Int) {
        harness.connect()
        for _ in 0..<(time / Self.latency) {
            harness.advance(Self.latency)
            let waiting = harness.openConnections.subtracting(answered).sorted { $0.rawValue < $1.rawValue }
            for connection in waiting {
                guard let order = harness.orders[connection] else { continue }
                answered.insert(connection)
                answer(order, on: connection)
            }
        }
    }

    private func answer(_ order: TransportRequest, on connection: ConnectionID) {
        let request = Self.purpose(of: order)
        switch server(request) {
        case .works: work(request, on: connection)
        case .refused: harness.close(connection, .refused(reason: "HTTP status 403"))
        case .closed: harness.close(connection, .completed)
        case .unreachable: harness.close(connection, .unreachable(reason: "no route"))
        case .broken:
            work(request, on: connection)
            if harness.openConnections.contains(connection) { harness.close(connection, .failed(reason: "broken")) }
        case .lines(let lines):
            if request == .webSocket { harness.open() }
            for line in lines { harness.receive(line, on: connection) }
            if harness.openConnections.contains(connection) { harness.close(connection, .completed) }
        }
    }

    private func work(_ request: StormRequest, on connection: ConnectionID) {
        switch request {
        case .webSocket:
            harness.open()
            harness.receive("WSOK", on: connection)
            harness.receive("CONOK,sid,70000,5000,*", on: connection)
        case .creation, .recovery:
            harness.receive("CONOK,sid,70000,0,*", on: connection)
            harness.receive("LOOP,0", on: connection)
        case .stream, .poll: harness.receive("CONOK,sid,70000,19000,*", on: connection)
        case .control:
            harness.receive("REQOK", on: connection)
            harness.close(connection, .completed)
        }
    }

    private static func purpose(of order: TransportRequest) -> StormRequest {
        guard let request = order.request else { return .webSocket }
        let body = String(decoding: request.body, as: UTF8.self)
        if request.target.contains("create_session") { return .creation }
        if request.target.contains("bind_session") {
            if body.contains("LS_recovery_from") { return .recovery }
            return body.contains("LS_polling=true") ? .poll : .stream
        }
        return .control
    }
}

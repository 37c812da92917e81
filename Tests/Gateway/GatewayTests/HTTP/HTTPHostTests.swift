import MicroHTTPD
import Testing

@testable import Gateway

@Suite struct HTTPHostTests {
    private let fixture = Fixture()
    private let peer = PeerAddress(host: "192.0.2.7", port: 1)

    private static let traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let zeros = String(repeating: "0", count: 32)

    /// The rules of W3C Trace Context.
    @Test(arguments: [
        ("00-\(traceID)-00f067aa0ba902b7-01", true), ("00-\(traceID)-00f067aa0ba902b7-ff", true),
        ("01-\(traceID)-00f067aa0ba902b7-01-more", true), ("01-\(traceID)-00f067aa0ba902b7-01", true),
        ("00-\(traceID)-00f067aa0ba902b7-01-more", false), ("00-\(traceID)-00f067aa0ba902b7-01-", false),
        ("00-\(traceID)-0000000000000000-01", false), ("00-\(zeros)-00f067aa0ba902b7-01", false),
        ("ff-\(traceID)-00f067aa0ba902b7-01", false), ("00-\(traceID.uppercased())-00f067aa0ba902b7-01", false),
        ("00-\(traceID)-00f067aa0ba902b7", false), ("00-\(traceID)-00f067aa0ba902b7-1", false), ("", false),
    ])
    func tracesOfValidHeadersAreLogged(header: String, isValid: Bool) {
        let request = HTTPRequest(method: "GET", rawPath: "/", headers: [HTTPField("traceparent", header)])
        #expect(RequestIdentity.trace(of: request) == (isValid ? Self.traceID : nil))
    }

    @Test func everyAnswerCarriesARequestID() {
        let plain = fixture.perform("GET", "/health/live")
        #expect(plain.headers["X-Request-Id"]?.hasPrefix("r") == true)
        let named = fixture.perform("GET", "/nowhere", "", ["X-Request-Id": "mine-1"])
        #expect(named.headers["X-Request-Id"] == "mine-1")
        #expect(named.json["instance"]?.string == "mine-1")
        let harmful = fixture.perform("GET", "/health/live", "", ["X-Request-Id": "a\"b c"])
        #expect(harmful.headers["X-Request-Id"] != "a\"b c")
    }

    @Test(arguments: [
        ("GET", "/v2", 404), ("PUT", "/v1/clients", 405), ("TRACE", "/", 405), ("GET", "/v1/%zz", 400),
        ("GET", "/v1/clients?a=%zz", 400), ("GET", "/v1/clients?nonsense=1", 422), ("OPTIONS", "/v1/clients", 204),
        ("OPTIONS", "*", 204), ("HEAD", "/v1/clients", 200), ("GET", "/?anything=1", 200), ("get", "/v1/clients", 405),
    ])
    func routesAnswerWithTheirStatus(method: String, target: String, status: Int) {
        #expect(fixture.perform(method, target).status == status)
    }

    @Test(arguments: [
        ("GET", "/health/live", false), ("HEAD", "/health/live", false), ("DELETE", "/v1/clients/c1", false),
        ("POST", "/v1/clients", true), ("PATCH", "/v1/subscriptions/s1", true),
    ])
    func bodiesAreKeptOnlyOfRequestsThatTakeOne(method: String, path: String, isKept: Bool) {
        switch fixture.host.screen(HTTPRequest(method: method, rawPath: path)) {
        case .accept: #expect(isKept)
        case .acceptIgnoringBody: #expect(!isKept)
        case .reject(let response): Issue.record("rejected: \(response.status)")
        }
    }

    @Test func allowedMethodsAreReturned() {
        #expect(fixture.perform("PUT", "/v1/clients").headers["Allow"] == "GET, POST, HEAD, OPTIONS")
        #expect(fixture.perform("OPTIONS", "/v1/clients").headers["Allow"] == "GET, POST, HEAD, OPTIONS")
    }

    @Test func anUnacceptableFormIsRefusedBeforeAnythingHappens() {
        let body = #"{"upstream":"demo","connect":false}"#
        #expect(fixture.perform("POST", "/v1/clients", body, ["Accept": "image/png"]).status == 406)
        #expect(fixture.services.pool.clients().isEmpty)
    }

    @Test(arguments: [
        ("{", 400, "malformed"), ("[]", 400, "malformed"), ("", 400, "malformed"),
        ("{\"a\":1,\"a\":2}", 400, "malformed"),
        ("{\"upstream\":\"demo\",\"x\":1}", 422, "unknown-member"), ("{\"upstream\":7}", 422, "invalid-value"),
        ("{}", 422, "missing-member"), ("{\"upstream\":\"nowhere\"}", 404, "unknown-upstream"),
        ("{\"serverAddress\":\"tcp://x\"}", 422, "invalid-value"),
        ("{\"serverAddress\":\"http://x.example\"}", 403, "upstream-not-allowed"),
    ])
    func aBadBodyIsRefused(body: String, status: Int, code: String) {
        let outcome = fixture.perform("POST", "/v1/clients", body, ["Content-Type": "application/json"])
        #expect(outcome.status == status)
        #expect(outcome.code == code)
        #expect(outcome.headers["Content-Type"] == "application/problem+json")
    }

    @Test func aLargeBodyIsReadOnTheBackgroundQueue() async {
        let members = (0..<2_000).map { #""m\#($0)":0"# }.joined(separator: ",")
        let responses = AsyncStream.makeStream(of: HTTPResponse.self)
        // The queue may be done before the call returns.
        var outcome = fixture.perform("POST", "/v1/clients", "{\(members)}") { responses.continuation.yield($0) }
        if outcome.isWaiting {
            for await response in responses.stream {
                outcome = Fixture.outcome(response)
                break
            }
        }
        #expect(outcome.status == 422)
        #expect(outcome.headers["X-Request-Id"] != nil)
        #expect(outcome.pointers.count == Refusals.mostEntries)
    }

    @Test func aLargeBodyIsRefusedOnceTheBackgroundQueueIsStopped() {
        fixture.services.background.stop()
        let body = "{\"text\":\"" + String(repeating: "x", count: 20_000) + "\"}"
        #expect(fixture.perform("POST", "/v1/clients", body).status == 503)
        #expect(fixture.perform("POST", "/v1/clients", "{}").status == 422)
    }

    @Test func unexpectedErrorsAreLoggedAndNotSent() {
        struct Failing: Middleware {
            struct Secret: Error {}

            func admit(_ call: inout Call, operation: Operation?) throws { throw Secret() }
        }
        let log = LogRecorder()
        let host = HTTPHost(services: fixture.services, middlewares: [Failing()], logger: log.logger)
        let decision = host.decide(HTTPRequest(method: "GET", rawPath: "/health")) { _ in }
        guard case .respond(let response) = decision else {
            Issue.record("the request waits")
            return
        }
        let outcome = Fixture.outcome(response)
        #expect(outcome.code == "internal")
        #expect(!outcome.text.contains("Secret"))
        #expect(log.lines.contains { $0.hasPrefix("Secret()") })
    }

    @Test func aRefusedHostOrOriginIsLoggedOnce() {
        let log = LogRecorder()
        let host = HTTPHost(
            services: fixture.services,
            middlewares: HTTPHost.guards(fixture.services),
            logger: log.logger
        )
        func perform(_ headers: [HTTPField]) {
            let request = HTTPRequest(method: "POST", rawPath: "/v1/tickets", headers: HTTPFields(headers))
            _ = host.decide(request) { _ in }
        }
        for _ in 0..<3 {
            perform([HTTPField("Host", "evil.example")])
            perform([HTTPField("Host", "localhost"), HTTPField("Origin", "http://page.example")])
        }
        let warnings = log.lines.filter { $0.hasPrefix("requests ") }
        #expect(warnings.count == 2)
        #expect(warnings.first?.contains("evil.example") == true)
        #expect(warnings.last?.contains("http://page.example") == true)
    }

    @Test func requestsAreLoggedAtInfoIfTheAccessLogIsOn() {
        for isOn in [false, true] {
            let fixture = Fixture { $0.log.logsRequests = isOn }
            let host = HTTPHost(services: fixture.services, middlewares: [], logger: LogRecorder().logger)
            #expect(host.accessLevel == (isOn ? .info : .debug))
        }
    }

    /// They were logged at the level debug alone, without the reason and the client.
    @Test(arguments: [(false, "192.0.2.7"), (true, "192.0.2.7"), (true, "10.0.0.1")])
    func refusalsOfTheHTTPServerAreInTheAccessLog(isOn: Bool, peer: String) {
        let log = LogRecorder()
        var logger = log.logger
        logger.logLevel = .info
        let fixture = Fixture {
            $0.log.logsRequests = isOn
            $0.access.trustedProxies = ["10.0.0.0/8"].compactMap { IPNetwork($0) }
        }
        let host = HTTPHost(services: fixture.services, middlewares: [], logger: logger)
        let headers = [HTTPField("X-Request-Id", "mine-1"), HTTPField("X-Forwarded-For", "192.0.2.8")]
        _ = host.refusal(for: .bodyTooLarge, from: PeerAddress(host: peer, port: 1), headers: HTTPFields(headers))
        #expect(log.lines.count == (isOn ? 1 : 0))
        let client = peer == "10.0.0.1" ? "192.0.2.8" : peer
        for part in ["mine-1", "413", "The body is too large.", client] where isOn {
            #expect(log.lines.first?.contains(part) == true, "\(part)")
        }
    }

    @Test func invalidJSONBodyIsReportedWithItsPosition() {
        let outcome = fixture.perform("POST", "/v1/clients", "{\n  \"a\" 1}")
        #expect(outcome.json["detail"]?.string?.contains("line 2") == true)
    }

    @Test func anUnknownPathIsAnsweredWithTheNearestKnownOne() {
        let detail = fixture.perform("GET", "/v1/subscription").json["detail"]?.string
        #expect(detail == "No operation has this path; did you mean /v1/subscriptions?")
        #expect(
            fixture.perform("GET", "/nothing").json["detail"]?.string?.hasSuffix("/docs lists the operations.") == true
        )
    }

    @Test func anotherMediaTypeIsRefused() {
        let form = ["Content-Type": "application/x-www-form-urlencoded"]
        let post = fixture.perform("POST", "/v1/clients", "a=b", form)
        #expect(post.status == 415)
        #expect(post.json["detail"]?.string?.contains("application/x-www-form-urlencoded") == true)
        let path = "/v1/clients/\(fixture.makeClient())/options"
        let patch = fixture.perform("PATCH", path, "a=b", form)
        #expect(patch.status == 415)
        #expect(patch.headers["Accept-Patch"]?.contains("application/merge-patch+json") == true)
        let encoded = fixture.perform("PATCH", path, "{}", ["Content-Encoding": "gzip"])
        #expect(encoded.status == 415)
        #expect(encoded.headers["Accept-Patch"] == patch.headers["Accept-Patch"])
        #expect(fixture.perform("OPTIONS", path).headers["Accept-Patch"] == patch.headers["Accept-Patch"])
        #expect(fixture.perform("OPTIONS", "/v1/clients").headers["Accept-Patch"] == nil)
    }

    @Test func aPostUnderAKeyIsPerformedOnce() {
        let body = #"{"upstream":"demo","connect":false}"#
        let first = fixture.perform("POST", "/v1/clients", body, ["Idempotency-Key": "k"])
        let second = fixture.perform("POST", "/v1/clients", body, ["Idempotency-Key": "k"])
        #expect(first.status == 201)
        #expect(second.json["id"] == first.json["id"])
        #expect(second.headers["Idempotency-Replayed"] == "true")
        #expect(fixture.services.pool.clients().count == 1)
        #expect(fixture.perform("POST", "/v1/clients", "{}", ["Idempotency-Key": "k"]).status == 409)
    }

    @Test func aKeyWithAnotherQueryIsAnotherRequest() {
        let fixture = Fixture(upstreams: ["a", "b"])
        let responses = ["a", "b", "a"].map {
            fixture.perform("POST", "/v1/messages?upstream=\($0)", #"{"text":"x"}"#, ["Idempotency-Key": "k"])
        }
        #expect(responses.map(\.status) == [202, 202, 202])
        #expect(responses.map { $0.headers["Idempotency-Replayed"] } == [nil, nil, "true"])
        #expect(responses[1].json["id"] != responses[0].json["id"])
        #expect(responses[2].json["id"] == responses[0].json["id"])
        #expect(fixture.services.pool.clients().map(\.upstream) == ["a", "b"])
    }

    @Test func pagesOfListedOriginsMayAsk() {
        let preflight = fixture.perform(
            "OPTIONS",
            "/v1/clients",
            "",
            ["Origin": "https://a.example", "Access-Control-Request-Method": "POST"]
        )
        #expect(preflight.headers["Access-Control-Allow-Origin"] == "https://a.example")
        #expect(preflight.headers["Access-Control-Allow-Methods"]?.contains("PATCH") == true)
        #expect(preflight.status == 204 && preflight.headers["Allow"] == nil)
        let stranger = fixture.perform("GET", "/v1/clients", "", ["Origin": "https://b.example"])
        #expect(stranger.headers["Access-Control-Allow-Origin"] == nil)
    }

    @Test func responsesAreNotCachedByDefault() {
        let list = fixture.perform("GET", "/v1/clients")
        #expect(list.headers["Cache-Control"] == "no-store")
        #expect(list.headers["X-Content-Type-Options"] == "nosniff")
        let page = fixture.perform("GET", "/")
        #expect(page.headers.values(of: "Cache-Control") == ["no-cache"])
    }

    @Test func refusalsOfTheHTTPServerHaveAnID() throws {
        let response = fixture.host.refusal(for: .duplicateHost, from: peer, headers: [])
        let id = try #require(response.headers["X-Request-Id"])
        #expect(Fixture.outcome(response).json["instance"]?.string == id)
    }

    @Test(arguments: RequestRefusal.allCases)
    func refusalsOfARequestThatWasReadHaveItsIDAndAreForPagesOfListedOrigins(refusal: RequestRefusal) {
        let headers = ["X-Request-Id": "mine-1", "Origin": "https://a.example"].map { HTTPField($0.key, $0.value) }
        let response = fixture.host.refusal(for: refusal, from: peer, headers: HTTPFields(headers))
        #expect(response.status == refusal.status)
        #expect(response.headers.values(of: "X-Request-Id") == ["mine-1"])
        #expect(Fixture.outcome(response).json["instance"]?.string == "mine-1")
        #expect(response.headers["Access-Control-Allow-Origin"] == "https://a.example")
        #expect(response.headers["Cache-Control"] == "no-store")
    }

    @Test(arguments: [
        (RequestRefusal.bodyTooLarge, "1000 bytes (http.maxBody)"),
        (.targetTooLong, "2000 bytes (http.maxRequestLine)"), (.headersTooLarge, "3000 bytes (http.maxHeaders)"),
        (.bodyBudgetExceeded, "4000 bytes (http.maxBodies)"),
        (.responseBudgetExceeded, "5000 bytes (http.maxResponses)"), (.connectionLimitReached, "http.maxConnections"),
    ])
    func aRefusalNamesTheLimitThatTheRequestExceeds(refusal: RequestRefusal, limit: String) {
        let fixture = Fixture { configuration in
            configuration.http.bodyLimit = 1_000
            configuration.http.targetLimit = 2_000
            configuration.http.headerLimit = 3_000
            configuration.http.bodyBudget = 4_000
            configuration.http.responseBudget = 5_000
        }
        let response = fixture.host.refusal(for: refusal, from: peer, headers: [])
        let detail = Fixture.outcome(response).json["detail"]?.string ?? ""
        #expect(detail.hasPrefix(refusal.explanation) && detail.contains(" The limit is \(limit)"), "\(detail)")
    }

    @Test func theContractAndThePagesAreServed() {
        #expect(fixture.perform("GET", "/openapi.yaml").text.hasPrefix("openapi: 3.1"))
        let page = fixture.perform("GET", "/")
        #expect(page.headers["Content-Type"]?.hasPrefix("text/html") == true)
        #expect(fixture.perform("GET", "/assets/app.js").status == 200)
        #expect(fixture.perform("GET", "/assets/none.js").status == 404)
    }

    @Test func documentationIsServedWithItsTag() {
        let docs = fixture.perform("GET", "/docs")
        #expect(docs.text.contains("id=\"invalid-value\""))
        let tag = docs.headers["ETag"] ?? ""
        let same = fixture.perform("GET", "/docs", "", ["If-None-Match": tag])
        #expect(same.status == 304)
        // The length only: the HTTP server omits the body of a 304.
        #expect(same.length == docs.bytes.count)
    }

    @Test func readsEvaluateIfMatchBeforeIfNoneMatch() throws {
        let client = "/v1/clients/" + fixture.makeClient()
        let subscription = "/v1/subscriptions/" + fixture.makeSubscription()
        let source = #"{"sources":[{"subscription":"\#(fixture.makeSubscription())"}]}"#
        let stream = try #require(fixture.perform("POST", "/v1/streams", source).headers["Location"])
        let paths = ["/docs", "/assets/feeds.d.ts", "/v1/upstreams/demo", "/options", "/details", subscription, stream]
        for path in paths.map({ ["/options", "/details"].contains($0) ? client + $0 : $0 }) {
            let tag = try #require(fixture.perform("GET", path).headers["ETag"])
            #expect(fixture.perform("GET", path, "", ["If-Match": "\"x\", \(tag)"]).status == 200, "\(path)")
            let same = fixture.perform("GET", path, "", ["If-Match": tag, "If-None-Match": tag])
            #expect(same.status == 304, "\(path)")
            for method in ["GET", "HEAD"] {
                let other = fixture.perform(method, path, "", ["If-Match": "\"x\"", "If-None-Match": tag])
                #expect(other.status == 412, "\(method) \(path)")
                #expect(other.headers["ETag"] == tag, "\(method) \(path)")
            }
        }
    }

    @Test func anAbandonedRequestWaitsNoLonger() async {
        let id = fixture.makeSubscription()
        let request = HTTPRequest(
            method: "POST",
            rawPath: "/v1/subscriptions/\(id)/subscribe",
            headers: [HTTPField("Prefer", "wait=60"), HTTPField("Content-Type", "application/json")],
            peer: PeerAddress(host: "192.0.2.1", port: 1)
        )
        let (isReleased, source) = AsyncStream.makeStream(of: Never.self)
        do {
            // Released with the task of the request.
            let released = Released { source.finish() }
            let responder = HTTPResponder { _ in
                _ = withExtendedLifetime(released) { Issue.record("an abandoned request got a response") }
            }
            guard case .wait = fixture.host.handle(request, responder) else {
                Issue.record("the request does not wait")
                return
            }
            #expect(fixture.services.timers.count == 1)
            responder.abandon()
        }
        for await _ in isReleased {}
        #expect(fixture.services.timers.count == 0)
    }
}

/// Reports its release.
private final class Released: Sendable {
    private let report: @Sendable () -> Void

    init(_ report: @escaping @Sendable () -> Void) { self.report = report }

    deinit { report() }
}

import JSONText
import LightstreamerClient
import MicroHTTPD
import SessionCore
import SessionPool
import Synchronization
import Testing

@testable import Gateway

@Suite struct ProblemDetailsTests {
    private struct Unforeseen: Error {}

    private func document(_ response: Response) throws -> JSONValue {
        guard case .bytes(let bytes) = response.body else { return .null }
        return try JSONValue(parsing: bytes)
    }

    @Test(arguments: ProblemCode.allCases)
    func everyCodeHasAnErrorStatusAndATitle(code: ProblemCode) {
        #expect((400...599).contains(code.status))
        #expect(!code.title.isEmpty)
        #expect(!code.title.hasSuffix("."))
    }

    @Test(arguments: [
        (2, UpstreamCodes.Kind.session, "adapter set"), (-5, .session, "Metadata Adapter"),
        (17, .subscription, "data adapter"), (21, .subscription, "item group"), (23, .subscription, "field schema"),
        (-5, .subscription, "Metadata Adapter"), (67, .subscription, "could not read"),
    ])
    func codesOfTheServerComeWithTheirMeaning(code: Int, kind: UpstreamCodes.Kind, word: String) throws {
        let refusal = UpstreamRefusal(code: code, message: "verbatim")
        let problem = ProblemDetails.problem(for: refusal, of: kind)
        let detail = try #require(problem.detail)
        #expect(detail.hasPrefix("The server responded with \(code): verbatim. "))
        #expect(detail.lowercased().contains(word.lowercased()), "\(detail)")
        #expect(problem.upstream == refusal)
    }

    @Test func aRequestThatWasNotSentIsNoResponseOfTheServer() {
        let message = "The request of 120 bytes exceeds the server's limit of 100 bytes and was not sent"
        let detail = ProblemDetails.detail(of: UpstreamRefusal(code: 67, message: message), .subscription)
        #expect(detail.hasPrefix(message + ". Divide the items"))
    }

    /// The limit of an upstream was called an internal error of the server.
    @Test func aSubscriptionThatTheGatewayDidNotOpenIsNoResponseOfTheServer() {
        let quota = ProblemDetails.sentence(for: PoolError.overQuota(.subscriptions(upstream: "demo", limit: 1)))
        let refusal = UpstreamRefusal(code: UpstreamRefusal.unopenedCode, message: quota)
        #expect(ProblemDetails.detail(of: refusal, .subscription) == quota)
    }

    @Test func codesOfTheClassReferenceHaveAMeaning() {
        let sessions = [0, 1, 2, 7, 8, 9, 10, 11, 21, 60, 61, 62, 66, 68, 70, 71] + Array(30...39)
        let subscriptions = [0, 14, 15, 16, 17, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 61, 66, 68]
        #expect(sessions.filter { UpstreamCodes.meaning(of: $0, kind: .session) == nil } == [])
        #expect(subscriptions.filter { UpstreamCodes.meaning(of: $0, kind: .subscription) == nil } == [])
    }

    @Test func aDocumentHasTheMembersOfTheRFC() throws {
        var problem = Problem(refusing: [
            ProblemEntry(.body(JSONPointer(tokens: ["options", "a/b"])), .invalidValue, "No."),
            ProblemEntry(.parameter("limit"), .unknownParameter, "Never."),
        ])
        problem.upstream = UpstreamRefusal(code: -7, message: "für \"niemand\"")
        let response = ProblemDetails.response(problem, requestID: "r1")
        let json = try document(response)
        #expect(response.status == 422)
        #expect(response.headers["Content-Type"] == "application/problem+json")
        #expect(json["type"]?.string == "/docs#invalid-value")
        #expect(json["status"]?.number?.intValue == 422)
        #expect(json["instance"]?.string == "r1")
        #expect(json["code"]?.string == "invalid-value")
        #expect(json["errors"]?.array?[0]["pointer"]?.string == "/options/a~1b")
        #expect(json["errors"]?.array?[1]["parameter"]?.string == "limit")
        #expect(json["upstream"]?["message"]?.string == "für \"niemand\"")
    }

    @Test func errorsOfOtherTargetsHaveTheirStatus() {
        let statuses: [(any Error, Int)] = [
            (PoolError.unknownUpstream("x"), 404), (PoolError.addressNotAllowed("x"), 403),
            (PoolError.overQuota(.items(upstream: "u", limit: 1)), 429), (PoolError.stopping, 503),
            (PoolError.lifecycle(rule: "no"), 409), (PoolError.invalidValue(property: "p", rule: "r"), 422),
            (ClientError(.noServerAddress, rule: "no address"), 409), (ClientError(.invalidValue, rule: "r"), 422),
            (ClientError(.addressNotAllowed, rule: "r"), 403), (Unforeseen(), 500),
        ]
        for (error, status) in statuses {
            #expect(ProblemDetails.problem(for: error).code.status == status, "\(error)")
        }
    }

    @Test func unexpectedErrorsHaveNoDetails() {
        #expect(ProblemDetails.problem(for: Unforeseen()).detail == nil)
    }

    @Test func unexpectedErrorsAreKeptForTheLog() async throws {
        let record = CallRecord(HTTPRequest(method: "GET", rawPath: "/"), requestID: "r1", since: .zero)
        let unforeseen = try await Call(record: record).response { _ in throw Unforeseen() }
        #expect(unforeseen.status == 500 && unforeseen.unexpectedError is Unforeseen)
        let problem = try await Call(record: record).response { _ in throw Problem(.notFound) }
        #expect(problem.status == 404 && problem.unexpectedError == nil)
    }

    @Test func rejectionsByQuotasHaveARetryAfter() {
        let response = ProblemDetails.response(Problem(.overQuota), requestID: "")
        #expect(response.headers["Retry-After"] != nil)
    }

    @Test(arguments: RequestRefusal.allCases)
    func everyRefusalOfTheHTTPServerIsAProblem(refusal: RequestRefusal) {
        let problem = ProblemDetails.problem(for: refusal)
        #expect(problem.detail == refusal.explanation)
        let response = ProblemDetails.response(problem, requestID: "", status: refusal.status)
        #expect((response.headers["Retry-After"] != nil) == (refusal.status == 503))
    }
}

import JSONText
import LightstreamerClient
import MicroHTTPD
import SessionCore
import SessionPool
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

    @Test func theErrorsOfOtherRoomsHaveTheirStatus() {
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

    @Test func quotasAndStopsSayWhenToComeBack() {
        let response = ProblemDetails.response(Problem(.overQuota), requestID: "")
        #expect(response.headers["Retry-After"] != nil)
    }

    @Test(arguments: RequestRefusal.allCases)
    func everyRefusalOfTheFrontEndIsAProblem(refusal: RequestRefusal) {
        #expect(ProblemDetails.problem(for: refusal).detail == refusal.explanation)
    }
}

internal import HTTPFetch
internal import Synchronization
internal import Testing

@testable internal import GatewayCLI

/// The start of `record --feed`.
struct FeedDescriptionTests {
    private static let unavailable = (status: 503, body: #"{"title":"Not now","status":503}"#)

    /// Reads a description from these responses, nil for a failure of the connection; returns its name, the pauses and
    /// what is shown.
    private static func read(
        _ responses: [(status: Int, body: String)?]
    ) async throws -> (name: String?, pauses: [Duration], shown: [String]) {
        let rest = Mutex(responses)
        let pauses = Mutex<[Duration]>([])
        let shown = Mutex<[String]>([])
        let description = FeedDescription(at: "http://a") {
            guard let response = rest.withLock({ $0.removeFirst() }) else { throw HTTPFetchError.closedEarly }
            return response
        } wait: { pause in
            pauses.withLock { $0.append(pause) }
        } show: { sentence in
            shown.withLock { $0.append(sentence) }
        }
        let name = try await description.read()["name"]?.string
        return (name, pauses.withLock { $0 }, shown.withLock { $0 })
    }

    /// `record` ended with status 1, while `watch` tries again.
    @Test func aGatewayThatIsNotThereYetIsAskedAgain() async throws {
        let (name, pauses, shown) = try await Self.read([
            nil, nil, Self.unavailable, Self.unavailable, (200, #"{"name":"quotes"}"#),
        ])
        #expect(name == "quotes")
        #expect(pauses.count == 4 && pauses.allSatisfy { $0 >= .milliseconds(500) && $0 <= .seconds(8) })
        #expect(shown.count == 2 && shown.allSatisfy { $0.hasSuffix("Trying again.") })
        #expect(shown.last?.contains("Not now (503)") == true)
    }

    @Test(arguments: [404, 401, 403, 200])
    func aResponseThatLastsEndsTheRecording(status: Int) async {
        await #expect(throws: WatchFailure.self) { try await Self.read([(status, "no JSON")]) }
    }

    /// `watch` and `record` tried again for ever.
    @Test(arguments: ["ftp://a", "a", "http://a:99999"])
    func anAddressThatNoAttemptCanReachIsAFailure(address: String) {
        #expect(throws: WatchFailure.self) { try FeedDescription(of: "quotes", at: address) }
        #expect(throws: WatchFailure.self) { try GatewayRequest.make(address, "/v1/stream", timeout: nil) }
    }
}

import Dispatch
import JSONText
import Synchronization
import Testing

@testable import Gateway
@testable import GatewayCluster

@Suite(.timeLimit(.minutes(2))) struct ClusterResourcesTests {
    /// Another member recreates a client from its specification, which has to contain every change.
    @Test func changesOfAClientAtTheSameTimeAreAllPartOfItsSpecification() async throws {
        try await ClusterFixture.run(1) { fixture in
            let member = fixture.members[0]
            let body = #"{"upstream":"demo","connect":false}"#
            let id = try #require(await member.perform("POST", "/v1/clients", body).json["id"]?.string)
            for round in 1...300 {
                let bodies = ["retryDelay", "idleTimeout", "firstRetryMaxDelay"].map { #"{"\#($0)":\#(round)}"# }
                let requests = Mutex<[PendingOutcome]>([])
                DispatchQueue.concurrentPerform(iterations: bodies.count) { index in
                    let request = member.start("PATCH", "/v1/clients/\(id)/options", bodies[index])
                    requests.withLock { $0.append(request) }
                }
                for request in requests.withLock({ $0 }) { #expect(await request.outcome.status == 200) }
                let options = member.node.content(of: id)?["changes"]?["patchClientOptions"]?.object
                #expect(options?.map { $0.value.number?.intValue } == [round, round, round])
            }
        }
    }
}

import Testing

@testable import Gateway

@Suite(.timeLimit(.minutes(2))) struct ClusterStreamsTests {
    private static let body = #"{"sources":[{"upstream":"demo","mode":"MERGE","items":["i"],"fields":["f"]}]}"#

    @Test func aMemberThatStopsLeavesItsPreparedStreamsToTheOthers() async throws {
        try await ClusterFixture.run { fixture in
            let (leaving, other) = (fixture.members[0], fixture.members[1])
            let made = await leaving.perform("POST", "/v1/streams", Self.body)
            let id = try #require(made.json["id"]?.string)
            leaving.host.stopAccepting()
            #expect(await leaving.confirm())
            await other.catchUp()
            #expect(other.node.isPrepared(id))
        }
    }
}

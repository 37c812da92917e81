import Changes
import MicroHTTPD
import SessionCore
import Testing

@testable import Gateway
@testable import GatewayCluster

/// Long polls that go on at another member.
@Suite(.timeLimit(.minutes(2))) struct LatestValuesTests {
    private static let source = "upstream=demo&mode=MERGE&items=i&fields=f"
    private static let values = "/v1/values?" + source

    /// Reports a value of the shared subscription, and waits until its owner has read the report from the log.
    private static func publish(_ value: String, of id: String, on owner: ClusterMember) async {
        owner.node.take(.subscription(SubscriptionID(id), .event(.update(ItemUpdate(snapshotOf: value)))))
        #expect(await owner.confirm())
    }

    private static func value(_ outcome: Fixture.Outcome) -> String? {
        outcome.json["items"]?.array?.first?["fields"]?["f"]?.string
    }

    @Test func aPollThatGoesOnAtAMemberBehindGetsNoOlderValues() async throws {
        try await ClusterFixture.run { fixture in
            let opened = fixture.members[0].start("GET", "/v1/stream?" + Self.source)
            #expect(await opened.outcome.isStream)
            let stream = try #require(opened.stream)
            let entry = fixture.members[0].services.streamResources.entry(stream.id)
            let id = try #require(entry?.joined.keys.first)
            await fixture.settle()
            let isOwner = { (member: ClusterMember) in
                member.node.reports.withLock { $0.outbox.term(of: id) } != nil
            }
            let owner = try #require(fixture.members.first(where: isOwner))
            let other = try #require(fixture.members.first { !isOwner($0) })
            let confirmed = SubscriptionEvent.subscribed(
                itemCount: 1,
                fieldCount: 1,
                keyPosition: nil,
                commandPosition: nil
            )
            owner.node.take(.subscription(SubscriptionID(id), .event(confirmed)))
            await Self.publish("1", of: id, on: owner)
            await fixture.settle()
            #expect(Self.value(await other.perform("GET", Self.values)) == "1")

            fixture.engine.holdFrames(for: other.node.process)
            await Self.publish("2", of: id, on: owner)
            let known = await owner.perform("GET", Self.values)
            #expect(Self.value(known) == "2")
            let tag = try #require(known.headers["ETag"])
            let headers = [HTTPField("If-None-Match", tag), HTTPField("Prefer", "wait=20")]
            let poll = other.start("GET", Self.values, "", headers)
            fixture.engine.releaseFrames(for: other.node.process)
            await other.catchUp()
            await Self.publish("3", of: id, on: owner)
            #expect(Self.value(await poll.outcome) == "3")
            stream.onEnd(.neverOpened)
        }
    }

    @Test func requestsThatComeDuringAQuestionShareTheNext() {
        var questions = EndQuestions()
        let first = questions.next()
        let (second, third) = (questions.next(), questions.next())
        #expect(first.isDue && !second.isDue && !third.isDue)
        #expect(second.number == third.number)
        var isDue = questions.answer(7)
        #expect(isDue && questions.answered == first.number && questions.last == 7)
        isDue = questions.answer(9)
        #expect(!isDue && questions.answered == second.number && questions.last == 9)
        let next = questions.next()
        #expect(next.isDue)
    }
}

import Changes
import Primitives
import StreamIO
import Testing

@testable import Gateway
@testable import GatewayCluster
@testable import SessionPool

@Suite(.timeLimit(.minutes(2))) struct LastReadsTests {
    /// Lets time pass, and has the pool of a member end what nothing has used.
    private static func pass(_ seconds: Double, on member: ClusterMember, _ fixture: ClusterFixture) async {
        await fixture.settle()
        fixture.time.pass(seconds)
        await fixture.serveAgain()
        let pool = member.services.pool
        pool.timePassed()
        while pool.state.withLock({ $0.expiry.awaitsReads }) { await Task.yield() }
    }

    @Test func whatAStreamOfAnotherMemberReadsStays() async throws {
        try await ClusterFixture.run(suspect: .seconds(1_000_000)) { fixture in
            let (owner, other) = (fixture.members[0], fixture.members[1])
            let made = await owner.perform("POST", "/v1/clients", #"{"upstream":"demo","connect":false}"#)
            let client = try #require(made.json["id"]?.string)
            let subscription = await owner.makeSubscription()
            await fixture.settle()
            func areThere() -> [Bool] {
                let pool = owner.services.pool
                return [pool.client(ClientID(client)) != nil, pool.resource(SubscriptionID(subscription)) != nil]
            }
            var streams: [AdmittedStream] = []
            for target in ["/v1/clients/\(client)/events", "/v1/subscriptions/\(subscription)/events"] {
                let pending = other.start("GET", target)
                #expect(await pending.outcome.isStream)
                streams.append(try #require(pending.stream))
            }
            await Self.pass(600, on: owner, fixture)
            #expect(areThere() == [true, true])
            for stream in streams { stream.onEnd(.neverOpened) }
            await Self.pass(590, on: owner, fixture)
            #expect(areThere() == [true, true])
            // A member that has no contact to the log at the moment asks again later.
            while areThere() != [false, false] { await Self.pass(601, on: owner, fixture) }
            await fixture.settle()
            #expect(await other.perform("GET", "/v1/subscriptions/\(subscription)").status == 404)
        }
    }

    private static func lastReads(of topics: [TopicID], on member: ClusterMember) async -> [TopicID: Moment] {
        await withCheckedContinuation { continuation in
            member.node.lastReads(of: topics) { continuation.resume(returning: $0) }
        }
    }

    private static func lastRead(on member: ClusterMember) async -> Moment? {
        let topic = TopicID.subscription(SubscriptionID("s"))
        return await lastReads(of: [topic], on: member)[topic]
    }

    @Test func aStreamThatBeginsWhileTheOtherMembersAreAskedCounts() async throws {
        try await ClusterFixture.run { fixture in
            let owner = fixture.members[0]
            let subscription = await owner.makeSubscription()
            await fixture.settle()
            let read = TopicID.subscription(SubscriptionID(subscription))
            let calls = fixture.engine.figures.calls
            fixture.engine.holdCalls()
            let question = Task { await Self.lastReads(of: [read], on: owner) }
            await fixture.engine.wait { $0.calls > calls }
            let pending = owner.start("GET", "/v1/subscriptions/\(subscription)/events")
            #expect(await pending.outcome.isStream)
            fixture.engine.releaseCalls()
            #expect(await question.value == [read: .never])
            pending.stream?.onEnd(.neverOpened)
        }
    }

    /// NATS loses a message of more than 1 MB.
    @Test func manyTopicsAreAskedForInSeveralCalls() async throws {
        try await ClusterFixture.run { fixture in
            let (owner, other) = (fixture.members[0], fixture.members[1])
            let subscription = await owner.makeSubscription()
            await fixture.settle()
            let pending = other.start("GET", "/v1/subscriptions/\(subscription)/events")
            #expect(await pending.outcome.isStream)
            let stream = try #require(pending.stream)
            let read = TopicID.subscription(SubscriptionID(subscription))
            let topics = (0..<2_500).map { TopicID.subscription(SubscriptionID("none\($0)")) } + [read]
            let calls = fixture.engine.figures.calls
            #expect(await Self.lastReads(of: topics, on: owner) == [read: fixture.time.moment])
            #expect(fixture.engine.figures.calls == calls + 3)
            stream.onEnd(.neverOpened)
        }
    }

    @Test func withoutTheAnswerOfAMemberNothingIsUnused() async throws {
        try await ClusterFixture.run { fixture in
            let (owner, other) = (fixture.members[0], fixture.members[1])
            #expect(await Self.lastRead(on: owner) == nil)
            // A member whose streams have ended with it.
            try await ConfirmationTests.replace(other, by: owner, fixture.engine)
            await owner.catchUp()
            #expect(await Self.lastRead(on: owner) == fixture.time.moment)
            fixture.engine.cut([other.node.process])
            #expect(await Self.lastRead(on: owner) == .never)
        }
    }
}

import JSONText
import MicroHTTPD
import Primitives
import Synchronization
import Testing

@testable import Gateway
@testable import GatewayCluster
@testable import Replication

/// A resource whose creation a member has answered with 201 exists, also if another member had created it.
@Suite(.timeLimit(.minutes(2))) struct AnsweredResourcesTests {
    private static let name = RecordKey(high: 1, low: 2)
    private static let subject = RecordSubject.request(name, body: name)
    private static let begin = ClusterRecord.request(.begin(name, body: name, expired: 0))

    /// A request for a new subscription that a member performs when `respond` is called.
    private struct Creation {
        let id: String
        let respond: () -> Void
        let response: Task<Response, any Error>
    }

    /// A member has created a subscription for a request with an `Idempotency-Key`, and has not responded yet.
    private func create(on member: ClusterMember) async throws -> Creation {
        #expect(await member.node.decision(on: Self.subject, by: Self.begin) == .accepted)
        let type = HTTPFields([HTTPField("Content-Type", "application/json")])
        let request = HTTPRequest(method: "POST", rawPath: "/v1/subscriptions", headers: type)
        var call = Call(record: CallRecord(request, requestID: "r", since: .zero))
        call.caller = Caller(identity: "key:admin")
        call.body = Array(
            #"{"upstream":"demo","mode":"MERGE","items":["a"],"fields":["f"],"active":false}"#.utf8
        )
        let (made, maker) = AsyncStream.makeStream(of: Response.self)
        let isHeld = Awaited<Void>()
        let services = member.services
        let operation = Operation(.post, "/v1/subscriptions", "x", .open, [201], on: .carrier) { call in
            .later {
                let response = try await SubscriptionsResource(services: services).create(call)
                maker.yield(response)
                try await isHeld.value
                return .response(response)
            }
        }
        let begun = BegunRequest(name: Self.name, generation: try #require(member.node.generation))
        let task = Task { [call] in
            try await call.response {
                try await ClusterResources(cluster: member.node, services: services).perform($0, operation, begun)
            }
        }
        let response = try #require(await made.first { _ in true })
        try #require(response.status == 201, "\(response)")
        #expect(await member.confirm())
        let id = try #require(response.headers["Location"]?.split(separator: "/").last)
        return Creation(id: String(id), respond: { isHeld.end(.success(())) }, response: task)
    }

    /// The member reads the log late: together with its own frame, the beginning of an epoch.
    @Test func subscriptionIsKeptWhoseAnswerTheLogHadBeforeAnEpochBegan() async throws {
        try await ClusterFixture.run { fixture in
            let (member, other) = (fixture.members[0], fixture.members[1])
            let creation = try await create(on: member)
            // Its answer, the question of the other member, and the beginning of an epoch.
            fixture.engine.loseFrames(3, for: member.node.process)
            creation.respond()
            while true {
                let frames = fixture.engine.figures.frames
                await other.catchUp()
                if other.node.state.withLock({ $0.machine.ledger?.requests.isPending(Self.name) == false }) { break }
                await fixture.engine.wait { $0.frames > frames }
            }
            guard case .answered? = await other.node.decision(on: Self.subject, by: Self.begin) else {
                Issue.record("no answer")
                return
            }
            let number = other.number
            let epoch = ClusterFrame(
                kind: .epoch,
                member: 9,
                epoch: 99,
                previous: UInt64(fixture.engine.figures.frames),
                digest: 0,
                counter: 0,
                payload: [1]
            )
            other.node.state.withLock { $0.link }?.connection.append(epoch.bytes, again: false)
            await other.join(fixture.engine, after: number)
            #expect(try await creation.response.value.status == 201)
            await member.join(fixture.engine)
            await fixture.settle()
            #expect(await other.perform("GET", "/v1/subscriptions/\(creation.id)").status == 200)
        }
    }

    /// The log gets the frame late, after the removal of the member: another member performs the repeated request.
    @Test func uncertainCreationThatTheLogLacksIsNotReportedAgain() async throws {
        try await ClusterFixture.run(suspect: .seconds(1_000_000)) { fixture in
            let (member, other) = (fixture.members[0], fixture.members[1])
            let number = try #require(member.number)
            let creation = try await create(on: member)
            fixture.engine.storeFrames(0, of: member.node.process)
            creation.respond()
            while !member.node.reports.withLock({ $0.haveDeadlines }) { await Task.yield() }
            fixture.time.pass(3)
            #expect(try await creation.response.value.status == 503)
            other.node.write(.remove(number))
            #expect(await other.confirm())
            fixture.engine.storeFrames(of: member.node.process)
            await member.join(fixture.engine, after: number)
            await fixture.settle()
            for either in [member, other] {
                #expect(await either.perform("GET", "/v1/subscriptions/\(creation.id)").status == 404)
            }
            #expect(await other.node.decision(on: Self.subject, by: Self.begin) == .accepted)
        }
    }

    /// As that to a request for a subscription for which this member can have no session.
    @Test func aResponseOfAnotherMemberIsRepeated() async throws {
        try await ClusterFixture.run(1) { fixture in
            let key = IdempotencyStore.Key(caller: "key:admin", path: "/v1/subscriptions", key: "k")
            let request = HTTPRequest(method: "POST", rawPath: "/v1/subscriptions")
            let call = Call(record: CallRecord(request, requestID: "r", since: .zero))
            let node = fixture.members[0].node
            let performed = Mutex(0)
            for _ in 0..<2 {
                let result = try await node.performOnce(call, key) { _, _ in
                    performed.withLock { $0 += 1 }
                    throw AnsweredRequest(Response(status: 201))
                }
                guard case .response(let response) = result else {
                    Issue.record("no response")
                    return
                }
                #expect(response.status == 201)
            }
            #expect(performed.withLock { $0 } == 1)
        }
    }

    /// The caller was told that the member does not perform the request, which the member may do only now.
    @Test func requestOfWhichTheDecisionComesTooLateMayBeRepeated() async throws {
        try await ClusterFixture.run(suspect: .seconds(1_000_000)) { fixture in
            let (member, other) = (fixture.members[0], fixture.members[1])
            fixture.engine.holdFrames(for: member.node.process)
            let frames = fixture.engine.figures.frames
            async let late = member.node.decision(on: Self.subject, by: Self.begin)
            await fixture.engine.wait { $0.frames > frames }
            fixture.time.pass(3)
            #expect(await late == nil)
            fixture.engine.releaseFrames(for: member.node.process)
            await member.catchUp()
            await fixture.settle()
            #expect(await other.node.decision(on: Self.subject, by: Self.begin) == .accepted)
        }
    }

    /// The decision on the former request comes while the latter waits for its own.
    @Test func requestDoesNotTakeTheLateDecisionOnOneWithAnotherBody() async throws {
        try await ClusterFixture.run(suspect: .seconds(1_000_000)) { fixture in
            let member = fixture.members[0]
            let body = RecordKey(high: 3, low: 4)
            fixture.engine.holdFrames(for: member.node.process)
            let frames = fixture.engine.figures.frames
            async let late = member.node.decision(on: Self.subject, by: Self.begin)
            await fixture.engine.wait { $0.frames > frames }
            fixture.time.pass(3)
            #expect(await late == nil)
            let begin = ClusterRecord.request(.begin(Self.name, body: body, expired: 0))
            async let next = member.node.decision(on: .request(Self.name, body: body), by: begin)
            while !member.node.reports.withLock({ $0.haveDeadlines }) { await Task.yield() }
            fixture.engine.releaseFrames(for: member.node.process)
            #expect(await next == .refused)
            await fixture.settle()
            #expect(await member.node.decision(on: .request(Self.name, body: body), by: begin) == .accepted)
        }
    }

    /// The member that inherits the subscription has not even read that it was created.
    @Test func memberThatIsBehindDoesNotAnswerForTheCluster() async throws {
        try await ClusterFixture.run(3) { fixture in
            let (creator, reader, late) = (fixture.members[0], fixture.members[1], fixture.members[2])
            fixture.engine.holdFrames(for: late.node.process)
            var ids: [String] = []
            for index in 0..<20 { ids.append(await creator.makeSubscription(items: #"["item\#(index)"]"#)) }
            let number = try #require(creator.number)
            reader.node.write(.remove(number))
            await creator.join(fixture.engine, after: number)
            await reader.catchUp()
            let inherited = ids.first { reader.node.holder(of: $0) == .process(late.node.process) }
            let id = try #require(inherited)
            let calls = fixture.engine.figures.calls
            let pending = reader.start("GET", "/v1/subscriptions/\(id)")
            await fixture.engine.wait { $0.calls > calls }
            fixture.engine.releaseFrames(for: late.node.process)
            #expect(await pending.outcome.status == 200)
        }
    }
}

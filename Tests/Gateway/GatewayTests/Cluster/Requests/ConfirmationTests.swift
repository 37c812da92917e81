import Changes
import MicroHTTPD
import Primitives
import Replication
import TestSupport
import Testing

@testable import Gateway
@testable import GatewayCluster

@Suite(.timeLimit(.minutes(2))) struct ConfirmationTests {
    /// Removes a member from the cluster; it joins again under another number.
    static func replace(_ member: ClusterMember, by other: ClusterMember, _ engine: MemoryEngine) async throws {
        let number = try #require(member.number)
        other.node.write(.remove(number))
        await member.join(engine, after: number)
    }

    /// As at a stop, which has ended the waits of requests: their changes are made, and have to be in the log.
    @Test func aMemberLeavesAfterTheRequestsThatChangeResources() async throws {
        try await ClusterFixture.run { fixture in
            let member = fixture.members[0]
            let body = #"{"upstream":"demo","mode":"MERGE","items":["item1"],"fields":["f"],"active":false}"#
            member.node.reports.withLock { $0.changing += 1 }
            let leave = Task { await member.node.leave(within: .seconds(600)) }
            for _ in 0..<3 { #expect(await member.perform("POST", "/v1/subscriptions", body).status == 201) }
            member.node.reports.withLock { $0.changing -= 1 }
            member.node.resourceChanged(ClusterNode.ownChanges)
            await leave.value
            #expect(await member.perform("POST", "/v1/subscriptions", body).status == 503)
        }
    }

    @Test func aChangeIsNotConfirmedIfTheMemberWasReplacedMeanwhile() async throws {
        try await ClusterFixture.run { fixture in
            let (member, other) = (fixture.members[0], fixture.members[1])
            let isHeld = Awaited<Void>()
            let operation = Operation(.delete, "/v1/subscriptions/{id}", "x", .open, [204], on: .owner) { _ in
                .later {
                    try await isHeld.value
                    return .response(Response(status: 204))
                }
            }
            let call = Call(record: CallRecord(.init(method: "DELETE", rawPath: "/"), requestID: "r", since: .zero))
            let resources = ClusterResources(cluster: member.node, services: member.services)
            let task = Task.immediate { try await call.response { try await resources.perform($0, operation, nil) } }
            try await Self.replace(member, by: other, fixture.engine)
            isHeld.end(.success(()))
            #expect(try await task.value.status == 503)
        }
    }

    /// The next owner does not know the change: a caller would read the change first, and then the state before it.
    @Test func aReadDoesNotShowAChangeThatTheLogDoesNotHave() async throws {
        try await ClusterFixture.run { fixture in
            let (member, other) = (fixture.members[0], fixture.members[1])
            let path = "/v1/subscriptions/" + (await member.makeSubscription())
            await fixture.settle()
            fixture.engine.holdFrames(for: member.node.process)
            other.node.write(.remove(try #require(member.number)))
            #expect(await other.confirm())
            let records = member.node.reports.withLock { $0.outbox.recordsAppended }
            let change = member.start("PATCH", path, #"{"requestedMaxFrequency":8}"#)
            while member.node.reports.withLock({ $0.outbox.recordsAppended }) == records { await Task.yield() }
            let read = member.start("GET", path)
            fixture.engine.releaseFrames(for: member.node.process)
            #expect(await change.outcome.status == 503)
            #expect(await read.outcome.status == 503)
        }
    }

    /// A request with `Prefer: wait` waits between its change and the wait for the log.
    @Test func aReadDoesNotShowAChangeOfARequestThatStillWaits() async throws {
        try await ClusterFixture.run { fixture in
            let (member, other) = (fixture.members[0], fixture.members[1])
            let id = await member.makeSubscription()
            await fixture.settle()
            fixture.engine.holdFrames(for: member.node.process)
            other.node.write(.remove(try #require(member.number)))
            #expect(await other.confirm())
            let isHeld = Awaited<Void>()
            let operation = Operation(.post, "/v1/subscriptions/{id}/x", "x", .open, [200], on: .owner) { _ in
                .later {
                    member.node.take(.subscription(SubscriptionID(id), .activity(isActive: true)))
                    try await isHeld.value
                    return .response(Response(status: 200))
                }
            }
            let records = member.node.reports.withLock { $0.outbox.recordsAppended }
            let call = Call(record: CallRecord(.init(method: "POST", rawPath: "/"), requestID: "r", since: .zero))
            let resources = ClusterResources(cluster: member.node, services: member.services)
            let change = Task.immediate { try await call.response { try await resources.perform($0, operation, nil) } }
            while member.node.reports.withLock({ $0.outbox.recordsAppended }) == records { await Task.yield() }
            let read = member.start("GET", "/v1/subscriptions/\(id)")
            fixture.engine.releaseFrames(for: member.node.process)
            #expect(await read.outcome.status == 503)
            isHeld.end(.success(()))
            #expect(try await change.value.status == 503)
        }
    }

    /// Waits until a request waits for the log, lets its time pass, and returns its status.
    private static func overdue(_ request: PendingOutcome, _ member: ClusterMember, _ time: ManualTime) async -> Int {
        while !member.node.reports.withLock({ $0.haveDeadlines }) { await Task.yield() }
        time.pass(2.1)
        return await request.outcome.status
    }

    /// The records of a request are behind many others, as after a member has joined again.
    @Test func aRequestWaitsWhileTheLogTakesRecords() async throws {
        try await ClusterFixture.run(1) { fixture in
            let machine = fixture.members[0].node.state.withLock { $0.machine }
            var reports = MemberReports(limit: 1_000)
            let request = MemberReports.Unconfirmed(records: 2, deadline: Moment.zero + .seconds(2), made: nil) { _ in }
            #expect(reports.add(request) == nil)
            #expect(reports.written(1, until: Moment.zero + .seconds(3)).isEmpty)
            #expect(reports.due(machine, at: Moment.zero + .seconds(2)).isEmpty)
            #expect(reports.due(machine, at: Moment.zero + .seconds(3)).count == 1)
        }
    }

    /// As when a limit of the engine's stream is reached.
    @Test func requestsEndWhileTheEngineStoresNothing() async throws {
        try await ClusterFixture.run(1) { fixture in
            let member = fixture.members[0]
            let path = "/v1/subscriptions/" + (await member.makeSubscription())
            await fixture.settle()
            fixture.engine.holdFrames(for: member.node.process)
            let change = member.start("PATCH", path, #"{"requestedMaxFrequency":8}"#)
            #expect(await Self.overdue(change, member, fixture.time) == 503)
            // The next owner would not know the change, whose request is answered.
            #expect(await Self.overdue(member.start("GET", path), member, fixture.time) == 503)
            fixture.engine.releaseFrames(for: member.node.process)
            await fixture.settle()
            let read = await member.perform("GET", path)
            #expect(read.status == 200 && read.json["requestedMaxFrequency"]?.number?.intValue == 8)
        }
    }

    /// Without a key, its caller does not know the stream; with one, the log gets the response with the id.
    @Test(arguments: [false, true]) func aStreamIsKeptWhoseCreationIsConfirmedTooLateIfItsRequestHasAKey(
        isKept: Bool
    ) async throws {
        try await ClusterFixture.run(1) { fixture in
            let member = fixture.members[0]
            let id = await member.makeSubscription()
            await fixture.settle()
            fixture.engine.holdFrames(for: member.node.process)
            let operation = try #require(member.host.router.operation(named: "createStream"))
            let request = HTTPRequest(method: "POST", rawPath: "/v1/streams")
            var call = Call(record: CallRecord(request, requestID: "r", since: .zero))
            call.body = Array(#"{"sources":[{"subscription":"\#(id)"}]}"#.utf8)
            let generation = try #require(member.node.generation)
            let begun = isKept ? BegunRequest(name: RecordKey(high: 0, low: 0), generation: generation) : nil
            let resources = ClusterResources(cluster: member.node, services: member.services)
            let task = Task.immediate { [call] in
                try await call.response { try await resources.perform($0, operation, begun) }
            }
            while !member.node.reports.withLock({ $0.haveDeadlines }) { await Task.yield() }
            fixture.time.pass(2.1)
            #expect(try await task.value.status == 503)
            fixture.engine.releaseFrames(for: member.node.process)
            await fixture.settle()
            let streams = member.node.preparedStreamIDs { _ in true }
            #expect(streams == member.services.streamResources.ids && streams.count == (isKept ? 1 : 0))
        }
    }

    @Test func aRequestIsNotPerformedAfterTheMemberThatTheLogChoseWasReplaced() async throws {
        try await ClusterFixture.run { fixture in
            let (member, other) = (fixture.members[0], fixture.members[1])
            let generation = member.node.generation
            try await Self.replace(member, by: other, fixture.engine)
            #expect(member.node.generation != generation)
            let operation = Operation(.post, "/v1/subscriptions", "x", .open, [201], on: .carrier) { _ in
                Issue.record("performed")
                return .deferred
            }
            let call = Call(record: CallRecord(.init(method: "POST", rawPath: "/"), requestID: "r", since: .zero))
            let begun = BegunRequest(name: RecordKey(high: 0, low: 0), generation: try #require(generation))
            let resources = ClusterResources(cluster: member.node, services: member.services)
            await #expect(throws: Problem.self) { try await resources.perform(call, operation, begun) }
        }
    }
}

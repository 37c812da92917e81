import Changes
import EventHub
import LightstreamerClient
import MicroHTTPD
import SessionCore
import SessionPool
import StreamIO
import Testing

@testable import Gateway
@testable import GatewayCluster
@testable import Replication

@Suite(.timeLimit(.minutes(2))) struct ClusterStreamsTests {
    private static let body = #"{"sources":[{"upstream":"demo","mode":"MERGE","items":["i"],"fields":["f"]}]}"#

    /// Prepares a stream and returns its path.
    private static func prepare(_ member: ClusterMember, _ body: String = body) async throws -> String {
        let made = await member.perform("POST", "/v1/streams", body)
        return "/v1/streams/\(try #require(made.json["id"]?.string))"
    }

    /// Opens a stream, which stays open until the test ends it.
    private static func open(_ path: String, _ member: ClusterMember) async throws -> AdmittedStream {
        let pending = member.start("GET", path + "/events")
        #expect(await pending.outcome.isStream)
        return try #require(pending.stream)
    }

    /// Opens a stream and ends it.
    private static func use(_ path: String, _ member: ClusterMember) async throws {
        try await open(path, member).onEnd(.neverOpened)
    }

    /// Waits until a member has read from the log that a stream is open.
    private static func waitForOpening(_ path: String, seenBy member: ClusterMember, _ engine: MemoryEngine) async {
        let id = String(path.dropFirst("/v1/streams/".count))
        while true {
            let frames = engine.figures.frames
            await member.catchUp()
            if member.node.preparedStream(id)?.isOpen == true { return }
            await engine.wait { $0.frames > frames }
        }
    }

    /// Opens a stream on a member that reads the decision of the log after the request has been answered with 503.
    private static func openTooLate(
        _ path: String,
        on member: ClusterMember,
        seenBy other: ClusterMember,
        _ fixture: ClusterFixture
    ) async {
        fixture.engine.holdFrames(for: member.node.process)
        let late = member.start("GET", path + "/events")
        await waitForOpening(path, seenBy: other, fixture.engine)
        fixture.time.pass(1_000)
        #expect(await late.outcome.status == 503)
        fixture.engine.releaseFrames(for: member.node.process)
        await fixture.serveAgain()
    }

    /// Lets time pass for members without a pending change.
    private static func pass(_ seconds: Double, _ fixture: ClusterFixture) async {
        await fixture.settle()
        fixture.time.pass(seconds)
        await fixture.serveAgain()
    }

    @Test func sourcesOfAnotherMemberAreShownWithTheirStates() async throws {
        try await ClusterFixture.run { fixture in
            let (owner, member) = (fixture.members[0], fixture.members[1])
            let made = await owner.perform("POST", "/v1/clients", #"{"upstream":"demo","connect":false}"#)
            let id = try #require(made.json["id"]?.string)
            let subscription = await owner.makeSubscription()
            let client = try #require(owner.services.pool.client(ClientID(id)))
            client.client(client.core, emitted: .status(.connectedWSStreaming))
            await fixture.settle()
            let body = #"{"sources":[{"subscription":"\#(subscription)"},{"client":"\#(id)"}]}"#
            let prepared = await member.perform("POST", "/v1/streams", body)
            let path = "/v1/streams/\(try #require(prepared.json["id"]?.string, "\(prepared.text)"))"
            for outcome in [prepared, await member.perform("GET", path)] {
                let sources = outcome.json["sources"]?.array
                #expect(sources?.first?["mode"] == "MERGE")
                #expect(sources?.last?["status"] == "CONNECTED:WS-STREAMING")
            }
        }
    }

    @Test func theHeadOfAPreparedStreamTellsOfItsCompression() async throws {
        try await ClusterFixture.run { fixture in
            let path = try await Self.prepare(fixture.members[0]) + "/events"
            await fixture.settle()
            let headers = [HTTPField("Accept-Encoding", "gzip")]
            for member in fixture.members {
                #expect(await member.perform("HEAD", path, "", headers).headers["Content-Encoding"] == "gzip")
                #expect(await member.perform("HEAD", path).headers["Content-Encoding"] == nil)
            }
            let opening = fixture.members[1].start("GET", path, "", headers)
            #expect(await opening.outcome.headers["Content-Encoding"] == "gzip")
            opening.stream?.onEnd(.neverOpened)
        }
    }

    @Test func aClientIsNoSubscriptionOfAnyMember() async throws {
        try await ClusterFixture.run { fixture in
            let made = await fixture.members[0].perform("POST", "/v1/clients", #"{"upstream":"demo","connect":false}"#)
            let client = try #require(made.json["id"]?.string)
            let subscription = await fixture.members[0].makeSubscription()
            await fixture.settle()
            for member in fixture.members {
                for source in [#"{"subscription":"\#(client)"}"#, #"{"client":"\#(subscription)"}"#] {
                    #expect(await member.perform("POST", "/v1/streams", #"{"sources":[\#(source)]}"#).status == 404)
                }
                #expect(await member.perform("HEAD", "/v1/subscriptions/\(client)/events").status == 404)
                #expect(await member.perform("HEAD", "/v1/clients/\(subscription)/events").status == 404)
            }
        }
    }

    /// The source is added on the member that has the stream, and another one opens the stream next.
    @Test func aSourceThatWasAddedOnAnotherMemberMakesAGapForAClientWithoutIt() async throws {
        try await ClusterFixture.run { fixture in
            let (first, second) = (fixture.members[0], fixture.members[1])
            let (present, added) = (await first.makeSubscription(), await first.makeSubscription())
            let body = #"{"sources":[{"subscription":"\#(present)"}]}"#
            let made = await first.perform("POST", "/v1/streams", body)
            let path = "/v1/streams/\(try #require(made.json["id"]?.string))"
            try await Self.use(path, first)
            await fixture.settle()
            let before = second.node.hub.lastID.text
            let patch = #"{"add":[{"subscription":"\#(added)"}]}"#
            #expect(await first.perform("PATCH", path, patch).status == 200)
            // A client that has this event has read the stream with both sources.
            first.node.take(.subscription(SubscriptionID(present), .event(.realMaxFrequency(nil))))
            await fixture.settle()
            for (last, outcome) in [(before, "gap"), (second.node.hub.lastID.text, "resumed")] {
                let opening = second.start("GET", path + "/events", "", [HTTPField("Last-Event-ID", last)])
                #expect(await opening.outcome.isStream)
                let stream = try #require(opening.stream)
                #expect(second.text(of: stream).contains(#""resume":"\#(outcome)""#))
                stream.onEnd(.finished)
                await fixture.settle()
            }
        }
    }

    @Test func aStreamThatAnotherMemberOpensEndsWhenItsOnlySubscriptionIsRefused() async throws {
        try await ClusterFixture.run { fixture in
            let (first, second) = (fixture.members[0], fixture.members[1])
            let made = await first.perform("POST", "/v1/streams", Self.body)
            let path = "/v1/streams/\(try #require(made.json["id"]?.string))"
            let source = try #require(made.json["sources"]?.array?.first?["subscription"]?.string)
            let stream = try await Self.open(path, second)
            await fixture.settle()
            let refusal = SubscriptionEvent.failed(code: 21, message: "Bad Item Group name")
            second.node.hub.take(.subscription(SubscriptionID(source), .event(refusal)))
            #expect(second.text(of: stream).contains(#"{"reason":"refused"}"#))
            stream.onEnd(.finished)
        }
    }

    @Test func aRefusedSubscriptionIsTriedAgainWhenItsPreparedStreamIsOpenedAgain() async throws {
        try await ClusterFixture.run(1) { fixture in
            let member = fixture.members[0]
            let made = await member.perform("POST", "/v1/streams", Self.body)
            let path = "/v1/streams/\(try #require(made.json["id"]?.string))"
            let source = try #require(made.json["sources"]?.array?.first?["subscription"]?.string)
            let id = SubscriptionID(source)
            try await Self.use(path, member)
            await fixture.settle()
            member.services.pool.deactivate(try #require(member.services.pool.resource(id)))
            member.node.take(.subscription(id, .event(.failed(code: 21, message: "Bad Item Group name"))))
            await fixture.settle()
            #expect(member.node.hub.snapshot(of: id)?.isActive == false)
            let stream = try await Self.open(path, member)
            await fixture.settle()
            #expect(member.node.hub.snapshot(of: id)?.isActive == true)
            #expect(member.services.pool.resource(id)?.status.isActive == true)
            // It is not told the former refusal.
            let text = member.text(of: stream)
            #expect(text.contains("event: stream") && !text.contains("event: closing"), "\(text)")
            stream.onEnd(.finished)
        }
    }

    @Test func anOutdatedTimerDoesNotDeleteAStreamThatReturned() async throws {
        try await ClusterFixture.run(suspect: .seconds(1_000_000)) { fixture in
            let (first, second) = (fixture.members[0], fixture.members[1])
            let path = try await Self.prepare(first)
            try await Self.use(path, second)
            await Self.pass(30, fixture)
            try await Self.use(path, first)
            try await Self.use(path, second)
            for (seconds, status) in [(45.0, 200), (16, 404)] {
                await Self.pass(seconds, fixture)
                second.services.timers.runDue()
                await fixture.settle()
                #expect(await second.perform("GET", path).status == status)
            }
        }
    }

    @Test func aStreamThatAnotherMemberOwnsIsClosedAndOpensAgainOnceItHasEnded() async throws {
        try await ClusterFixture.run { fixture in
            let (first, second) = (fixture.members[0], fixture.members[1])
            let path = try await Self.prepare(first)
            let former = try await Self.open(path, first)
            try await ConfirmationTests.replace(first, by: second, fixture.engine)
            await fixture.settle()
            #expect(first.text(of: former).contains(#"{"reason":"moved"}"#))
            try await Self.use(path, second)
            await fixture.settle()
            let frames = fixture.engine.figures.frames
            let next = first.start("GET", path + "/events")
            // The log accepts the request, and the member gives the stream back while its former client still reads.
            await fixture.engine.wait { $0.frames > frames + 1 }
            former.onEnd(.finished)
            #expect(await next.outcome.status == 200)
            next.stream?.onEnd(.neverOpened)
            try await Self.use(path, second)
        }
    }

    /// As at the beginning of an epoch: another member declares the stream first, and the log opens it for this one then.
    @Test func aStreamThatTheLogOpensAfterItsReleaseIsClosedAndOpensAgain() async throws {
        try await ClusterFixture.run { fixture in
            let (first, second) = (fixture.members[0], fixture.members[1])
            let path = try await Self.prepare(first)
            let former = try await Self.open(path, first)
            await Self.waitForOpening(path, seenBy: second, fixture.engine)
            let streams = try #require(first.node.streams)
            let id = String(path.dropFirst("/v1/streams/".count))
            streams.release(id)
            streams.opened(id)
            former.onEnd(.finished)
            await fixture.settle()
            try await Self.use(path, second)
        }
    }

    /// As at the beginning of an epoch: the log opens the stream again after a request has deleted it.
    @Test func aStreamThatTheLogOpensAfterItsDeletionIsGone() async throws {
        try await ClusterFixture.run { fixture in
            let member = fixture.members[0]
            // Of a subscription that is not active, so that nothing else is written meanwhile, for which the request would wait.
            let source = #"{"subscription":"\#(await member.makeSubscription())"}"#
            let path = try await Self.prepare(member, #"{"sources":[\#(source)]}"#)
            await fixture.settle()
            fixture.engine.holdFrames(for: member.node.process)
            let deleted = member.start("DELETE", path)
            let id = String(path.dropFirst("/v1/streams/".count))
            while member.services.streamResources.entry(id) != nil { await Task.yield() }
            let streams = try #require(member.node.streams)
            streams.opened(id)
            while member.services.streamResources.entry(id) == nil { await Task.yield() }
            fixture.engine.releaseFrames(for: member.node.process)
            #expect(await deleted.outcome.status == 204)
            await fixture.settle()
            #expect(member.services.streamResources.entry(id) == nil)
            #expect(await member.perform("GET", path).status == 404)
        }
    }

    /// At the beginning of an epoch, the member that created the stream does not know who has it now.
    @Test func aStreamIsFoundThatIsReportedWhileItsCreatorIsAsked() async throws {
        try await ClusterFixture.run(3) { fixture in
            let (creator, owner, other) = (fixture.members[0], fixture.members[1], fixture.members[2])
            let path = try await Self.prepare(creator)
            try await Self.use(path, owner)
            await fixture.settle()
            let numbers = fixture.members.map(\.number)
            fixture.engine.holdFrames(for: owner.node.process)
            Self.appendEpoch(99, fixture)
            for index in [0, 2] { await fixture.members[index].join(fixture.engine, after: numbers[index]) }
            for member in [creator, other] { #expect(await member.confirm()) }
            for member in [creator, other] { await member.catchUp() }
            let calls = fixture.engine.figures.calls
            fixture.engine.holdCalls()
            let read = other.start("GET", path)
            await fixture.engine.wait { $0.calls > calls }
            fixture.engine.holdFrames(for: creator.node.process)
            fixture.engine.releaseFrames(for: owner.node.process)
            await owner.join(fixture.engine, after: numbers[1])
            #expect(await owner.confirm())
            await other.catchUp()
            #expect(other.node.isPrepared(String(path.dropFirst("/v1/streams/".count))))
            fixture.engine.releaseCalls()
            #expect(await read.outcome.status == 200)
            fixture.engine.releaseFrames(for: creator.node.process)
        }
    }

    /// The member that opens the stream had read the log of the former epoch to its end.
    @Test func aStreamIsOpenedThatIsReportedWhileARequestWaits() async throws {
        try await ClusterFixture.run(suspect: .seconds(1_000_000), reporting: .seconds(1)) { fixture in
            let (first, second) = (fixture.members[0], fixture.members[1])
            let numbers = fixture.members.map(\.number)
            await Self.pass(5, fixture)
            fixture.engine.holdFrames(for: second.node.process)
            let path = try await Self.prepare(first)
            let stream = try await Self.open(path, first)
            let calls = fixture.engine.figures.calls
            let opening = second.start("GET", path + "/events")
            fixture.engine.holdCalls()
            fixture.engine.releaseFrames(for: second.node.process)
            await fixture.engine.wait { $0.calls > calls }
            let frames = fixture.engine.figures.frames
            fixture.engine.holdFrames(for: first.node.process)
            stream.onEnd(.neverOpened)
            await fixture.engine.wait { $0.frames > frames }
            Self.appendEpoch(99, fixture)
            await second.join(fixture.engine, after: numbers[1])
            fixture.engine.releaseCalls()
            await second.catchUp()
            fixture.engine.releaseFrames(for: first.node.process)
            await first.join(fixture.engine, after: numbers[0])
            #expect(await first.confirm())
            for _ in 0..<3 { await fixture.exchangeHeartbeats() }
            #expect(await opening.outcome.isStream)
            opening.stream?.onEnd(.neverOpened)
        }
    }

    @Test func aStreamThatAnotherMemberOpenedJustNowIsReadAndDeletedThere() async throws {
        try await ClusterFixture.run { fixture in
            let (first, second) = (fixture.members[0], fixture.members[1])
            let path = try await Self.prepare(first)
            await fixture.settle()
            fixture.engine.holdFrames(for: first.node.process)
            let stream = try await Self.open(path, second)
            let (read, deleted) = (first.start("GET", path), first.start("DELETE", path))
            fixture.engine.releaseFrames(for: first.node.process)
            #expect(await [200, 404].contains(read.outcome.status))
            #expect(await deleted.outcome.status == 204)
            stream.onEnd(.neverOpened)
            await fixture.settle()
            for member in fixture.members {
                #expect(await member.perform("GET", path).status == 404)
            }
        }
    }

    /// The owner has not read yet that another member has opened the stream: its change has no effect, and the other one is asked.
    @Test(arguments: ["PATCH", "DELETE"])
    func aChangeOfAStreamThatAnotherMemberHasOpenedIsPerformedThere(method: String) async throws {
        try await ClusterFixture.run { fixture in
            let (first, second) = (fixture.members[0], fixture.members[1])
            // Of subscriptions that are not active, so that nothing else is written meanwhile.
            var sources: [String] = []
            for _ in 0..<2 { sources.append(#"{"subscription":"\#(await first.makeSubscription())"}"#) }
            let path = try await Self.prepare(first, #"{"sources":[\#(sources[0])]}"#)
            await fixture.settle()
            fixture.engine.holdFrames(for: first.node.process)
            let stream = try await Self.open(path, second)
            await Self.waitForOpening(path, seenBy: second, fixture.engine)
            let body = method == "PATCH" ? #"{"add":[\#(sources[1])]}"# : ""
            let http = HTTPRequest(method, path, as: nil, [], body)
            let request = ForwardedRequest(http: http, body: http.body, requestID: "r", caller: Caller())
            let frames = fixture.engine.figures.frames
            async let responses = first.host.serve([request], for: first.node)
            await fixture.engine.wait { $0.frames > frames }
            fixture.engine.releaseFrames(for: first.node.process)
            #expect(await responses.map(\.status) == [Response.misdirected])
            stream.onEnd(.neverOpened)
        }
    }

    /// The member that creates the stream has not read from the log that the stream is there, and another one has opened it.
    @Test func aChangeOfAStreamWhoseCreationWasNotReadYetIsPerformedWhereItIsOpen() async throws {
        try await ClusterFixture.run { fixture in
            let (first, second) = (fixture.members[0], fixture.members[1])
            var sources: [String] = []
            for _ in 0..<2 { sources.append(#"{"subscription":"\#(await first.makeSubscription())"}"#) }
            await fixture.settle()
            fixture.engine.holdFrames(for: first.node.process)
            let created = first.start("POST", "/v1/streams", #"{"sources":[\#(sources[0])]}"#)
            _ = await second.node.holds(until: .never) { machine, _ in
                machine.ledger?.specified.values.contains { $0.isOpen != nil } ?? false
            }
            let id = try #require(second.node.preparedStreamIDs { _ in true }.first)
            let path = "/v1/streams/\(id)"
            let stream = try await Self.open(path, second)
            await Self.waitForOpening(path, seenBy: second, fixture.engine)
            let changed = first.start("PATCH", path, #"{"add":[\#(sources[1])]}"#)
            while first.services.streamResources.entry(id)?.prepared?.sources.count != 2 { await Task.yield() }
            fixture.engine.releaseFrames(for: first.node.process)
            #expect(await created.outcome.status == 201)
            #expect(await changed.outcome.status == 200)
            #expect(await second.perform("GET", path).json["sources"]?.array?.count == 2)
            stream.onEnd(.neverOpened)
        }
    }

    @Test func aStreamWhoseOpeningWasDecidedTooLateIsNotOpen() async throws {
        try await ClusterFixture.run(suspect: .seconds(1_000_000)) { fixture in
            let (first, second) = (fixture.members[0], fixture.members[1])
            let path = try await Self.prepare(first)
            await fixture.settle()
            await Self.openTooLate(path, on: first, seenBy: second, fixture)
            await fixture.settle()
            try await Self.use(path, second)
        }
    }

    /// Begins an epoch, as a process does that loses the state of the cluster, and waits until all members have joined again.
    private static func joinEpoch(_ number: UInt64, _ fixture: ClusterFixture, whileHandling handle: () async -> Void)
        async
    {
        let numbers = fixture.members.map(\.number)
        await handle()
        appendEpoch(number, fixture)
        for (member, number) in zip(fixture.members, numbers) { await member.join(fixture.engine, after: number) }
    }

    /// The same, and waits until all members have reported what they have.
    private static func beginEpoch(_ number: UInt64, _ fixture: ClusterFixture, whileHandling handle: () async -> Void)
        async
    {
        await joinEpoch(number, fixture, whileHandling: handle)
        await fixture.settle()
    }

    private static func appendEpoch(_ number: UInt64, _ fixture: ClusterFixture) {
        let epoch = ClusterFrame(
            kind: .epoch,
            member: 9,
            epoch: number,
            previous: UInt64(fixture.engine.figures.frames),
            digest: 0,
            counter: 0,
            payload: [1]
        )
        fixture.members[1].node.state.withLock { $0.link }?.connection.append(epoch.bytes, again: false)
    }

    /// The member that carries the subscription of the streams, and the other one. Only the first one writes records by
    /// itself, about its session; the other one would wait for them where it loses frames.
    private static func carrierFirst(_ fixture: ClusterFixture) -> (ClusterMember, ClusterMember) {
        let (left, right) = (fixture.members[0], fixture.members[1])
        let owner = left.node.state.withLock { $0.machine.ledger?.topics.byID.values.first?.owner }
        return owner == left.number ? (left, right) : (right, left)
    }

    /// The member that may open the stream reads the beginning of an epoch together with this decision. The other member may
    /// have joined again before it opens the stream.
    @Test(arguments: 0..<6)
    func aStreamThatChangesItsOwnerBeforeAnEpochBeginsIsKept(_: Int) async throws {
        try await ClusterFixture.run { fixture in
            _ = try await Self.prepare(fixture.members[0])
            await fixture.settle()
            let (first, second) = Self.carrierFirst(fixture)
            let path = try await Self.prepare(first)
            await fixture.settle()
            fixture.engine.loseFrames(2, for: second.node.process)
            var opening: PendingOutcome?
            await Self.beginEpoch(99, fixture) {
                opening = second.start("GET", path + "/events")
                await Self.waitForOpening(path, seenBy: first, fixture.engine)
            }
            #expect(await opening?.outcome.isStream == true)
            await fixture.settle()
            for member in fixture.members {
                #expect(await member.perform("GET", path).status == 200)
                #expect(member.node.preparedStream(String(path.dropFirst("/v1/streams/".count)))?.isOpen == true)
            }
            opening?.stream?.onEnd(.neverOpened)
        }
    }

    /// As at the beginning of an epoch: a request reports the stream while this member is about to join, and learns that it
    /// could not write after the member has reported the stream. Another member has reported it before.
    @Test func aStreamIsKeptWhileOneOfItsReportsIsUndecided() async throws {
        try await ClusterFixture.run(1, suspect: .seconds(1_000_000)) { fixture in
            let member = fixture.members[0]
            let path = try await Self.prepare(member)
            let stream = try await Self.open(path, member)
            await fixture.settle()
            let streams = try #require(member.node.streams)
            fixture.engine.storeFrames(0, of: member.node.process)
            for seconds in [1, 1.5] {
                streams.declareAgain()
                fixture.time.pass(seconds)
            }
            // A request would wait no longer for the first report, and then for neither of them.
            await member.catchUp()
            fixture.time.pass(1)
            await member.catchUp()
            let id = String(path.dropFirst("/v1/streams/".count))
            streams.release(id)
            #expect(member.services.streamResources.entry(id)?.prepared != nil)
            fixture.engine.storeFrames(of: member.node.process)
            await fixture.settle()
            #expect(member.node.preparedStream(id)?.isOpen == true)
            stream.onEnd(.neverOpened)
        }
    }

    /// A request and a report may open the stream at the same time.
    @Test func aStreamIsReleasedWhenNothingKeepsIt() async throws {
        try await ClusterFixture.run(1) { fixture in
            let member = fixture.members[0]
            let id = String(try await Self.prepare(member).dropFirst("/v1/streams/".count))
            let streams = try #require(member.node.streams)
            let resources = member.services.streamResources
            for _ in 0..<2 { resources.keep(id) }
            for isKept in [true, true, false] {
                streams.release(id)
                #expect((resources.entry(id)?.prepared != nil) == isKept)
                resources.endKeeping(id)
            }
        }
    }

    /// A member reports the stream later than the others wait for that, and a client opens the stream there before.
    @Test func aStreamThatIsOpenedBeforeItIsReportedIsOpenInTheLog() async throws {
        try await ClusterFixture.run(suspect: .seconds(1_000_000), reporting: .seconds(1)) { fixture in
            let (owner, other) = (fixture.members[0], fixture.members[1])
            let path = try await Self.prepare(owner)
            await Self.pass(5, fixture)
            // The member joins, and reports nothing.
            fixture.engine.storeFrames(1, of: owner.node.process)
            await Self.joinEpoch(99, fixture) {}
            fixture.time.pass(5)
            await fixture.serveAgain()
            let opening = owner.start("GET", path + "/events")
            let id = String(path.dropFirst("/v1/streams/".count))
            // The request has time to open the stream without the log, which it must not.
            for _ in 0..<100 where owner.services.streamResources.entry(id)?.isOpen == false { await owner.catchUp() }
            #expect(owner.services.streamResources.entry(id)?.isOpen == false)
            fixture.engine.storeFrames(of: owner.node.process)
            #expect(await opening.outcome.isStream)
            await fixture.settle()
            #expect(await other.perform("GET", path + "/events").status == 409)
            opening.stream?.onEnd(.neverOpened)
        }
    }

    /// The owner reports the subscription again. Until then the other member does not know whether it is gone.
    @Test func aStreamOfASubscriptionStaysOpenWhenAnEpochBegins() async throws {
        // The members wait for the reports of each other until time passes.
        try await ClusterFixture.run(suspect: .seconds(1_000_000), reporting: .seconds(1)) { fixture in
            await Self.pass(5, fixture)
            let id = await fixture.members[0].makeSubscription()
            await fixture.settle()
            let reading = fixture.members.map { $0.start("GET", "/v1/stream?subscription=\(id)") }
            for reader in reading { #expect(await reader.outcome.isStream) }
            await Self.beginEpoch(99, fixture) {}
            await Self.pass(5, fixture)
            for (member, reader) in zip(fixture.members, reading) {
                let text = member.text(of: try #require(reader.stream))
                #expect(text.contains(id) && !text.contains("closing"), "\(text)")
                #expect(member.node.hub.knows(.subscription(SubscriptionID(id))))
                reader.stream?.onEnd(.finished)
            }
        }
    }

    @Test func aStreamThatIsOpenWhenAnEpochBeginsStaysOpenOnOneMember() async throws {
        try await ClusterFixture.run { fixture in
            let (first, second) = (fixture.members[0], fixture.members[1])
            let path = try await Self.prepare(first)
            let stream = try await Self.open(path, first)
            await fixture.settle()
            await Self.beginEpoch(99, fixture) {}
            await fixture.settle()
            #expect(await second.perform("GET", path + "/events").status == 409)
            #expect(await second.perform("HEAD", path + "/events").status == 409)
            stream.onEnd(.neverOpened)
            await fixture.settle()
            #expect(await second.perform("HEAD", path + "/events").status == 200)
            try await Self.use(path, second)
        }
    }

    @Test func aStreamThatWasNotOpenedInTimeExpires() async throws {
        try await ClusterFixture.run(suspect: .seconds(1_000_000)) { fixture in
            let (first, second) = (fixture.members[0], fixture.members[1])
            let path = try await Self.prepare(second)
            await fixture.settle()
            await Self.openTooLate(path, on: first, seenBy: second, fixture)
            // The member that owns the stream now recreates it.
            #expect(await first.perform("GET", path).status == 200)
            await Self.pass(61, fixture)
            first.services.timers.runDue()
            await fixture.settle()
            #expect(await second.perform("GET", path).status == 404)
        }
    }

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

    @Test func anOpenStreamTakesThroughAnyMemberNoSourcesThatItsReaderMayNotRead() async throws {
        try await ClusterFixture.run(access: TokenForge.configuration()) { fixture in
            func token(_ items: String) throws -> String {
                let rights = #""operations":"read subscribe","upstreams":"demo","items":"\#(items)""#
                return try TokenForge.token(rights, expiry: fixture.time.wall + 100)
            }
            let (reader, other) = (fixture.members[0], fixture.members[1])
            func source(_ item: String) -> String { "upstream=demo&mode=MERGE&items=\(item)&fields=f" }
            let opened = reader.start("GET", "/v1/stream?\(source("item1"))", as: try token("item1"))
            #expect(await opened.outcome.isStream)
            let stream = try #require(opened.stream)
            let body = #"{"add":[{"upstream":"demo","mode":"MERGE","items":["item2"],"fields":["f"]}]}"#
            #expect(await other.perform("PATCH", "/v1/streams/\(stream.id)", as: try token("*"), body).status == 403)
            stream.onEnd(.neverOpened)
        }
    }
}

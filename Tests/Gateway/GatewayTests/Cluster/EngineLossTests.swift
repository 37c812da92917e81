import Changes
import MicroHTTPD
import Replication
import SessionCore
import Testing

@testable import Gateway
@testable import GatewayCluster

/// What a member with `cluster.onEngineLoss: local` does while the engine is away.
@Suite(.timeLimit(.minutes(2))) struct EngineLossTests {
    private static let stream = "/v1/stream?upstream=demo&mode=MERGE&items=i&fields=f"
    private static let browser = [HTTPField("Accept", "text/event-stream")]

    @Test func aMemberServesItsOwnReadersAlone() async throws {
        try await ClusterFixture.run(1, onEngineLoss: .local) { fixture in
            let member = fixture.members[0]
            let opened = member.start("GET", Self.stream)
            #expect(await opened.outcome.isStream)
            let epoch = member.node.hub.lastID.epoch
            fixture.engine.cut([member.node.process])
            await member.isAlone()
            #expect(member.node.hub.lastID.epoch != epoch)
            let text = member.text(of: try #require(opened.stream))
            #expect(text.contains(#""resume":"fresh","degraded":true"#))
            let another = member.start("GET", Self.stream)
            #expect(await another.outcome.isStream)
            #expect(await member.perform("GET", "/health/ready").status == 200)
            #expect(await member.perform("GET", "/health").text.contains(#""connected":false,"degraded":true"#))
            opened.stream?.onEnd(.finished)
            another.stream?.onEnd(.neverOpened)
        }
    }

    /// Waits until a member has noticed that it has no contact to the engine.
    private static func waitForLoss(of member: ClusterMember) async {
        while member.node.contact != .none { await Task.yield() }
    }

    @Test func aMemberWithoutTheEngineDoesNotReportAnySourceAsUnknown() async throws {
        try await ClusterFixture.run { fixture in
            let member = fixture.members[1]
            fixture.engine.cut([member.node.process])
            await Self.waitForLoss(of: member)
            let path = "/v1/subscriptions/new/events"
            #expect(await member.perform("GET", path).status == 503)
            let outcome = await member.perform("GET", path, "", Self.browser)
            #expect(outcome.status == 200 && outcome.text.contains(#"{"reason":"behind"}"#))
        }
    }

    @Test func valuesOfAMemberWithoutTheEngineAreStale() async throws {
        try await ClusterFixture.run { fixture in
            let member = fixture.members[1]
            let opened = member.start("GET", Self.stream)
            #expect(await opened.outcome.isStream)
            let stream = try #require(opened.stream)
            let id = try #require(member.services.streamResources.entry(stream.id)?.joined.keys.first)
            await fixture.settle()
            member.node.hub.take(.client(ClientID("c"), .added(.connectedWSStreaming)))
            for change: SubscriptionChange in [
                .carried(by: ClientID("c")),
                .event(.subscribed(itemCount: 1, fieldCount: 1, keyPosition: nil, commandPosition: nil)),
                .event(.update(ItemUpdate(snapshotOf: "1"))),
            ] {
                member.node.hub.take(.subscription(SubscriptionID(id), change))
            }
            let path = "/v1/values?upstream=demo&mode=MERGE&items=i&fields=f"
            #expect(await member.perform("GET", path).json["items"]?.array?.first?["stale"] == false)
            fixture.engine.cut([member.node.process])
            await Self.waitForLoss(of: member)
            let old = await member.perform("GET", path)
            #expect(old.status == 200 && old.json["items"]?.array?.first?["stale"] == true)
            stream.onEnd(.neverOpened)
        }
    }

    @Test func aMemberWithoutTheEngineDoesNotBlameTheServerForMissingValues() async throws {
        try await ClusterFixture.run { fixture in
            let member = fixture.members[1]
            fixture.engine.cut([member.node.process])
            await Self.waitForLoss(of: member)
            let path = "/v1/values?upstream=demo&mode=MERGE&items=other&fields=f"
            let outcome = await member.perform("GET", path, "", [HTTPField("Prefer", "wait=0")])
            #expect(outcome.status == 503 && outcome.text.contains("not connected to its cluster"))
        }
    }

    @Test func whatStreamsHaveAskedForWithoutTheEngineIsForgotten() async throws {
        try await ClusterFixture.run(1) { fixture in
            let member = fixture.members[0]
            fixture.engine.cut([member.node.process])
            await Self.waitForLoss(of: member)
            let opened = member.start("GET", Self.stream)
            #expect(await opened.outcome.isStream)
            let stream = try #require(opened.stream)
            let id = try #require(member.services.streamResources.entry(stream.id)?.joined.keys.first)
            #expect(member.node.hub.knows(.subscription(SubscriptionID(id))))
            stream.onEnd(.neverOpened)
            fixture.time.pass(60)
            fixture.engine.restore()
            await member.returns(to: fixture.engine)
            #expect(!member.node.hub.knows(.subscription(SubscriptionID(id))))
        }
    }

    @Test func aMemberDoesNotServeResourcesAlone() async throws {
        try await ClusterFixture.run(onEngineLoss: .local) { fixture in
            let (member, other) = (fixture.members[0], fixture.members[1])
            let (own, foreign) = (await member.makeSubscription(), await other.makeSubscription())
            let prepared = await member.perform("POST", "/v1/streams", #"{"sources":[{"subscription":"\#(own)"}]}"#)
            let id = try #require(prepared.json["id"]?.string, "\(prepared.text)")
            let ticket = try #require(await member.perform("POST", "/v1/tickets").json["ticket"]?.string)
            let reading = member.start("GET", "/v1/stream?subscription=\(own)")
            #expect(await reading.outcome.isStream)
            fixture.engine.cut(fixture.members.map(\.node.process))
            await member.isAlone()
            let text = member.text(of: try #require(reading.stream))
            #expect(text.contains(#"{"reason":"behind"}"#))
            reading.stream?.onEnd(.finished)
            for (method, path) in [
                ("GET", "/v1/subscriptions/\(own)"), ("GET", "/v1/subscriptions/\(foreign)"), ("GET", "/v1/clients"),
                ("DELETE", "/v1/subscriptions/\(own)"), ("GET", "/v1/streams/\(id)"), ("POST", "/v1/tickets"),
            ] {
                #expect(await member.perform(method, path).status == 503, "\(method) \(path)")
            }
            #expect(await member.makeSubscription() == "")
            #expect(await member.perform("POST", "/v1/streams", #"{"sources":[{"client":"c"}]}"#).status == 503)
            // An `EventSource` never connects again after another status than 200.
            for path in [
                "/v1/stream?subscription=\(foreign)", "/v1/streams/\(id)/events", Self.stream + "&ticket=\(ticket)",
            ] {
                let key = path.contains("ticket") ? nil : AccessFixture.admin
                let outcome = await member.perform("GET", path, as: key, "", Self.browser)
                #expect(outcome.status == 200 && outcome.text.contains(#"{"reason":"behind"}"#), "\(path)")
            }
        }
    }

    @Test func resourcesAreServedAgainWhenTheEngineReturns() async throws {
        try await ClusterFixture.run(onEngineLoss: .local) { fixture in
            let (member, other) = (fixture.members[0], fixture.members[1])
            let ids = [await member.makeSubscription(), await other.makeSubscription()]
            await fixture.settle()
            fixture.engine.cut(fixture.members.map(\.node.process))
            await member.isAlone()
            await other.isAlone()
            fixture.engine.restore()
            for member in fixture.members { await member.returns(to: fixture.engine) }
            await fixture.settle()
            for id in ids {
                for member in fixture.members {
                    #expect(await member.perform("GET", "/v1/subscriptions/\(id)").status == 200)
                }
            }
            #expect(await member.perform("GET", "/health").text.contains(#""connected":true,"degraded":false"#))
        }
    }

    @Test func aMemberThatWasAloneGivesUpWhatOthersHaveInherited() async throws {
        try await ClusterFixture.run(onEngineLoss: .local) { fixture in
            let (other, member) = (fixture.members[0], fixture.members[1])
            let id = await member.makeSubscription()
            await fixture.settle()
            let number = try #require(member.number)
            fixture.engine.cut([member.node.process])
            await member.isAlone()
            other.node.write(.remove(number))
            #expect(await other.confirm())
            await other.catchUp()
            #expect(other.services.has(id))
            fixture.engine.restore()
            await member.returns(to: fixture.engine)
            await fixture.settle()
            #expect(!member.services.has(id))
            #expect(await member.perform("GET", "/v1/subscriptions/\(id)").status == 200)
        }
    }

    @Test func theHealthSaysWhatTheEngineRefuses() async throws {
        try await ClusterFixture.run(1) { fixture in
            let member = fixture.members[0]
            func errors() async -> [String?]? {
                await member.perform("GET", "/health").json["cluster"]?["engineErrors"]?.array?.map(\.string)
            }
            #expect(await errors() == [])
            let reason = #"Permissions Violation for Publish to "g.beat""#
            for _ in 0..<2 { fixture.engine.refuse(reason, to: member.node.process) }
            await member.catchUp()
            #expect(await errors() == [reason])
            fixture.engine.cut([member.node.process])
            while await errors() == [reason] { await Task.yield() }
            #expect(await errors() == [reason, "The engine is not connected: cut"])
            // The next connection has the permission.
            fixture.engine.restore()
            await member.returns(to: fixture.engine)
            #expect(await errors() == [])
        }
    }

    @Test func theHealthSaysWhyTheEngineStoresNothing() async throws {
        try await ClusterFixture.run(1) { fixture in
            let member = fixture.members[0]
            func errors() async -> [String?]? {
                await member.perform("GET", "/health").json["cluster"]?["engineErrors"]?.array?.map(\.string)
            }
            let reason = "g.in.frames: maximum messages exceeded"
            fixture.engine.reject(reason)
            member.node.take(.client("c", .added(.disconnected)))
            await member.catchUp()
            // The frame is sent again.
            fixture.time.pass(2)
            while await errors() == [] { await Task.yield() }
            #expect(await errors() == [reason])
            fixture.engine.reject(nil)
            for _ in 0..<2 {
                fixture.time.pass(1)
                await fixture.exchangeHeartbeats()
            }
            #expect(await member.confirm())
            #expect(await errors() == [])
        }
    }

    @Test func theSameReasonIsLoggedOnceAMinute() {
        var failures = EngineFailures()
        let logged = [0, 1, 59, 60, 61].map { failures.notStored("full", at: Moment.zero + .seconds($0)) }
        #expect(logged == [true, false, false, true, false])
        let isLogged = failures.notStored("sealed", at: Moment.zero + .seconds(62))
        #expect(isLogged && failures.reasons(since: 0, at: Moment.zero + .seconds(64)) == ["sealed"])
        #expect(failures.reasons(since: 0, at: Moment.zero + .seconds(65)) == [])
    }

    /// Another client of NATS can report any number of reasons.
    @Test func anotherReasonIsLoggedOnceASecond() {
        var failures = EngineFailures()
        let times = (0..<100).map { Moment.zero + .milliseconds($0 * 40) }
        let logged = times.enumerated().filter { failures.notStored("reason \($0.offset)", at: $0.element) }
        let isLogged = failures.notStored("full", at: Moment.zero + .seconds(5))
        #expect(logged.map(\.offset) == [0, 25, 50, 75] && isLogged)
    }

    /// `check --connect` told that the engine does not respond in time.
    @Test func aCheckWithoutAReplyNamesTheSubjectsThatTheEngineRefuses() {
        let reasons = ["Permissions Violation for Subscription to \"_INBOX.>\""]
        #expect(Clustering.timeout(beside: reasons) == .refused(reasons[0]))
        #expect(Clustering.timeout(beside: []) == .timeout)
    }

    @Test func aMemberThatWasPausedConnectsToItsOwnLogAgain() async throws {
        try await ClusterFixture.run(1, onEngineLoss: .local) { fixture in
            let member = fixture.members[0]
            fixture.engine.cut([member.node.process])
            await member.isAlone()
            let heartbeats = member.alone.figures.heartbeats
            // Nothing has arrived for too long.
            member.node.disconnected()
            await member.alone.wait { $0.heartbeats > heartbeats }
            await member.catchUp()
            #expect(await member.perform("GET", "/health/ready").status == 200)
        }
    }

    @Test func aListThatTheBeginningOfAnEpochInterruptsIsRefused() async throws {
        try await ClusterFixture.run(onEngineLoss: .local) { fixture in
            let (member, other) = (fixture.members[0], fixture.members[1])
            _ = await other.makeSubscription()
            await fixture.settle()
            let calls = fixture.engine.figures.calls
            fixture.engine.holdCalls()
            let list = member.start("GET", "/v1/subscriptions")
            await fixture.engine.wait { $0.calls > calls }
            fixture.engine.cut([member.node.process, other.node.process])
            #expect(await list.outcome.status == 503)
        }
    }

    @Test func aMemberThatHoldsStaysSilent() async throws {
        try await ClusterFixture.run(1, onEngineLoss: .hold) { fixture in
            let member = fixture.members[0]
            let (number, epoch) = (member.number, member.node.hub.lastID.epoch)
            fixture.engine.cut([member.node.process])
            fixture.engine.restore()
            await member.returns(to: fixture.engine)
            #expect(member.number == number && member.node.hub.lastID.epoch == epoch)
            #expect(member.alone.figures.frames == 0)
        }
    }
}

import Changes
import MicroHTTPD
import Replication
import SessionCore
import Testing

@testable import Gateway
@testable import GatewayCluster
@testable import SessionPool

@Suite(.timeLimit(.minutes(2))) struct ClusterCreditsTests {
    private static func limits(sessions: Int = 8, subscriptions: Int = 1_000, items: Int = 1_000) -> UpstreamCredits {
        UpstreamCredits(sessions: sessions, subscriptions: subscriptions, items: items)
    }

    private static func body(_ items: [String]) -> String {
        let items = items.map { "\"\($0)\"" }.joined(separator: ",")
        return #"{"upstream":"demo","mode":"MERGE","items":[\#(items)],"fields":["f"]}"#
    }

    /// Creates subscriptions through all members at once; returns the paths of the created ones and the detail of the
    /// problem of the others.
    private static func fill(
        _ fixture: ClusterFixture,
        _ numbers: Range<Int>,
        items: Int = 1
    ) async -> (paths: [String], details: Set<String>) {
        let requests = numbers.map { number in
            fixture.members[number % fixture.members.count].start(
                "POST",
                "/v1/subscriptions",
                body((0..<items).map { "item\(number).\($0)" })
            )
        }
        var (paths, details): ([String], Set<String>) = ([], [])
        for request in requests {
            let outcome = await request.outcome
            if outcome.status == 201 {
                paths.append("/v1/subscriptions/\(outcome.json["id"]?.string ?? "")")
            } else {
                #expect(outcome.status == 429 && outcome.code == "over-quota")
                details.insert(outcome.json["detail"]?.string ?? outcome.text)
            }
        }
        return (paths, details)
    }

    /// What all members together have open.
    private static func open(_ fixture: ClusterFixture) -> UpstreamCredits {
        fixture.members.reduce(.none) { $0 + $1.services.pool.figures(of: "demo") }
    }

    /// Ends the lingers of closed subscriptions and sessions.
    private static func endLingers(_ fixture: ClusterFixture) {
        // The second call closes the sessions.
        for member in fixture.members { for _ in 0..<2 { member.services.pool.timePassed() } }
    }

    @Test func theSubscriptionsOfAllMembersAreLimitedTogether() async throws {
        try await ClusterFixture.run(3, limits: Self.limits(subscriptions: 10)) { fixture in
            let (paths, details) = await Self.fill(fixture, 0..<60)
            #expect(paths.count == 10)
            let setting = "upstreams.demo.maxSubscriptions"
            #expect(details == ["The upstream demo carries its maximum of 10 subscriptions (\(setting))."])
            #expect(Self.open(fixture).subscriptions == 10)
        }
    }

    /// A caller can repeat the request as often as its rate admits.
    @Test func theLogHasTheReasonOfRefusedSharedSubscriptionsOnce() async throws {
        let log = LogRecorder()
        try await ClusterFixture.run(1, limits: Self.limits(subscriptions: 1), logger: log.logger) { fixture in
            let member = fixture.members[0]
            #expect(await member.perform("POST", "/v1/subscriptions", Self.body(["a"])).status == 201)
            for item in ["b", "c", "d"] {
                let opened = member.start("GET", "/v1/stream?upstream=demo&mode=MERGE&items=\(item)&fields=f")
                #expect(await opened.outcome.isStream)
                await fixture.settle()
                opened.stream?.onEnd(.neverOpened)
            }
        }
        let lines = log.lines.filter { $0.contains("cannot open a shared subscription") }
        #expect(lines.map { $0.contains("upstreams.demo.maxSubscriptions") } == [true])
    }

    @Test func theItemsOfAllMembersAreLimitedTogether() async throws {
        try await ClusterFixture.run(3, limits: Self.limits(items: 20)) { fixture in
            let (paths, _) = await Self.fill(fixture, 0..<30, items: 3)
            #expect(paths.count == 6)
            #expect(Self.open(fixture).items == 18)
        }
    }

    @Test func anotherMemberUsesCreditsThatAreFree() async throws {
        try await ClusterFixture.run(3, limits: Self.limits(subscriptions: 4)) { fixture in
            let member = fixture.members[0]
            var paths: [String] = []
            for number in 0..<4 {
                let made = await member.perform("POST", "/v1/subscriptions", Self.body(["a\(number)"]))
                paths.append("/v1/subscriptions/\(made.json["id"]?.string ?? "")")
            }
            let other = fixture.members[1]
            #expect(await other.perform("POST", "/v1/subscriptions", Self.body(["b"])).status == 429)
            for path in paths.prefix(3) { #expect(await other.perform("DELETE", path).status == 204) }
            Self.endLingers(fixture)
            #expect(await Self.fill(fixture, 0..<9).paths.count == 3)
            #expect(Self.open(fixture).subscriptions == 4)
        }
    }

    @Test func theCreditsOfARemovedMemberPassToThoseThatInheritFromIt() async throws {
        try await ClusterFixture.run(3, limits: Self.limits(subscriptions: 6)) { fixture in
            let (first, second) = (fixture.members[0], fixture.members[1])
            var ids: [String] = []
            for number in 0..<6 {
                let made = await first.perform("POST", "/v1/subscriptions", Self.body(["a\(number)"]))
                ids.append(made.json["id"]?.string ?? "")
            }
            try await ConfirmationTests.replace(first, by: second, fixture.engine)
            await fixture.settle()
            // The removed member has returned, and closes what others have inherited.
            Self.endLingers(fixture)
            await fixture.settle()
            for id in ids {
                let active = fixture.members.filter { member in
                    member.services.pool.resource(SubscriptionID(id))?.status.isActive ?? false
                }
                #expect(active.count == 1)
            }
            #expect(Self.open(fixture).subscriptions == 6)
            #expect(await Self.fill(fixture, 0..<3).paths.isEmpty)
            for id in ids.prefix(2) { #expect(await first.perform("DELETE", "/v1/subscriptions/\(id)").status == 204) }
            Self.endLingers(fixture)
            #expect(await Self.fill(fixture, 0..<9).paths.count == 2)
        }
    }

    @Test func membersWithoutASessionLeaveSubscriptionsToOneThatHasOne() async throws {
        try await ClusterFixture.run(3, limits: Self.limits(sessions: 1)) { fixture in
            let (paths, details) = await Self.fill(fixture, 0..<12)
            #expect(paths.count == 12 && details.isEmpty)
            var streams: [PendingOutcome] = []
            for number in 0..<12 {
                let query = "upstream=demo&mode=MERGE&items=shared\(number)&fields=f"
                let stream = fixture.members[number % 3].start("GET", "/v1/stream?\(query)")
                #expect(await stream.outcome.isStream)
                streams.append(stream)
            }
            await fixture.settle()
            let open = Self.open(fixture)
            #expect(open.sessions == 1)
            #expect(open.subscriptions == 24)
        }
    }

    /// Other members have got what the subscription had before the reload.
    @Test func aSubscriptionThatAReloadHasLeftWithoutRoomClaimsCreditsAgain() async throws {
        try await ClusterFixture.run(limits: Self.limits()) { fixture in
            let member = fixture.members[0]
            let (pool, node) = (member.services.pool, member.node)
            let made = await member.perform("POST", "/v1/subscriptions", Self.body(["a"]))
            let id = SubscriptionID(try #require(made.json["id"]?.string))
            func isActive() -> Bool { pool.resource(id)?.status.isActive ?? false }
            func reload(maxItems: Int) {
                var configuration = pool.settings.configuration
                for index in configuration.upstreams.indices {
                    configuration.upstreams[index].serverAddress = "http://127.0.0.1:2"
                    configuration.upstreams[index].maxItems = maxItems
                }
                pool.reload(configuration)
            }
            reload(maxItems: 0)
            node.releaseUnusedCredits(of: "demo")
            reload(maxItems: 1_000)
            pool.timePassed()
            #expect(!isActive() && pool.shortages.map(\.missing.subscriptions) == [1])
            node.claimForUnserved(in: pool)
            // The claim, and the decision.
            for _ in 0..<4 { await fixture.settle() }
            pool.timePassed()
            #expect(isActive() && pool.shortages.isEmpty)
        }
    }

    @Test func reportsAreThoseOfASharedSubscriptionAfterItHasWaitedForCredits() async throws {
        try await ClusterFixture.run(2, limits: Self.limits()) { fixture in
            // The first claim of an epoch: the owner has no credits yet.
            let member = fixture.members[0]
            let stream = member.start("GET", "/v1/stream?upstream=demo&mode=MERGE&items=a&fields=f")
            #expect(await stream.outcome.isStream)
            // The interest, the claim, the decision, and the reports.
            for _ in 0..<4 { await fixture.settle() }
            for member in fixture.members {
                let entries = member.node.state.withLock { $0.machine.ledger?.subscriptions.values.map(\.carrier) }
                #expect(entries?.count == 1 && entries?.first != .some(nil))
            }
        }
    }

    /// The owner opens it after the stream has begun.
    @Test func streamsAreToldTheLimitThatRefusesTheirSubscription() async throws {
        try await ClusterFixture.run(limits: Self.limits(items: 1)) { fixture in
            let member = fixture.members[0]
            let made = await member.perform("POST", "/v1/streams", Self.body(["a"]))
            let path = "/v1/streams/\(made.json["id"]?.string ?? "")"
            for _ in 0..<4 { await fixture.settle() }
            let added = await member.perform("PATCH", path, #"{"add":[\#(Self.body(["b"]))]}"#)
            #expect(made.status == 201 && added.status == 200)
            // The interest, the claim, the release of credits by the other member, the decision, and the report.
            for _ in 0..<6 { await fixture.settle() }
            let sources = await member.perform("GET", path).json["sources"]?.array ?? []
            let causes = sources.compactMap { $0["lastError"]?["message"]?.string }
            #expect(causes == ["The upstream demo carries its maximum of 1 items (upstreams.demo.maxItems)."])
        }
    }
}

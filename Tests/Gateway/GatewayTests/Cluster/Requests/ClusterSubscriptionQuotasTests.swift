import MicroHTTPD
import Replication
import Testing

@testable import Gateway
@testable import GatewayCluster

@Suite(.timeLimit(.minutes(2))) struct ClusterSubscriptionQuotasTests {
    private static let quota = QuotaUnit.subscription("", of: "key:alice").quota

    /// Alice may use this number of subscriptions and items.
    private static func access(_ subscriptions: Int?, items: Int? = nil) -> AccessConfiguration {
        var access = AccessFixture.keys()
        access.keys[1].rights.maxSubscriptions = subscriptions
        access.keys[1].rights.maxItems = items
        return access
    }

    private static func stream(_ items: String) -> String {
        "/v1/stream?upstream=demo&mode=MERGE&items=\(items)&fields=f"
    }

    private static func body(_ items: String...) -> String {
        let items = items.map { "\"\($0)\"" }.joined(separator: ",")
        return #"{"upstream":"demo","mode":"MERGE","items":[\#(items)],"fields":["f"],"active":false}"#
    }

    private static func used(_ member: ClusterMember) -> [Int] {
        let used = member.node.state.withLock { $0.machine.ledger?.quotas.used(of: quota) }
        return [used?.count ?? -1, used?.size ?? -1]
    }

    /// Requests from loopback without credentials count here, as those from other addresses.
    @Test func anAddressWithoutCredentialsCountsOnTheMemberThatPerformsItsRequests() async throws {
        var access = AccessConfiguration()
        access.hosts = ["gateway.example"]
        (access.limits.countsLoopback, access.limits.maxSubscriptions) = (true, 1)
        try await ClusterFixture.run(access: access) { fixture in
            let (first, second) = (fixture.members[0], fixture.members[1])
            let counts = second.services.access.owners.usage
            let client = await second.perform("POST", "/v1/clients", as: nil, #"{"upstream":"demo","connect":false}"#)
            let id = client.json["id"]?.string ?? ""
            func body(_ item: String) -> String {
                #"{"client":"\#(id)","mode":"MERGE","items":["\#(item)"],"fields":["f"],"active":false}"#
            }
            let made = await first.perform("POST", "/v1/subscriptions", as: nil, body("a"))
            #expect(made.status == 201 && counts.count("address:127.0.0.1") == (1, 1))
            #expect(await first.perform("POST", "/v1/subscriptions", as: nil, body("b")).status == 429)
            let path = made.headers["Location"] ?? ""
            #expect(await first.perform("DELETE", path, as: nil).status == 204)
            #expect(counts.count("address:127.0.0.1") == (0, 0))

            let prepared = #"{"upstream":"demo","mode":"MERGE","items":["a"],"fields":["f"]}"#
            let stream = await first.perform("POST", "/v1/streams", as: nil, prepared).headers["Location"] ?? ""
            let opened = second.start("GET", stream + "/events", as: nil)
            #expect(await opened.outcome.isStream)
            #expect(counts.count("address:127.0.0.1") == (1, 1))
            #expect(await second.perform("GET", Self.stream("b"), as: nil).status == 429)
            opened.stream?.onEnd(.neverOpened)
            #expect(await first.perform("DELETE", stream, as: nil).status == 204)
            await fixture.settle()
            #expect(counts.count("address:127.0.0.1") == (0, 0))
        }
    }

    @Test func theSubscriptionsOfAllMembersCountTogether() async throws {
        try await ClusterFixture.run(3, access: Self.access(4)) { fixture in
            let requests = (0..<12).map { number in
                let (member, items) = (fixture.members[number % 3], "item\(number % 3 + 1)")
                return number < 6
                    ? member.start("POST", "/v1/subscriptions", as: AccessFixture.alice, Self.body(items))
                    : member.start("GET", Self.stream("item\(number % 3 + 1)"), as: AccessFixture.alice)
            }
            var paths: [String] = []
            for (number, request) in requests.enumerated() {
                let outcome = await request.outcome
                #expect(outcome.isStream || outcome.status == 201 || outcome.code == "over-quota")
                if number < 6, outcome.status == 201 {
                    paths.append("/v1/subscriptions/\(outcome.json["id"]?.string ?? "")")
                }
            }
            await fixture.settle()
            #expect(Self.used(fixture.members[0])[0] == 4)
            let made = fixture.members.reduce(0) { $0 + $1.services.pool.resources().count { !$0.isImplicit } }
            #expect(made == paths.count)
            for path in paths {
                #expect(await fixture.members[1].perform("DELETE", path, as: AccessFixture.alice).status == 204)
            }
            for request in requests { request.stream?.onEnd(.neverOpened) }
            await fixture.settle()
            #expect(Self.used(fixture.members[2]) == [0, 0])
            for member in fixture.members { #expect(member.node.reports.withLock { $0.claims.count } == 0) }
        }
    }

    @Test func theSessionShowsTheUseOfCallersAtAllMembers() async throws {
        try await ClusterFixture.run(access: Self.access(4)) { fixture in
            let (first, second) = (fixture.members[0], fixture.members[1])
            let requests = [first, second].enumerated().map { number, member in
                member.start("GET", Self.stream("item\(number + 1)"), as: AccessFixture.alice)
            }
            for request in requests { #expect(await request.outcome.isStream) }
            await fixture.settle()
            let own = await first.perform("GET", "/v1/session", as: AccessFixture.alice).json["callers"]?.array?.first
            #expect(own?["subscriptions"]?["used"]?.number?.intValue == 2)
            #expect(own?["items"]?["used"]?.number?.intValue == 2)
            // A member without a stream of the caller.
            await second.perform("GET", "/v1/session", as: AccessFixture.admin).json["callers"]?.array?
                .forEach { caller in
                    let used = caller["subscriptions"]?["used"]?.number?.intValue
                    #expect(used == (caller["identity"]?.string == "key:alice" ? 2 : 0))
                }
            for request in requests { request.stream?.onEnd(.neverOpened) }
        }
    }

    @Test func theItemsOfAllMembersCountTogether() async throws {
        try await ClusterFixture.run(access: Self.access(nil, items: 3)) { fixture in
            let (first, second) = (fixture.members[0], fixture.members[1])
            let path = "/v1/subscriptions/\(await first.makeSubscription(as: AccessFixture.alice))"
            let two = Self.body("item2", "item3")
            let made = await second.perform("POST", "/v1/subscriptions", as: AccessFixture.alice, two)
            #expect(made.status == 201)
            let refused = await first.perform("POST", "/v1/subscriptions", as: AccessFixture.alice, Self.body("own"))
            #expect(refused.status == 429 && refused.code == "over-quota" && refused.text.contains("3 items"))
            let more = #"{"items":["item1","item2"]}"#
            #expect(await second.perform("PATCH", path, as: AccessFixture.alice, more).status == 429)
            let other = "/v1/subscriptions/\(made.json["id"]?.string ?? "")"
            let fewer = #"{"items":["item2"]}"#
            #expect(await first.perform("PATCH", other, as: AccessFixture.alice, fewer).status == 200)
            #expect(await second.perform("PATCH", path, as: AccessFixture.alice, more).status == 200)
            await fixture.settle()
            #expect(Self.used(first) == [2, 3])
        }
    }

    /// A change of items waits for the log; the other change must not be undone by it.
    @Test func patchesAtTheSameTimeLoseNothing() async throws {
        try await ClusterFixture.run(access: Self.access(nil, items: 3)) { fixture in
            let member = fixture.members[0]
            let path = "/v1/subscriptions/\(await member.makeSubscription(as: AccessFixture.alice))"
            for round in 1...20 {
                let items = #"{"items":["item1"\#(round % 2 == 1 ? #","item2""# : "")]}"#
                let frequency = #"{"requestedMaxFrequency":\#(round)}"#
                let requests = [items, frequency].map { member.start("PATCH", path, as: AccessFixture.alice, $0) }
                for request in requests { #expect(await request.outcome.status == 200) }
                let json = await member.perform("GET", path, as: AccessFixture.alice).json
                #expect(json["items"]?.array?.count == 1 + round % 2)
                #expect(json["requestedMaxFrequency"]?.number?.intValue == round)
            }
        }
    }

    @Test func aSubscriptionThatStreamsOfSeveralMembersShareCountsOnce() async throws {
        try await ClusterFixture.run(access: Self.access(1, items: 2)) { fixture in
            let (first, second) = (fixture.members[0], fixture.members[1])
            var streams: [PendingOutcome] = []
            for member in [first, second, first] {
                let request = member.start("GET", Self.stream("item1,item2"), as: AccessFixture.alice)
                #expect(await request.outcome.isStream)
                streams.append(request)
            }
            #expect(Self.used(first) == [1, 2])
            #expect(await second.perform("GET", Self.stream("item3"), as: AccessFixture.alice).status == 429)
            for stream in streams.prefix(2) { stream.stream?.onEnd(.neverOpened) }
            await fixture.settle()
            #expect(await second.perform("GET", Self.stream("item3"), as: AccessFixture.alice).status == 429)
            streams[2].stream?.onEnd(.neverOpened)
            await fixture.settle()
            #expect(await second.perform("GET", Self.stream("item3"), as: AccessFixture.alice).isStream)
        }
    }

    @Test func aPreparedStreamKeepsItsSubscriptionsOnWhicheverMemberItIs() async throws {
        try await ClusterFixture.run(access: Self.access(1)) { fixture in
            let (first, second) = (fixture.members[0], fixture.members[1])
            let prepared = #"{"upstream":"demo","mode":"MERGE","items":["item1"],"fields":["f"]}"#
            let made = await first.perform("POST", "/v1/streams", as: AccessFixture.alice, prepared)
            let path = "/v1/streams/\(made.json["id"]?.string ?? "")"
            let add = #"{"add":[{"upstream":"demo","mode":"MERGE","items":["item2"],"fields":["f"]}]}"#
            #expect(await second.perform("PATCH", path, as: AccessFixture.alice, add).status == 429)
            let opened = second.start("GET", path + "/events", as: AccessFixture.alice)
            #expect(await opened.outcome.isStream)
            await fixture.settle()
            #expect(Self.used(first) == [1, 1])
            #expect(await first.perform("GET", Self.stream("item2"), as: AccessFixture.alice).status == 429)
            opened.stream?.onEnd(.neverOpened)
            #expect(await first.perform("DELETE", path, as: AccessFixture.alice).status == 204)
            // The subscriptions are released by a job, after the response; the suite has a time limit.
            while Self.used(first) != [0, 0] { await fixture.settle() }
            #expect(Self.used(first) == [0, 0])
        }
    }

    @Test func aRemovedMemberLeavesItsResourcesAndFreesTheRest() async throws {
        try await ClusterFixture.run(access: Self.access(2)) { fixture in
            let (first, second) = (fixture.members[0], fixture.members[1])
            let id = await first.makeSubscription(as: AccessFixture.alice)
            #expect(await first.perform("GET", Self.stream("item2"), as: AccessFixture.alice).isStream)
            #expect(await second.perform("GET", Self.stream("item3"), as: AccessFixture.alice).status == 429)
            try await ConfirmationTests.replace(first, by: second, fixture.engine)
            await fixture.settle()
            // The replaced member has returned, with its stream.
            #expect(Self.used(second) == [2, 2])
            #expect(second.services.has(id) && !first.services.has(id))
            #expect(await second.perform("GET", Self.stream("item3"), as: AccessFixture.alice).status == 429)
            let path = "/v1/subscriptions/\(id)"
            #expect(await first.perform("DELETE", path, as: AccessFixture.alice).status == 204)
            await fixture.settle()
            #expect(Self.used(second) == [1, 1])
        }
    }

    /// In a new epoch, other members have to declare what they use before the log can decide.
    @Test(arguments: [(reporting: 1, status: 201), (reporting: 30, status: 503)])
    func aRequestWaitsUntilTheEpochIsComplete(reporting: Int, status: Int) async throws {
        try await ClusterFixture.run(1, access: Self.access(1), reporting: .seconds(reporting)) { fixture in
            let member = fixture.members[0]
            let request = member.start("POST", "/v1/subscriptions", as: AccessFixture.alice, Self.body("item1"))
            fixture.time.pass(2)
            #expect(await request.outcome.status == status)
            #expect(member.node.reports.withLock { $0.claims.count } == (status == 201 ? 2 : 0))
        }
    }
}

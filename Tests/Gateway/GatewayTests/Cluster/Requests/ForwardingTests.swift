import Changes
import MicroHTTPD
import Replication
import SessionCore
import Testing

@testable import Gateway
@testable import GatewayCluster

@Suite(.timeLimit(.minutes(2))) struct ForwardingTests {
    @Test func everyMemberServesAResource() async throws {
        try await ClusterFixture.run { fixture in
            let (owner, other) = (fixture.members[0], fixture.members[1])
            let path = "/v1/subscriptions/\(await owner.makeSubscription())"
            #expect(await other.perform("GET", path).json["items"]?.array?.count == 1)
            #expect(await other.perform("DELETE", path).status == 204)
            #expect(await owner.perform("GET", path).status == 404)
            #expect(await other.perform("GET", path).status == 404)
        }
    }

    @Test func everyMemberRefusesAnEncodedBody() async throws {
        try await ClusterFixture.run { fixture in
            let (owner, other) = (fixture.members[0], fixture.members[1])
            let path = "/v1/subscriptions/\(await owner.makeSubscription())"
            for member in [owner, other] {
                let encoded = [HTTPField("Content-Encoding", "gzip")]
                #expect(await member.perform("PATCH", path, #"{"ttl":9}"#, encoded).status == 415)
                let plain = [HTTPField("Content-Encoding", "identity")]
                #expect(await member.perform("PATCH", path, #"{"ttl":9}"#, plain).status == 200)
            }
        }
    }

    /// The member has not read from the log that another one has created the source.
    @Test func aSourceThatAMemberDoesNotKnowYetIsLookedForInTheLog() async throws {
        try await ClusterFixture.run { fixture in
            let (creator, late) = (fixture.members[0], fixture.members[1])
            await fixture.settle()
            fixture.engine.holdFrames(for: late.node.process)
            let id = await creator.makeSubscription()
            let opened = late.start("GET", "/v1/subscriptions/\(id)/events")
            let prepared = late.start("POST", "/v1/streams", #"{"sources":[{"subscription":"\#(id)"}]}"#)
            fixture.engine.releaseFrames(for: late.node.process)
            #expect(await opened.outcome.isStream)
            #expect(await prepared.outcome.status == 201)
            opened.stream?.onEnd(.neverOpened)
        }
    }

    @Test func aLongPollOfAResourceThatMovesIsNotToldThatItIsUnknown() async throws {
        try await ClusterFixture.run { fixture in
            let (owner, heir) = (fixture.members[0], fixture.members[1])
            let id = await owner.makeSubscription()
            await fixture.settle()
            let path = "/v1/subscriptions/\(id)/values"
            let tag = try #require(await owner.perform("GET", path).headers["ETag"])
            let headers = [HTTPField("If-None-Match", tag), HTTPField("Prefer", "wait=60")]
            let poll = owner.start("GET", path, "", headers)
            let number = try #require(owner.number)
            heir.node.write(.remove(number))
            #expect(await heir.confirm())
            await owner.join(fixture.engine, after: number)
            #expect(await poll.outcome.status == 503)
            #expect(await owner.perform("GET", path).status == 200)
        }
    }

    @Test func theOwnerStopsWaitingWhenTheClientLeavesAnotherMember() async throws {
        try await ClusterFixture.run { fixture in
            let (owner, other) = (fixture.members[0], fixture.members[1])
            let path = "/v1/subscriptions/\(await owner.makeSubscription(as: AccessFixture.alice))/values"
            let present = await owner.perform("GET", path, as: AccessFixture.alice)
            let headers = [
                HTTPField("If-None-Match", present.headers["ETag"] ?? ""), HTTPField("Prefer", "wait=60"),
            ]
            let calls = fixture.engine.figures.calls
            let poll = other.start("GET", path, as: AccessFixture.alice, "", headers)
            await fixture.engine.wait { $0.calls > calls }
            await owner.catchUp()
            #expect(owner.services.waiting.count("key:alice") == 1)
            poll.abandon()
            await owner.catchUp()
            #expect(owner.services.waiting.count("key:alice") == 0)
            #expect(owner.node.shared.withLock { $0.calls.isEmpty })
        }
    }

    @Test func aChangeThatAnotherMemberPerformsIsAnsweredWhenItsMemberStops() async throws {
        try await ClusterFixture.run { fixture in
            let (owner, other) = (fixture.members[0], fixture.members[1])
            let path = "/v1/subscriptions/\(await owner.makeSubscription())/subscribe"
            let calls = fixture.engine.figures.calls
            let request = other.start("POST", path, "", [HTTPField("Prefer", "wait=60")])
            await fixture.engine.wait { $0.calls > calls }
            await owner.catchUp()
            other.services.timers.stop()
            #expect(await request.outcome.status == 202)
            #expect(owner.services.waiting.count == 0)
        }
    }

    /// A request about a subscription of one member that another member has got, and whose call is held.
    private static func heldRequest(
        _ method: String,
        of other: ClusterMember,
        to owner: ClusterMember,
        _ fixture: ClusterFixture
    ) async -> PendingOutcome {
        let path = "/v1/subscriptions/\(await owner.makeSubscription())"
        await fixture.settle()
        let calls = fixture.engine.figures.calls
        fixture.engine.holdCalls()
        let request = other.start(method, path, method == "PATCH" ? #"{"requestedMaxFrequency":1}"# : "")
        await fixture.engine.wait { $0.calls > calls }
        return request
    }

    /// The owner is paused, or was killed after it had received the call.
    @Test(arguments: [("GET", 200), ("HEAD", 200), ("PATCH", 503)])
    func aCallEndsWithTheRemovalOfItsMember(method: String, status: Int) async throws {
        try await ClusterFixture.run(suspect: .seconds(1_000_000)) { fixture in
            let (owner, other) = (fixture.members[0], fixture.members[1])
            let request = await Self.heldRequest(method, of: other, to: owner, fixture)
            // Longer than a request waits for a new owner.
            fixture.time.pass(3)
            other.node.write(.remove(try #require(owner.number)))
            #expect(await request.outcome.status == status)
            #expect(other.node.clusterFigures.counters.calls == [.unreachable: 1])
            #expect(!other.node.reports.withLock { $0.haveCalls })
            fixture.engine.releaseCalls()
        }
    }

    /// As when the engine is restarted while a long poll waits.
    @Test(arguments: [("GET", 200), ("HEAD", 200), ("PATCH", 503)])
    func aReadIsMadeAgainOverTheNextConnection(method: String, status: Int) async throws {
        try await ClusterFixture.run(suspect: .seconds(1_000_000)) { fixture in
            let (owner, other) = (fixture.members[0], fixture.members[1])
            let request = await Self.heldRequest(method, of: other, to: owner, fixture)
            // Longer than a request waits for a connection.
            fixture.time.pass(3)
            fixture.engine.cut([other.node.process])
            fixture.engine.releaseCalls()
            fixture.engine.restore()
            #expect(await request.outcome.status == status)
        }
    }

    private static var tokens: AccessConfiguration {
        var access = TokenForge.configuration()
        access.webTokens.leeway = .zero
        return access
    }

    private static func token(validFor seconds: Double, in fixture: ClusterFixture) throws -> String {
        let rights = #""operations":"read subscribe","upstreams":"*","items":"*""#
        return try TokenForge.token(rights, expiry: fixture.time.wall + seconds)
    }

    @Test func aForwardedLongPollEndsWithTheTokenOfItsCaller() async throws {
        try await ClusterFixture.run(access: Self.tokens, suspect: .seconds(1_000_000)) { fixture in
            let (owner, other) = (fixture.members[0], fixture.members[1])
            let token = try Self.token(validFor: 2.5, in: fixture)
            let path = "/v1/subscriptions/\(await owner.makeSubscription(as: token))/values"
            let tag = try #require(await owner.perform("GET", path, as: token).headers["ETag"])
            let headers = [HTTPField("If-None-Match", tag), HTTPField("Prefer", "wait=60")]
            let calls = fixture.engine.figures.calls
            let poll = other.start("GET", path, as: token, "", headers)
            await fixture.engine.wait { $0.calls > calls }
            await owner.catchUp()
            #expect(owner.services.waiting.count("jwt:carol") == 1)
            fixture.time.pass(3)
            other.services.timers.runDue()
            let outcome = await poll.outcome
            #expect(outcome.status == 401)
            #expect(outcome.json["detail"]?.string == "The token has expired.")
            await owner.catchUp()
            #expect(owner.services.waiting.count("jwt:carol") == 0)
        }
    }

    @Test(arguments: [(60, 20), (10, 10)])
    func aForwardedChangeWaitsNoLongerThanTheTokenOfItsCallerIsValid(wait: Int, rest: Int) async throws {
        try await ClusterFixture.run(access: Self.tokens) { fixture in
            let (owner, other) = (fixture.members[0], fixture.members[1])
            let token = try Self.token(validFor: 20.5, in: fixture)
            let path = "/v1/subscriptions/\(await owner.makeSubscription(as: token))"
            await fixture.settle()
            let (body, headers) = (#"{"requestedMaxFrequency":1}"#, [HTTPField("Prefer", "wait=\(wait)")])
            #expect(await other.perform("PATCH", path, as: token, body, headers).status == 200)
            let seals = EngineSeals(secret: ClusterFixture.secret, process: owner.node.process)
            let requests = fixture.engine.traffic.flatMap { bytes -> [ForwardedRequest] in
                guard case .call(let call, _)? = seals.open(.call(bytes, reply: { _ in })),
                    case .perform(let requests, _, _, _) = try? MemberCall(call)
                else { return [] }
                return requests
            }
            let request = try #require(requests.first { $0.http.method == "PATCH" })
            #expect(request.http.headers.values(of: "Prefer") == ["wait=\(rest)"])
        }
    }

    @Test(
        arguments: [
            (nil, nil), ("wait=60", "wait=40"), ("respond-async, wait=\"60\"", "wait=40"), ("wait=5", "wait=0"),
        ] as [(String?, String?)]
    )
    func theNextOwnerWaitsForTheRestOfTheTime(header: String?, rest: String?) {
        let headers = HTTPFields([HTTPField("Accept", "*/*")] + (header.map { [HTTPField("prefer", $0)] } ?? []))
        let request = HTTPRequest(method: "GET", rawPath: "/", headers: headers)
        let call = Call(record: CallRecord(request, requestID: "r", since: .zero)).after(.seconds(20.5))
        #expect(call.header("Prefer") == rest && call.header("Accept") == "*/*")
    }

    @Test func aCallThatArrivesAfterTheRemovalOfItsMemberIsVoid() async throws {
        try await ClusterFixture.run(3) { fixture in
            let (owner, removed, other) = (fixture.members[0], fixture.members[1], fixture.members[2])
            let path = "/v1/subscriptions/\(await owner.makeSubscription())"
            await fixture.settle()
            let number = try #require(removed.number)
            let calls = fixture.engine.figures.calls
            fixture.engine.holdCalls()
            let late = removed.start("PATCH", path, #"{"requestedMaxFrequency":1}"#)
            await fixture.engine.wait { $0.calls > calls }
            other.node.write(.remove(number))
            await removed.join(fixture.engine, after: number)
            await fixture.settle()
            fixture.engine.releaseCalls()
            // The present member of the process repeats the call.
            #expect(await late.outcome.status == 200)
            #expect(fixture.engine.figures.calls == calls + 2)
        }
    }

    @Test(arguments: [nil, "/v1/subscriptions"] as [String?])
    func anOwnerThatWasOutOfReachForAMomentIsAskedAgain(list: String?) async throws {
        try await ClusterFixture.run(suspect: .seconds(60)) { fixture in
            let (owner, other) = (fixture.members[0], fixture.members[1])
            let id = await owner.makeSubscription()
            await fixture.settle()
            fixture.engine.cut([owner.node.process])
            let calls = fixture.engine.figures.calls
            let request = other.start("GET", list ?? "/v1/subscriptions/\(id)")
            await fixture.engine.wait { $0.calls > calls }
            while !other.node.reports.withLock({ $0.haveDeadlines }) { await Task.yield() }
            fixture.engine.restore()
            await owner.returns(to: fixture.engine)
            fixture.time.pass(0.1)
            let outcome = await request.outcome
            #expect(outcome.status == 200 && outcome.text.contains(id))
        }
    }

    @Test func membersAreAskedForTheirPartsOfAListAtTheSameTime() async throws {
        try await ClusterFixture.run(4) { fixture in
            var ids: Set<String> = []
            for member in fixture.members { ids.insert(await member.makeSubscription()) }
            let calls = fixture.engine.figures.calls
            fixture.engine.holdCalls()
            let list = fixture.members[0].start("GET", "/v1/subscriptions")
            await fixture.engine.wait { $0.calls == calls + 3 }
            fixture.engine.releaseCalls()
            let listed = await list.outcome.json["subscriptions"]?.array ?? []
            #expect(Set(listed.compactMap { $0["id"]?.string }) == ids)
            fixture.engine.holdCalls()
            let streams = fixture.members[0].start("GET", "/v1/streams")
            await fixture.engine.wait { $0.calls == calls + 6 }
            fixture.engine.releaseCalls()
            #expect(await streams.outcome.json["streams"]?.array?.isEmpty == true)
        }
    }

    /// As while one member opens a prepared stream of another one, which keeps it until the first one has read the opening.
    @Test func aStreamOfTwoMembersIsListedOnce() async throws {
        try await ClusterFixture.run(3) { fixture in
            for member in fixture.members.prefix(2) {
                let entry = StreamResources.Entry(prepared: StreamRequest(sources: []), madeAt: .zero)
                member.services.streamResources.add("t", entry)
            }
            for member in fixture.members.prefix(2) {
                let list = await member.perform("GET", "/v1/streams")
                #expect(list.json["streams"]?.array?.compactMap { $0["id"]?.string } == ["t"])
            }
            // The log does not know the stream, and its id names no member.
            #expect(await fixture.members[2].perform("GET", "/v1/streams").json["streams"]?.array?.isEmpty == true)
        }
    }

    /// As after an upstream was removed from the configuration of one member after the other.
    @Test func aResourceThatNoMemberCanOwnIsNotListed() async throws {
        try await ClusterFixture.run { fixture in
            let (member, other) = (fixture.members[0], fixture.members[1])
            let id = await member.makeSubscription()
            let properties = SubscriptionProperties(mode: .merge, items: .list(["a"]), fields: .list(["f"]))
            other.node.write(.change(.subscription(SubscriptionID("lost"), .added(properties)), term: 0))
            let specification = ResourceSpecification(group: "lost", upstream: "removed", content: [])
            other.node.write(.specify(id: "lost", specification))
            await fixture.settle()
            try await ConfirmationTests.replace(other, by: member, fixture.engine)
            await fixture.settle()
            #expect(member.node.place(of: "lost").isKnown && member.node.holder(of: "lost") == .none)
            let list = await member.perform("GET", "/v1/subscriptions")
            #expect(list.status == 200)
            #expect(list.json["subscriptions"]?.array?.compactMap { $0["id"]?.string } == [id])
        }
    }

    /// NATS refuses a message of more than 1 MiB.
    @Test func aListForACallerWithManyRightsIsReadByCallsOfLimitedSize() async throws {
        var access = AccessFixture.keys()
        access.keys[1].rights.items += (0..<10_000).map { WildcardPattern("of-another-kind-\($0)") }
        try await ClusterFixture.run(access: access) { fixture in
            let (owner, other) = (fixture.members[0], fixture.members[1])
            var ids: Set<String> = []
            for _ in 0..<10 { ids.insert(await owner.makeSubscription(as: AccessFixture.alice)) }
            let list = await other.perform("GET", "/v1/subscriptions", as: AccessFixture.alice)
            #expect(Set(list.json["subscriptions"]?.array?.compactMap { $0["id"]?.string } ?? []) == ids)
            #expect(fixture.engine.traffic.allSatisfy { $0.count < 1 << 20 })
        }
    }

    @Test func aRequestThatLooksForItsResourceEndsWithTheMember() async throws {
        var request: PendingOutcome?
        try await ClusterFixture.run(1, reporting: .seconds(1_000_000)) { fixture in
            let member = fixture.members[0]
            request = member.start("GET", "/v1/subscriptions/unknown")
            // Jobs begin in their order.
            let (begun, source) = AsyncStream.makeStream(of: Void.self)
            member.node.addJob { source.yield() }
            _ = await begun.first { true }
        }
        #expect(await request?.outcome.status == 503)
    }

    @Test func operationsOnResourcesArePerformedByTheirOwners() async throws {
        try await ClusterFixture.run(1) { fixture in
            let roots = ["/v1/clients", "/v1/subscriptions", "/v1/streams"]
            for operation in OperationTable.operations(fixture.members[0].services) {
                let path = operation.pattern.description
                let root = roots.first { path.hasPrefix($0) }
                switch operation.placement {
                case .list(let resource): #expect(path == "/v1/\(resource.rawValue)" && operation.method == .get)
                case .creator, .carrier: #expect(path == root && operation.method == .post)
                case .opener: #expect(path == "/v1/streams/{id}/events")
                case .owner: #expect(path.hasPrefix("\(root ?? "")/{id}") && !path.hasSuffix("/events"))
                case .receiver: #expect(root == nil || path.hasSuffix("/events"))
                }
            }
        }
    }
}

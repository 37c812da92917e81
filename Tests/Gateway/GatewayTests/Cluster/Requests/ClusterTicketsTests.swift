import MicroHTTPD
import Replication
import Synchronization
import TestSupport
import Testing

@testable import Gateway
@testable import GatewayCluster

@Suite struct ClusterTicketsTests {
    private static let alice = Caller(identity: "key:alice", rights: AccessFixture.keys().keys[1].rights)

    private static func tickets(
        secret: String = "0123456789abcdef",
        place: (epoch: UInt64, position: UInt64)? = (7, 9),
        state: @escaping @Sendable (TicketUse) -> TicketState = { _ in .unused }
    ) -> ClusterTickets {
        ClusterTickets(cipher: ClusterCipher(secret: secret, purpose: "tickets"), place: { place }, state: state)
    }

    private static let target = StreamTarget(digest: Array(0..<32), isResumed: false)
    private static let resumed = StreamTarget(digest: Array(0..<32), isResumed: true)
    /// The name of the target in the log.
    private static let key = RecordKey(high: 0x0001_0203_0405_0607, low: 0x0809_0A0B_0C0D_0E0F)

    private static func policy(_ access: AccessConfiguration = AccessFixture.keys()) -> AccessPolicy {
        AccessPolicy(access, verifier: nil)
    }

    private static func issue(_ caller: Caller = alice) throws -> String {
        try #require(try tickets().issue(to: caller, policy(), at: TicketTime(moment: .zero, wall: 100))).text
    }

    @Test func everyMemberOpensATicket() throws {
        let text = try Self.issue()
        let (caller, ticket, _) = try #require(Self.tickets().open(text, for: Self.target, Self.policy(), now: 129))
        #expect(caller == Self.alice)
        #expect(ticket.epoch == 7 && ticket.issuedAt == 9)
        let other = try #require(Self.tickets().open(try Self.issue(), for: Self.target, Self.policy(), now: 100))
        #expect(other.1.key != ticket.key)
    }

    @Test func aTicketOfATokenHasItsRights() throws {
        var caller = Caller(identity: "jwt:x", rights: Self.alice.rights, expiry: 110)
        caller.rights.streams = 2
        caller.rights.rate = 1.5
        let opened = try #require(
            Self.tickets().open(try Self.issue(caller), for: Self.target, Self.policy(), now: 105)
        )
        #expect(opened.0 == caller)
    }

    @Test func aTicketIsRefusedWhenItExpiresOrItsCredentialChanges() throws {
        let text = try Self.issue()
        #expect(Self.tickets().open(text, for: Self.target, Self.policy(), now: 130) == nil)
        #expect(Self.tickets(secret: "another secret..").open(text, for: Self.target, Self.policy(), now: 100) == nil)
        var access = AccessFixture.keys()
        access.keys[1].hash = KeyHash(of: "lsg_new")
        #expect(Self.tickets().open(text, for: Self.target, Self.policy(access), now: 100) == nil)
        access = AccessFixture.keys()
        access.keys[1].rights.items = []
        #expect(Self.tickets().open(text, for: Self.target, Self.policy(access), now: 100) == nil)
        access.keys.remove(at: 1)
        #expect(Self.tickets().open(text, for: Self.target, Self.policy(access), now: 100) == nil)
    }

    @Test func aUsedTicketOpensItsOwnStreamAgainUntilAMinuteAfterItClosed() throws {
        let text = try Self.issue()
        func isAccepted(_ state: TicketState, _ target: StreamTarget, now: Double) -> Bool {
            Self.tickets(state: { _ in state }).open(text, for: target, Self.policy(), now: now)?.isReopening == true
        }
        // Long after it expired.
        #expect(isAccepted(.used(target: Self.key, closedAt: nil), Self.resumed, now: 5000))
        #expect(isAccepted(.used(target: Self.key, closedAt: 5000), Self.resumed, now: 5059))
        #expect(!isAccepted(.used(target: Self.key, closedAt: 5000), Self.resumed, now: 5060))
        #expect(!isAccepted(.used(target: Self.key, closedAt: nil), Self.target, now: 101))
        #expect(!isAccepted(.used(target: RecordKey(high: 1, low: 2), closedAt: nil), Self.resumed, now: 101))
        #expect(!isAccepted(.void, Self.resumed, now: 101))
    }

    @Test func aTicketEndsWithTheKeyOfItsToken() async throws {
        let (first, second) = (SigningKey(), SigningKey())
        let fixture = try await AccessFixture(KeySetLoaderTests.access(), tickets: Self.tickets())
        let (access, url) = (fixture.services.access, KeySetLoaderTests.url)
        _ = try access.use(keySet: KeySetLoaderTests.keySet(first, second), from: url)
        let claims = #"{"sub":"carol","exp":\#(fixture.time.wall + 100)}"#
        let tickets = try [first, second].map { key in
            fixture.makeTicket(as: try TokenForge.token(header: #"{"alg":"ES256"}"#, claims: claims, .es256(key)))
        }
        _ = try access.use(keySet: KeySetLoaderTests.keySet(second), from: url)
        let target = "/v1/stream?upstream=demo&mode=MERGE&items=item1&fields=f&ticket="
        #expect(tickets.map { fixture.perform("HEAD", target + $0).status } == [401, 200])
    }

    @Test func alteredTicketsAreRefused() throws {
        let text = Array(try Self.issue().utf8)
        for index in text.indices {
            var altered = text
            altered[index] = altered[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect(
                Self.tickets().open(String(decoding: altered, as: UTF8.self), for: Self.target, Self.policy(), now: 100)
                    == nil
            )
        }
    }

    @Test func noTicketIsIssuedWithoutTheCluster() {
        #expect(throws: Problem.self) {
            try Self.tickets(place: nil).issue(to: Self.alice, Self.policy(), at: TicketTime(moment: .zero, wall: 100))
        }
    }

    @Test func aTicketWhoseStreamIsRefusedIsNotUsed() async throws {
        try await ClusterFixture.run(1) { fixture in
            let member = fixture.members[0]
            let text = try #require(await member.perform("POST", "/v1/tickets").json["ticket"]?.string)
            for path in ["/v1/subscriptions/none/events", "/v1/streams/none/events", "/v1/streams/none/events"] {
                #expect(await member.perform("GET", "\(path)?ticket=\(text)", as: nil).status == 404)
            }
            let id = await member.makeSubscription()
            let opened = member.start("GET", "/v1/subscriptions/\(id)/events?ticket=\(text)", as: nil)
            #expect(await opened.outcome.isStream)
            opened.stream?.onEnd(.neverOpened)
        }
    }

    @Test func aTicketForAPreparedStreamInUseIsNotUsed() async throws {
        try await ClusterFixture.run { fixture in
            let (first, second) = (fixture.members[0], fixture.members[1])
            let id = await first.makeSubscription()
            let made = await first.perform("POST", "/v1/streams", #"{"sources":[{"subscription":"\#(id)"}]}"#)
            let path = "/v1/streams/\(try #require(made.json["id"]?.string))/events"
            let present = first.start("GET", path)
            #expect(await present.outcome.isStream)
            let text = try #require(await second.perform("POST", "/v1/tickets").json["ticket"]?.string)
            await fixture.settle()
            for member in [first, second, second] {
                #expect(await member.perform("GET", "\(path)?ticket=\(text)", as: nil).status == 409)
            }
            present.stream?.onEnd(.neverOpened)
            await fixture.settle()
            let opened = second.start("GET", "\(path)?ticket=\(text)", as: nil)
            #expect(await opened.outcome.isStream)
            opened.stream?.onEnd(.neverOpened)
        }
    }

    /// The stream is refused after the log has accepted the use.
    @Test func aUseThatOpensNoStreamEndsWithItsResponse() async throws {
        var access = AccessFixture.keys()
        access.keys[1].rights.maxSubscriptions = 0
        try await ClusterFixture.run(1, access: access) { fixture in
            let member = fixture.members[0]
            let made = await member.perform("POST", "/v1/tickets", as: AccessFixture.alice)
            let text = try #require(made.json["ticket"]?.string)
            let tickets = try #require(member.node.tickets as? ClusterTickets)
            let (_, use, _) = try #require(
                tickets.open(text, for: Self.target, Self.policy(access), now: fixture.time.wall)
            )
            let target = "/v1/stream?upstream=demo&mode=MERGE&items=item1&fields=f&ticket=\(text)"
            #expect(await member.perform("GET", target, as: nil).status == 429)
            await fixture.settle()
            let state = member.node.state.withLock { $0.machine.state(of: use) }
            guard case .used(target: _, closedAt: _?) = state else {
                Issue.record("\(state)")
                return
            }
        }
    }

    /// The log accepts both before the stream of the first one is open.
    @Test func oneOfTwoUsesAtTheSameTimeKeepsItsStream() async throws {
        try await ClusterFixture.run(1) { fixture in
            let member = fixture.members[0]
            let id = await member.makeSubscription()
            let text = try #require(await member.perform("POST", "/v1/tickets").json["ticket"]?.string)
            let target = "/v1/subscriptions/\(id)/events?ticket=\(text)"
            let first = member.start("GET", target, as: nil)
            #expect(await first.outcome.isStream)
            first.stream?.onEnd(.finished)
            await fixture.settle()
            let frames = fixture.engine.figures.frames
            fixture.engine.holdFrames(for: member.node.process)
            member.node.write(.removeInterest(id: "none"))
            await fixture.engine.wait { $0.frames > frames }
            let records = member.node.reports.withLock { $0.outbox.recordsAppended }
            let last = [HTTPField("Last-Event-ID", "e-1")]
            let uses = (0..<2).map { _ in member.start("GET", target, as: nil, "", last) }
            while member.node.reports.withLock({ $0.outbox.recordsAppended }) < records + 2 { await Task.yield() }
            fixture.engine.releaseFrames(for: member.node.process)
            for use in uses { #expect(await use.outcome.isStream) }
            let texts = uses.compactMap(\.stream).map { member.text(of: $0) }
            #expect(texts.count == 2 && texts.filter { $0.contains(#"{"reason":"replaced"}"#) }.count == 1)
        }
    }

    @Test func aUseThatIsAcceptedAfterItsResponseEnds() async throws {
        try await ClusterFixture.run(1, suspect: .seconds(60)) { fixture in
            let member = fixture.members[0]
            let text = try #require(await member.perform("POST", "/v1/tickets").json["ticket"]?.string)
            let tickets = try #require(member.node.tickets as? ClusterTickets)
            let (_, use, _) = try #require(
                tickets.open(text, for: Self.target, Self.policy(), now: fixture.time.wall)
            )
            let id = await member.makeSubscription()
            await fixture.settle()
            let frames = fixture.engine.figures.frames
            fixture.engine.holdFrames(for: member.node.process)
            let request = member.start("GET", "/v1/subscriptions/\(id)/events?ticket=\(text)", as: nil)
            await fixture.engine.wait { $0.frames > frames }
            fixture.time.pass(2.1)
            let isOpened = await request.outcome.isStream
            #expect(!isOpened)
            fixture.engine.releaseFrames(for: member.node.process)
            await member.catchUp()
            await fixture.settle()
            let state = member.node.state.withLock { $0.machine.state(of: use) }
            guard case .used(target: _, closedAt: _?) = state else {
                Issue.record("\(state)")
                return
            }
        }
    }

    /// A member with a stream that a ticket has opened, the ticket, and the path of the stream.
    private static func open(
        on member: ClusterMember,
        _ fixture: ClusterFixture
    ) async throws -> (stream: PendingOutcome, use: TicketUse, path: String) {
        let id = await fixture.members[1].makeSubscription()
        await fixture.settle()
        let text = try #require(await member.perform("POST", "/v1/tickets").json["ticket"]?.string)
        let tickets = try #require(member.node.tickets as? ClusterTickets)
        let (_, use, _) = try #require(tickets.open(text, for: Self.target, policy(), now: fixture.time.wall))
        let path = "/v1/subscriptions/\(id)/events?ticket=\(text)"
        let stream = member.start("GET", path, as: nil)
        #expect(await stream.outcome.isStream)
        await fixture.settle()
        return (stream, use, path)
    }

    /// The other members take the stream for one that has closed when its member was removed.
    @Test func aStreamThatIsOpenWhenItsMemberReturnsIsOpenForAllMembers() async throws {
        try await ClusterFixture.run { fixture in
            let (member, other) = (fixture.members[0], fixture.members[1])
            let (stream, use, _) = try await Self.open(on: member, fixture)
            try await ConfirmationTests.replace(member, by: other, fixture.engine)
            await fixture.settle()
            await fixture.settle()
            let state = other.node.state.withLock { $0.machine.state(of: use) }
            guard case .used(target: _, closedAt: nil) = state else {
                Issue.record("\(state)")
                return
            }
            stream.stream?.onEnd(.neverOpened)
        }
    }

    @Test func aStreamThatItsTicketHasOpenedElsewhereEndsWhenItsMemberReturns() async throws {
        try await ClusterFixture.run { fixture in
            let (member, other) = (fixture.members[0], fixture.members[1])
            let (former, use, path) = try await Self.open(on: member, fixture)
            let number = try #require(member.number)
            fixture.engine.holdFrames(for: member.node.process)
            other.node.write(.remove(number))
            // The removal, and the end of the stream.
            for _ in 0..<2 { #expect(await other.confirm()) }
            let next = other.start("GET", path, as: nil, "", [HTTPField("Last-Event-ID", "e-1")])
            #expect(await next.outcome.isStream)
            fixture.engine.releaseFrames(for: member.node.process)
            await member.join(fixture.engine, after: number)
            await fixture.settle()
            #expect(member.text(of: try #require(former.stream)).contains(#"{"reason":"replaced"}"#))
            let holder = member.node.state.withLock { $0.machine.ledger?.process(thatHas: use.key) }
            #expect(holder == other.node.process)
            next.stream?.onEnd(.neverOpened)
        }
    }

    @Test func aClientThatIsToldToComeBackKeepsItsTicket() async throws {
        var access = AccessFixture.keys()
        access.keys[1].rights.streams = 1
        try await ClusterFixture.run(1, access: access) { fixture in
            let member = fixture.members[0]
            let id = await member.makeSubscription(as: AccessFixture.alice)
            let made = await member.perform("POST", "/v1/tickets", as: AccessFixture.alice)
            let target = "/v1/subscriptions/\(id)/events"
            let withTicket = target + "?ticket=" + (try #require(made.json["ticket"]?.string))
            let accept = [HTTPField("Accept", "text/event-stream")]
            let other = member.start("GET", target, as: AccessFixture.alice)
            #expect(await other.outcome.isStream)
            let refused = await member.perform("GET", withTicket, as: nil, "", accept)
            #expect(refused.status == 200 && refused.text.contains(#"{"reason":"stream-limit"}"#))
            other.stream?.onEnd(.finished)
            await fixture.settle()
            let opened = member.start("GET", withTicket, as: nil, "", accept)
            #expect(await opened.outcome.isStream)
            opened.stream?.onEnd(.neverOpened)
        }
    }

    @Test func headLeavesATicketOfTheClusterValid() async throws {
        let state = UsedState()
        let fixture = try await AccessFixture(
            tickets: Self.tickets { _ in
                state.isUsed ? .used(target: RecordKey(high: 0, low: 0), closedAt: nil) : .unused
            }
        )
        let id = fixture.makeSubscription(as: AccessFixture.alice)
        let ticket = fixture.makeTicket(as: AccessFixture.alice)
        let target = "/v1/subscriptions/\(id)/events?ticket=\(ticket)"
        #expect(fixture.perform("HEAD", target).status == 200)
        #expect(fixture.perform("HEAD", target).status == 200)
        state.set()
        #expect(fixture.perform("HEAD", target).status == 401)
    }
}

private final class UsedState: Sendable {
    private let used = Mutex(false)

    var isUsed: Bool { used.withLock { $0 } }

    func set() { used.withLock { $0 = true } }
}

extension ClusterTickets {
    /// The holder of a ticket, its use, and whether it opens its stream again; nil if it opens no stream.
    fileprivate func open(
        _ text: String,
        for target: StreamTarget,
        _ policy: AccessPolicy,
        now: Double
    ) -> (Caller, TicketUse, isReopening: Bool)? {
        guard let holder = present(text, for: target, policy, at: TicketTime(moment: .zero, wall: now)),
            case .due(let redemption) = holder.use, let use = opening(of: text, redemption)?.use
        else { return nil }
        return (holder.caller, use, redemption.isReopening)
    }
}

import Changes
import SessionCore
import TestSupport
import Testing

@testable import Replication

struct ClusterLedgerTests {
    private static let epoch: UInt64 = 77
    private static let (a, b): (UInt64, UInt64) = (1, 2)

    private static func frame(
        _ member: UInt64,
        _ counter: UInt64,
        _ records: [ClusterRecord],
        epoch: UInt64 = epoch,
        previous: UInt64 = 1
    ) -> [UInt8] {
        ClusterFrame(
            member: member,
            epoch: epoch,
            previous: previous,
            digest: 0,
            counter: counter,
            payload: records.flatMap(\.encoded)[...]
        ).bytes
    }

    private static func join(_ name: String) -> ClusterRecord {
        .join(MemberInfo(name: name, version: "1", upstreams: ["demo"]))
    }

    private static func beginning(_ epoch: UInt64, previous: UInt64) -> [UInt8] {
        ClusterFrame(kind: .epoch, member: 9, epoch: epoch, previous: previous, digest: 0, counter: 0, payload: [1])
            .bytes
    }

    private static func ledger() throws -> ClusterLedger {
        let cluster = SimulatedCluster(nodes: 1, seed: 1, loss: 0)
        cluster.run(.seconds(4))
        let ledger = cluster.nodes[0].machine.ledger
        return try #require(ledger)
    }

    /// All logs of five entries: every order, with repetitions, of what two members may write.
    @Test
    func everyShortLogLeavesOneOwnerOrNone() throws {
        let entries: [[UInt8]] = [
            Self.frame(Self.a, 1, [Self.join("a")]),
            Self.frame(Self.a, 2, [.addInterest(id: "s1", SimulatedNode.key("s1"))]),
            Self.frame(Self.b, 1, [Self.join("b"), .addInterest(id: "s1", SimulatedNode.key("s1"))]),
            Self.frame(Self.b, 2, [.remove(Self.a)]),
            Self.frame(Self.a, 3, [.removeInterest(id: "s1"), .retire(id: "s1", term: 3)]),
            Self.beginning(78, previous: 3),
        ]
        let start = try Self.ledger()
        var logs = 0
        func extend(_ ledger: ClusterLedger, _ length: Int) {
            logs += 1
            guard length < 5 else { return }
            for entry in entries {
                var next = ledger
                _ = next.apply(StoredFrame(position: ledger.position + 1, bytes: entry))
                for topic in next.topics.byID.values {
                    let isOwned = topic.owner.map { next.members[$0] != nil } ?? next.members.isEmpty
                    if !isOwned { Issue.record("a subscription without a living owner") }
                    if !topic.interested.isSubset(of: next.members.keys) { Issue.record("a wanter that is gone") }
                }
                let snapshot = ClusterSnapshot(created: "g", ledger: next, tables: [:])
                let copy = try? ClusterSnapshot(snapshot.bytes(in: 2))
                if copy != snapshot { Issue.record("a snapshot is not what it was made of") }
                extend(next, length + 1)
            }
        }
        extend(start, 0)
        #expect(logs == 1 + 6 + 36 + 216 + 1296 + 7776)
    }

    @Test
    func changesAreAppliedInTheOwnersPresentTermOnly() throws {
        let cluster = SimulatedCluster(nodes: 2, seed: 5, loss: 0)
        for node in cluster.nodes { node.machine.addReader("a", SimulatedNode.key("a")) }
        cluster.run(.seconds(4))
        let applied = cluster.nodes[0].machine.ledger
        var ledger = try #require(applied)
        let topic = try #require(ledger.topics.byID["a"])
        let owner = try #require(topic.owner)
        let counter = try #require(ledger.members[owner]?.counter)
        let change = Change.subscription("a", .activity(isActive: false))
        // The properties are those of the key.
        let other = Change.subscription("a", .propertiesChanged(SimulatedNode.key("b").properties))
        let records: [ClusterRecord] = [
            .change(change, term: topic.term - 1), .change(other, term: topic.term), .change(change, term: topic.term),
        ]
        for (offset, record) in records.enumerated() {
            let bytes = Self.frame(
                owner,
                counter + UInt64(offset) + 1,
                [record],
                epoch: ledger.epoch,
                previous: ledger.epochPosition
            )
            let result = ledger.apply(StoredFrame(position: ledger.position + 1, bytes: bytes))
            #expect(result == .taken(offset < 2 ? [] : [.hub(change)]))
        }
    }

    @Test
    func framesThatDoNotFollowTheOnesBeforeThemAreNotApplied() throws {
        var ledger = try Self.ledger()
        let (epoch, beginning) = (ledger.epoch, ledger.epochPosition)
        func apply(_ frame: [UInt8]) -> ClusterLedger.FrameResult {
            ledger.apply(StoredFrame(position: ledger.position + 1, bytes: frame))
        }
        let first = Self.frame(Self.a, 1, [Self.join("a")], epoch: epoch, previous: beginning)
        #expect(apply(first) == .taken([.joined(Self.a)]))
        #expect(apply(first) == .again)
        #expect(apply(Self.frame(Self.a, 3, [], epoch: epoch, previous: beginning)) == .lost)
        #expect(apply(Self.frame(Self.a, 2, [], epoch: epoch, previous: ledger.position + 1)) == .lost)
        // A writer of an unknown epoch is late, unless it has read this part of another log.
        #expect(apply(Self.frame(Self.b, 1, [Self.join("b")], epoch: 5, previous: beginning - 1)) == .stale)
        #expect(apply(Self.frame(Self.b, 1, [Self.join("b")], epoch: 5, previous: beginning)) == .lost)
        // The beginning of an epoch that was written on a longer log.
        #expect(apply(Self.beginning(78, previous: ledger.position + 1)) == .stale && ledger.epoch == epoch)
        _ = apply(Self.frame(Self.a, 2, [.remove(Self.a)], epoch: epoch, previous: beginning))
        #expect(apply(first) == .stale && ledger.members[Self.a] == nil)
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func bytesOfAnyKindNeverTrap(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var ledger = try Self.ledger()
        let valid = Self.frame(
            Self.a,
            1,
            [Self.join("a"), .addInterest(id: "s", SimulatedNode.key("s"))],
            epoch: ledger.epoch
        )
        for _ in 0..<20 {
            var bytes = valid
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            bytes.removeLast(Int.random(in: 0..<bytes.count, using: &generator))
            _ = ledger.apply(StoredFrame(position: ledger.position + 1, bytes: bytes))
            _ = try? ClusterSnapshot(bytes)
            _ = Heartbeat(bytes)
        }
    }

    @Test
    func specifiedResourcesGoToOneMemberWithTheirGroup() throws {
        var ledger = try Self.ledger()
        let properties = SimulatedNode.key("x").properties
        func specification(_ group: String) -> ResourceSpecification {
            ResourceSpecification(group: group, upstream: "demo", content: [])
        }
        func apply(_ frame: [UInt8]) -> [LedgerEffect] {
            guard case .taken(let effects) = ledger.apply(StoredFrame(position: ledger.position + 1, bytes: frame))
            else { return [] }
            return effects
        }
        let epoch = ledger.epoch
        _ = apply(Self.frame(Self.a, 1, [Self.join("a")], epoch: epoch))
        _ = apply(Self.frame(Self.b, 1, [Self.join("b")], epoch: epoch))
        _ = apply(
            Self.frame(
                Self.a,
                2,
                [
                    .change(.client("c1", .added(.connecting)), term: 0), .specify(id: "c1", specification("c1")),
                    .change(.subscription("s1", .added(properties)), term: 0),
                    .specify(id: "s1", specification("c1")),
                    .change(.subscription("s2", .added(properties)), term: 0),
                ],
                epoch: epoch
            )
        )
        let refused = apply(Self.frame(Self.b, 2, [.specify(id: "s1", specification("s1"))], epoch: epoch))
        #expect(refused == [.order(.releaseResource("s1"), to: Self.b)])
        let effects = apply(Self.frame(Self.b, 3, [.remove(Self.a)], epoch: epoch))
        // The client first; what was not specified is gone.
        let heir = try #require(ledger.specified["c1"]?.owner)
        #expect(effects.suffix(2) == [.inherited("c1", by: heir), .inherited("s1", by: heir)])
        #expect(ledger.subscriptions["s2"] == nil && ledger.subscriptions["s1"] != nil)
        let owners = ["c1", "s1"].map { ledger.specified[$0]?.owner }
        #expect(owners[0] == owners[1] && owners[0] != Self.a && ledger.clients["c1"]?.owner == owners[0])
        let snapshot = ClusterSnapshot(created: "x", ledger: ledger, tables: [:])
        #expect(try ClusterSnapshot(snapshot.bytes(in: 2)) == snapshot)
    }

    /// A ledger in which the member `a` has the client `c` with the shared subscription `s`, and `b` can take them
    /// over.
    private static func carrying(_ records: (_ term: UInt64) -> [ClusterRecord]) throws -> ClusterLedger {
        var ledger = try Self.ledger()
        let epoch = ledger.epoch
        func apply(_ member: UInt64, _ counter: UInt64, _ records: [ClusterRecord]) {
            let bytes = frame(member, counter, records, epoch: epoch, previous: ledger.epochPosition)
            _ = ledger.apply(StoredFrame(position: ledger.position + 1, bytes: bytes))
        }
        apply(a, 1, [join("a"), .addInterest(id: "s", SimulatedNode.key("s"))])
        let others = ledger.members.keys.filter { $0 != a }
        apply(a, 2, others.map { .remove($0) })
        let term = try #require(ledger.topics.byID["s"]?.term)
        let subscribed = SubscriptionEvent.subscribed(
            itemCount: 1,
            fieldCount: 1,
            keyPosition: nil,
            commandPosition: nil
        )
        apply(
            a,
            3,
            [
                .change(.client("c", .added(.connectedWSStreaming)), term: 0),
                .change(.subscription("s", .carried(by: "c")), term: term),
                .session(client: "c", OfferedUpstreamSession(content: [1], processed: 0)),
                .upstreamNumber(id: "s", term: term, number: 4),
                .change(.subscription("s", .event(subscribed)), term: term, number: 1),
            ] + records(term)
        )
        apply(b, 1, [join("b")])
        return ledger
    }

    private static func removal(in ledger: inout ClusterLedger) -> [LedgerEffect] {
        let bytes = frame(b, 2, [.remove(a)], epoch: ledger.epoch, previous: ledger.epochPosition)
        guard case .taken(let effects) = ledger.apply(StoredFrame(position: ledger.position + 1, bytes: bytes))
        else { return [] }
        return effects
    }

    /// The new owner declares what the session has open beyond its credits.
    @Test
    func creditsOfASessionPrecedeTheSession() throws {
        let needed = UpstreamCredits(sessions: 1, subscriptions: 1, items: 1)
        let claim = CreditClaim(
            upstream: "demo",
            number: 1,
            missing: needed,
            requested: needed,
            isOptional: false,
            limits: needed
        )
        var ledger = try Self.carrying { _ in [.credit(.claim(claim))] }
        #expect(
            Self.removal(in: &ledger) == [
                .removed(Self.a), .order(.credit(upstream: "demo", needed), to: Self.b),
                .adopted(client: "c", by: Self.b),
            ]
        )
        #expect(ledger.credits["demo"].held == [Self.b: needed])
    }

    @Test
    func sessionOfARemovedMemberContinuesWithItsSubscriptions() throws {
        var ledger = try Self.carrying { term in
            let frequency = SubscriptionEvent.realMaxFrequency(.unlimited)
            return [
                .change(.subscription("s", .event(frequency)), term: term, number: 9),
                // Of an earlier term: not in the log, as far as other members are concerned.
                .change(.subscription("s", .event(frequency)), term: term - 1, number: 11),
            ]
        }
        #expect(ledger.sessions["c"]?.processed == 9)
        #expect(Self.removal(in: &ledger) == [.removed(Self.a), .adopted(client: "c", by: Self.b)])
        #expect(ledger.topics.byID["s"]?.owner == Self.b && ledger.topics.byID["s"]?.term == ledger.position)
        #expect(ledger.clients["c"]?.owner == Self.b)
        #expect(ledger.subscriptions["s"]?.layout != nil && ledger.subscriptions["s"]?.carrier == "c")
        let snapshot = ClusterSnapshot(created: "x", ledger: ledger, tables: [:])
        #expect(try ClusterSnapshot(snapshot.bytes(in: 2)) == snapshot)
    }

    /// A member that writes parts without end takes no more memory of the others.
    @Test
    func aRecordInPartsIsCutOffAtItsGreatestLength() {
        let longest = ClusterLedger.Member.longestRecord
        var member = ClusterLedger.Member(
            info: MemberInfo(name: "a", version: "1", upstreams: []),
            joinedAt: 1,
            counter: 0
        )
        let part = [UInt8](repeating: 1, count: longest / 2 + 1)
        for _ in 0..<3 {
            let whole = member.add(part[...], isLast: false)
            #expect(whole == nil)
        }
        #expect(member.partial.count == longest)
        let cut = member.add([1], isLast: true)
        #expect(cut?.count == longest && member.partial.isEmpty)
        _ = member.add([1, 2], isLast: false)
        let next = member.add([3], isLast: true)
        #expect(next == [1, 2, 3])
    }

    /// The owner that the first removal chooses is removed by the second one, and adopts nothing.
    @Test
    func sessionOfTwoMembersThatAreRemovedAtOnceIsAdoptedOnce() throws {
        var ledger = try Self.carrying { _ in [] }
        let group = ledger.topics.group(of: "s", SimulatedNode.key("s"))
        let last = try #require(
            (UInt64(100)..<200).first { Rendezvous.ranking(of: [Self.b, $0], for: group).first == Self.b }
        )
        let records: [ClusterRecord] = [Self.join("c"), .remove(Self.a), .remove(Self.b)]
        let bytes = Self.frame(last, 1, records, epoch: ledger.epoch, previous: ledger.epochPosition)
        let result = ledger.apply(StoredFrame(position: ledger.position + 1, bytes: bytes))
        guard case .taken(let effects) = result else {
            Issue.record("\(result)")
            return
        }
        let adoptions = effects.filter { if case .adopted = $0 { true } else { false } }
        #expect(adoptions == [.adopted(client: "c", by: Self.b), .adopted(client: "c", by: last)])
    }

    @Test(arguments: [
        [ClusterRecord.session(client: "c", nil)], [.change(.subscription("s", .carried(by: nil)), term: 0)],
    ])
    func subscriptionThatCannotBeContinuedIsAssignedAnew(records: [ClusterRecord]) throws {
        var ledger = try Self.carrying { term in
            records.map { record in
                if case .change(let change, _, _) = record { .change(change, term: term) } else { record }
            }
        }
        let effects = Self.removal(in: &ledger)
        #expect(effects.contains(.hub(.subscription("s", .event(.unsubscribed(isFinal: false))))))
        #expect(effects.suffix(3) == [.hub(.client("c", .removed)), .removed(Self.a), .assigned("s", to: Self.b)])
        #expect(ledger.clients["c"] == nil && ledger.sessions["c"] == nil)
        #expect(ledger.subscriptions["s"]?.carrier == nil)
    }

    @Test
    func onlyTheOwnerOffersASession() throws {
        var ledger = try Self.carrying { _ in [] }
        let before = ledger.sessions
        let records: [ClusterRecord] = [
            .session(client: "c", nil), .upstreamNumber(id: "s", term: ledger.topics.byID["s"]?.term ?? 0, number: 5),
        ]
        let bytes = Self.frame(Self.b, 2, records, epoch: ledger.epoch, previous: ledger.epochPosition)
        _ = ledger.apply(StoredFrame(position: ledger.position + 1, bytes: bytes))
        #expect(ledger.sessions == before && !before.isEmpty)
    }
}

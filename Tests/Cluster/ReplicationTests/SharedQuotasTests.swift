import Changes
import SessionCore
import TestSupport
import Testing

@testable import Replication

struct SharedQuotasTests {
    private static let unit = QuotaUnit.stream("t1", of: "key:a")

    private static func claim(_ id: String, limit: Int = 2, number: UInt64 = 1) -> QuotaRecord {
        .claim([QuotaDemand(.stream(id, of: "key:a"), limits: QuotaLimits(count: limit))], number: number)
    }

    /// A demand of a subscription with a number of items, of a caller who may have three subscriptions with five items.
    private static func demand(_ id: String, _ items: Int) -> QuotaDemand {
        QuotaDemand(.subscription(id, of: "key:a"), size: items, limits: QuotaLimits(count: 3, size: 5))
    }

    private static func outcomes(_ effects: [LedgerEffect]) -> [RecordOutcome] {
        effects.compactMap { if case .order(.report(.quota, let outcome), _) = $0 { outcome } else { nil } }
    }

    /// A ledger with two members.
    private static func ledger() -> ClusterLedger {
        var ledger = ClusterLedger(epoch: 1, position: 1, groups: 1)
        for member in [1, 2] as [UInt64] {
            let join = ClusterRecord.join(MemberInfo(name: "", version: "", upstreams: [])).encoded
            let position = ledger.position + 1
            let frame = ClusterFrame(member: member, epoch: 1, previous: 1, digest: 0, counter: 1, payload: join[...])
            _ = ledger.apply(StoredFrame(position: position, bytes: frame.bytes))
        }
        return ledger
    }

    @Test(arguments: [
        QuotaRecord.claim([demand("s1", 3), QuotaDemand(unit, limits: QuotaLimits())], number: 300), claim("t2"),
        .declare(unit, size: 7), .release(unit),
    ])
    func recordIsReadAsItWasWritten(record: QuotaRecord) throws {
        let body = ClusterRecord.quota(record).body
        #expect(try ClusterRecord.read(body[...], layout: { _ in nil }) == .quota(record))
        for count in 1..<body.count {
            #expect(throws: CodingError.self) { try ClusterRecord.read(body[..<count], layout: { _ in nil }) }
        }
    }

    @Test
    func theSubscriptionsOfEachCallerAreKnown() {
        var ledger = Self.ledger()
        var effects: [LedgerEffect] = []
        let units: [QuotaUnit] = [
            .subscription("s1", of: "key:a"), .subscription("s1", of: "key:b"), .subscription("s2", of: "key:b"),
            Self.unit,
        ]
        for unit in units { ledger.apply(.declare(unit, size: 1), by: 1, &effects) }
        ledger.apply(.declare(units[0], size: 1), by: 2, &effects)
        #expect(ledger.quotas.heldSubscriptions == ["key:a": ["s1"], "key:b": ["s1", "s2"]])
        for unit in units { ledger.apply(.release(unit), by: 1, &effects) }
        #expect(ledger.quotas.heldSubscriptions == ["key:a": ["s1"]])
    }

    @Test
    func quotaIsNotExceeded() {
        var ledger = ClusterLedger(epoch: 1, position: 1, groups: 1)
        var effects: [LedgerEffect] = []
        for (number, id) in ["t1", "t2", "t3", "t1", "t2"].enumerated() {
            ledger.apply(Self.claim(id), by: UInt64(number), &effects)
        }
        #expect(Self.outcomes(effects) == [.accepted, .accepted, .refused, .accepted, .accepted])
        #expect(ledger.quotas.used(of: Self.unit.quota).count == 2)
        // Another member has the unit still.
        ledger.apply(.release(Self.unit), by: 0, &effects)
        #expect(ledger.quotas.used(of: Self.unit.quota).count == 2)
        ledger.apply(.release(Self.unit), by: 3, &effects)
        ledger.apply(.release(Self.unit), by: 3, &effects)
        #expect(ledger.quotas.used(of: Self.unit.quota).count == 1)
        effects = []
        ledger.apply(.declare(.stream("t4", of: "key:a"), size: 0), by: 7, &effects)
        ledger.apply(.declare(.stream("t5", of: "key:a"), size: 0), by: 7, &effects)
        #expect(effects.isEmpty && ledger.quotas.used(of: Self.unit.quota).count == 3)
    }

    @Test
    func unitsOfAClaimAreAcceptedTogetherOrNotAtAll() {
        var ledger = ClusterLedger(epoch: 1, position: 1, groups: 1)
        let quota = Self.demand("s1", 0).unit.quota
        var effects: [LedgerEffect] = []
        ledger.apply(.claim([Self.demand("s1", 2), Self.demand("s2", 3)], number: 1), by: 1, &effects)
        #expect(ledger.quotas.used(of: quota) == (2, 5))
        ledger.apply(.claim([Self.demand("s1", 2), Self.demand("s3", 1)], number: 2), by: 2, &effects)
        #expect(ledger.quotas.excess(of: [Self.demand("s3", 1)])?.isSize == true)
        #expect(ledger.quotas.excess(of: ["s3", "s4"].map { Self.demand($0, 0) })?.isSize == false)
        #expect(!ledger.quotas.contains(Self.demand("s1", 2).unit, of: 2))
        ledger.apply(.claim([Self.demand("s2", 3), Self.demand("s3", 0)], number: 3), by: 2, &effects)
        // A subscription that two members have counts once, and no subscription grows beyond the limit.
        ledger.apply(.claim([Self.demand("s2", 4)], number: 4), by: 2, &effects)
        #expect(ledger.quotas.used(of: quota) == (3, 5))
        ledger.apply(.declare(Self.demand("s2", 0).unit, size: 1), by: 2, &effects)
        #expect(ledger.quotas.used(of: quota) == (3, 3))
        ledger.apply(.release(Self.demand("s1", 0).unit), by: 1, &effects)
        #expect(ledger.quotas.used(of: quota) == (2, 1))
        #expect(Self.outcomes(effects) == [.accepted, .refused, .accepted, .refused])
    }

    @Test
    func hugeSizesDoNotOverflow() throws {
        var ledger = ClusterLedger(epoch: 1, position: 1, groups: 1)
        var effects: [LedgerEffect] = []
        for id in ["s1", "s2"] {
            let record = QuotaRecord.declare(.subscription(id, of: "key:a"), size: .max)
            let body = ClusterRecord.quota(record).body
            guard case .quota(let read) = try ClusterRecord.read(body[...], layout: { _ in nil }) else { continue }
            ledger.apply(read, by: 1, &effects)
        }
        #expect(ledger.quotas.used(of: Self.demand("s1", 0).unit.quota).size == 2 * Int(UInt32.max))
    }

    @Test
    func removedMemberFreesItsUnitsAndLeavesItsPreparedStreamsToOthers() throws {
        var ledger = Self.ledger()
        var effects: [LedgerEffect] = []
        let specification = ResourceSpecification(group: "t1", upstream: nil, owner: "key:a", content: [])
        ledger.apply(.stream(.prepare(id: "t1", specification)), by: 1, &effects)
        for id in ["t1", "t2"] { ledger.apply(Self.claim(id), by: 1, &effects) }
        ledger.apply(.remove(1), by: 2, &effects)
        #expect(ledger.quotas.used(of: Self.unit.quota).count == 1)
        #expect(ledger.quotas.contains(Self.unit, of: 2))
        let snapshot = ClusterSnapshot(created: "x", ledger: ledger, tables: [:])
        #expect(try ClusterSnapshot(snapshot.bytes(in: 2)) == snapshot)
        ledger.apply(.release(Self.unit), by: 2, &effects)
        #expect(ledger.quotas == SharedQuotas())
    }

    @Test
    func preparedStreamCountsOnTheMemberThatOpensIt() {
        var ledger = ClusterLedger(epoch: 1, position: 1, groups: 1)
        var effects: [LedgerEffect] = []
        let specification = ResourceSpecification(group: "t1", upstream: nil, owner: "key:a", content: [])
        ledger.apply(.stream(.prepare(id: "t1", specification)), by: 1, &effects)
        ledger.apply(Self.claim("t1"), by: 1, &effects)
        ledger.apply(.stream(.open(id: "t1")), by: 2, &effects)
        #expect(ledger.quotas.contains(Self.unit, of: 2) && !ledger.quotas.contains(Self.unit, of: 1))
        // The former owner releases what it had.
        ledger.apply(.release(Self.unit), by: 1, &effects)
        #expect(ledger.quotas.used(of: Self.unit.quota).count == 1)
    }

    @Test
    func subscriptionsCountOnTheMembersThatTakeOverTheirResources() throws {
        var ledger = Self.ledger()
        var effects: [LedgerEffect] = []
        let properties = SubscriptionProperties(mode: .merge, items: .list(["i"]), fields: .list(["f"]))
        let key = SharedTopicKey(upstream: "demo", properties: properties)
        let definition = StreamDefinition(request: StreamRequest(sources: [.subscription("s1")]), shared: ["s1": key])
        let stream = ResourceSpecification(group: "t1", upstream: nil, owner: "key:a", content: definition.bytes)
        ledger.apply(.stream(.prepare(id: "t1", stream)), by: 1, &effects)
        ledger.apply(.change(.subscription("s2", .added(properties)), term: 0), by: 1, &effects)
        let posted = ResourceSpecification(group: "s2", upstream: nil, owner: "key:a", content: [])
        ledger.apply(.specify(id: "s2", posted), by: 1, &effects)
        let demands = [Self.demand("s1", 1), Self.demand("s2", 2), Self.demand("s3", 2)]
        ledger.apply(.claim(demands, number: 1), by: 1, &effects)
        ledger.apply(.remove(1), by: 2, &effects)
        // `s3` was used by an open stream of the removed member.
        #expect(demands.map { ledger.quotas.contains($0.unit, of: 2) } == [true, true, false])
        #expect(ledger.quotas.used(of: demands[0].unit.quota) == (2, 3))
    }
}

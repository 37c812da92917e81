import Testing

@testable import Replication

struct SharedQuotasTests {
    private static let unit = QuotaUnit.stream("t1", of: "key:a")

    private static func claim(_ id: String, limit: Int? = 2) -> QuotaRecord {
        .claim(.stream(id, of: "key:a"), limit: limit)
    }

    private static func outcomes(_ effects: [LedgerEffect]) -> [RecordOutcome] {
        effects.compactMap { if case .decided(.quota, _, let outcome) = $0 { outcome } else { nil } }
    }

    @Test(arguments: [QuotaRecord.claim(unit, limit: nil), .claim(unit, limit: 3), .release(unit)])
    func recordIsReadAsItWasWritten(record: QuotaRecord) throws {
        let body = ClusterRecord.quota(record).body
        #expect(try ClusterRecord.read(body[...], layout: { _ in nil }) == .quota(record))
        for count in 1..<body.count {
            #expect(throws: CodingError.self) { try ClusterRecord.read(body[..<count], layout: { _ in nil }) }
        }
    }

    @Test
    func quotaIsNotExceeded() {
        var ledger = ClusterLedger(epoch: 1, position: 1, groups: 1)
        var effects: [LedgerEffect] = []
        for (number, id) in ["t1", "t2", "t3", "t1", "t2"].enumerated() {
            ledger.apply(Self.claim(id), by: UInt64(number), &effects)
        }
        #expect(Self.outcomes(effects) == [.accepted, .accepted, .refused, .accepted, .accepted])
        #expect(ledger.used(of: Self.unit.quota) == 2)
        // Another member has the unit still.
        ledger.apply(.release(Self.unit), by: 0, &effects)
        #expect(ledger.used(of: Self.unit.quota) == 2)
        ledger.apply(.release(Self.unit), by: 3, &effects)
        ledger.apply(.release(Self.unit), by: 3, &effects)
        #expect(ledger.used(of: Self.unit.quota) == 1)
        effects = []
        ledger.apply(Self.claim("t4", limit: nil), by: 7, &effects)
        ledger.apply(Self.claim("t5", limit: nil), by: 7, &effects)
        #expect(effects.isEmpty && ledger.used(of: Self.unit.quota) == 3)
        ledger.apply(.claim(.stream("t1", of: "key:b"), limit: 1), by: 7, &effects)
        ledger.apply(.claim(.stream("t9", of: "key:b"), limit: 0), by: 7, &effects)
        #expect(Self.outcomes(effects) == [.accepted, .refused])
    }

    @Test
    func removedMemberFreesItsUnitsAndLeavesItsPreparedStreamsToOthers() throws {
        var ledger = ClusterLedger(epoch: 1, position: 1, groups: 1)
        for member in [1, 2] as [UInt64] {
            let join = ClusterRecord.join(MemberInfo(name: "", version: "", upstreams: [])).encoded
            let position = ledger.position + 1
            let frame = ClusterFrame(member: member, epoch: 1, previous: 1, counter: 1, payload: join[...])
            _ = ledger.apply(StoredFrame(position: position, bytes: frame.bytes))
        }
        var effects: [LedgerEffect] = []
        let specification = ResourceSpecification(group: "t1", upstream: nil, owner: "key:a", content: [])
        ledger.apply(.stream(.prepare(id: "t1", specification)), by: 1, &effects)
        for id in ["t1", "t2"] { ledger.apply(Self.claim(id), by: 1, &effects) }
        ledger.apply(.remove(1), by: 2, &effects)
        #expect(ledger.used(of: Self.unit.quota) == 1)
        #expect(ledger.isInUse(Self.unit, by: 2))
        let snapshot = ClusterSnapshot(created: "x", ledger: ledger, tables: [:])
        #expect(try ClusterSnapshot(snapshot.bytes) == snapshot)
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
        #expect(ledger.isInUse(Self.unit, by: 2) && !ledger.isInUse(Self.unit, by: 1))
        // The former owner releases what it had.
        ledger.apply(.release(Self.unit), by: 1, &effects)
        #expect(ledger.used(of: Self.unit.quota) == 1)
    }
}

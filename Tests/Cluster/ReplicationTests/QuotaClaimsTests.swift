import Primitives
import Testing

@testable import Replication

struct QuotaClaimsTests {
    private static func demand(_ id: String, size: Int = 1) -> QuotaDemand {
        QuotaDemand(.subscription(id, of: "key:a"), size: size, limits: QuotaLimits(count: 2, size: 4))
    }

    @Test func aUnitIsClaimedOnceAndReleasedAfterItsLastUse() {
        var claims = QuotaClaims()
        let demand = Self.demand("s1")
        let first = claims.reserve([demand])
        #expect(first.missing == [demand])
        claims.decided([demand], .accepted)
        #expect(claims.use(demand.unit, size: 1) == [])
        #expect(claims.endReservation([demand.unit]) == [])
        let second = claims.reserve([demand])
        #expect(second.missing.isEmpty)
        #expect(claims.endUse(demand.unit) == [])
        #expect(claims.endReservation([demand.unit]) == [.release(demand.unit)])
        #expect(claims.count == 0)
    }

    @Test(arguments: [.refused, nil] as [RecordOutcome?])
    func aRefusedUnitIsForgotten(outcome: RecordOutcome?) {
        var claims = QuotaClaims()
        let demand = Self.demand("s1")
        _ = claims.reserve([demand])
        claims.decided([demand], outcome)
        // Without a decision, the log may have accepted the unit.
        #expect(claims.endReservation([demand.unit]) == (outcome == nil ? [.release(demand.unit)] : []))
        #expect(claims.count == 0)
    }

    @Test func theSizeThatIsUsedIsDeclared() {
        var claims = QuotaClaims()
        #expect(claims.use(Self.demand("s1").unit, size: 2) == [.declare(Self.demand("s1").unit, size: 2)])
        let larger = Self.demand("s1", size: 3)
        let growth = claims.reserve([larger])
        #expect(growth.missing == [larger])
        claims.decided([larger], .accepted)
        #expect(claims.use(larger.unit, size: 3) == [])
        #expect(claims.endReservation([larger.unit]) == [])
        #expect(claims.use(larger.unit, size: 1) == [.declare(larger.unit, size: 1)])
        #expect(claims.declarations() == [.declare(larger.unit, size: 1)])
        // The change was accepted, but not made.
        _ = claims.reserve([larger])
        claims.decided([larger], .accepted)
        #expect(claims.endReservation([larger.unit]) == [.declare(larger.unit, size: 1)])
    }

    @Test func aUseThatEndsBeforeTheDecisionDoesNotBegin() {
        var claims = QuotaClaims()
        let stream = QuotaDemand(.stream("t1", of: "key:a"), limits: QuotaLimits(count: 1))
        _ = claims.reserve([stream])
        #expect(claims.endUses(of: "t1") == [])
        claims.decided([stream], .accepted)
        #expect(claims.useUnlessEnded(stream.unit) == false)
        #expect(claims.endReservation([stream.unit]) == [.release(stream.unit)])
        _ = claims.reserve([stream])
        claims.decided([stream], .accepted)
        #expect(claims.useUnlessEnded(stream.unit) == true)
        #expect(claims.endReservation([stream.unit]) == [])
        #expect(claims.endUses(of: "t1") == [.release(stream.unit)])
    }

    @Test func unitsThatWereTakenOverAreReleased() {
        var claims = QuotaClaims()
        let units = ["t1", "t2"].map { QuotaUnit.stream($0, of: "key:a") }
        #expect(claims.inherit(units[0]) == [])
        #expect(claims.releaseInherited(units) == [.release(units[1])])
        #expect(claims.endUse(units[0]) == [.release(units[0])])
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func quotaHoldsUnderRandomSchedules(seed: UInt64) {
        var schedule = QuotaSchedule(seed: seed)
        for _ in 0..<300 { schedule.step() }
        #expect(schedule.excesses == 0)
        schedule.finish()
        #expect(schedule.used == (0, 0))
        #expect(schedule.units == 0)
    }
}

/// Members that reserve, use and release units in random order, and a log that has their records in a random order.
private struct QuotaSchedule {
    private struct Member {
        var claims = QuotaClaims()
        var outbox: [QuotaRecord] = []
        var pending: [UInt64: [QuotaDemand]] = [:]
        /// The units of reservations that are decided.
        var reserved: [[QuotaDemand]] = []
        var uses: Set<QuotaUnit> = []

        mutating func write(_ records: [QuotaRecord]) { outbox += records }
    }

    private static let limits = QuotaLimits(count: 3, size: 7)
    private static let quota = QuotaUnit.subscription("", of: "key:a").quota

    private var random: SplitMix64
    private var ledger = ClusterLedger(epoch: 1, position: 1, groups: 1)
    private var members = [Member(), Member(), Member()]
    private(set) var excesses = 0

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    var used: (count: Int, size: Int) { ledger.quotas.used(of: Self.quota) }
    var units: Int { members.reduce(0) { $0 + $1.claims.count } }

    mutating func step() {
        let index = Int.random(in: members.indices, using: &random)
        switch Int.random(in: 0..<10, using: &random) {
        case 0, 1, 2: reserve(index)
        case 3, 4, 5: deliver(index)
        case 6, 7: begin(index)
        default: end(index)
        }
        check()
    }

    private mutating func reserve(_ index: Int) {
        let count = Int.random(in: 1...2, using: &random)
        let numbers = (1...6).shuffled(using: &random).prefix(count)
        // Equal subscriptions have equal sizes on all members.
        let demands = numbers.map { number in
            QuotaDemand(.subscription("s\(number)", of: "key:a"), size: number, limits: Self.limits)
        }
        let (missing, number) = members[index].claims.reserve(demands)
        guard !missing.isEmpty else { return members[index].reserved.append(demands) }
        members[index].pending[number] = demands
        members[index].outbox.append(.claim(missing, number: number))
    }

    private mutating func deliver(_ index: Int) {
        guard !members[index].outbox.isEmpty else { return }
        let record = members[index].outbox.removeFirst()
        var effects: [LedgerEffect] = []
        ledger.apply(record, by: UInt64(index + 1), &effects)
        guard case .claim(let missing, let number) = record else { return }
        let isAccepted = effects.contains { if case .order(.report(_, .accepted), _) = $0 { true } else { false } }
        guard let demands = members[index].pending.removeValue(forKey: number) else { return }
        // Sometimes the decision arrives too late.
        let isKnown = Int.random(in: 0..<5, using: &random) > 0
        members[index].claims.decided(missing, isKnown ? (isAccepted ? .accepted : .refused) : nil)
        if isKnown, isAccepted { return members[index].reserved.append(demands) }
        members[index].write(members[index].claims.endReservation(demands.map(\.unit)))
    }

    private mutating func begin(_ index: Int) {
        guard !members[index].reserved.isEmpty else { return }
        let demands = members[index].reserved.removeFirst()
        for demand in demands where Bool.random(using: &random) {
            members[index].uses.insert(demand.unit)
            members[index].write(members[index].claims.use(demand.unit, size: demand.size))
        }
        members[index].write(members[index].claims.endReservation(demands.map(\.unit)))
    }

    private mutating func end(_ index: Int) {
        guard let unit = members[index].uses.sorted(by: { $0.id < $1.id }).randomElement(using: &random) else { return }
        members[index].uses.remove(unit)
        members[index].write(members[index].claims.endUse(unit))
    }

    /// What is in use on all members is within the limits.
    private mutating func check() {
        let uses = Set(members.flatMap(\.uses))
        let size = uses.reduce(0) { $0 + (Int($1.id.dropFirst()) ?? 0) }
        if uses.count > Self.limits.count ?? 0 || size > Self.limits.size ?? 0 { excesses += 1 }
    }

    /// All requests are performed, and all uses end.
    mutating func finish() {
        for index in members.indices {
            while !members[index].outbox.isEmpty || !members[index].reserved.isEmpty || !members[index].uses.isEmpty {
                deliver(index)
                begin(index)
                end(index)
            }
        }
        for index in members.indices { while !members[index].outbox.isEmpty { deliver(index) } }
    }
}

import Changes
import Primitives
import SessionCore
import Testing

@testable import Replication

struct SharedCreditsTests {
    private static func credits(_ subscriptions: Int, sessions: Int = 0, items: Int = 0) -> UpstreamCredits {
        UpstreamCredits(sessions: sessions, subscriptions: subscriptions, items: items)
    }

    private static func claim(
        _ missing: UpstreamCredits,
        requested: UpstreamCredits? = nil,
        isOptional: Bool = false,
        number: UInt64 = 1
    ) -> ClusterRecord {
        .credit(
            .claim(
                CreditClaim(
                    upstream: "demo",
                    number: number,
                    missing: missing,
                    requested: requested ?? missing,
                    isOptional: isOptional,
                    limits: UpstreamCredits(sessions: 2, subscriptions: 10, items: 20)
                )
            )
        )
    }

    /// A ledger with three members.
    private static func ledger() -> ClusterLedger { CreditModel(limit: 1, requests: [0, 0, 0]).members[0].ledger }

    private static func apply(_ record: ClusterRecord, by member: UInt64, _ ledger: inout ClusterLedger)
        -> [LedgerEffect]
    {
        var effects: [LedgerEffect] = []
        ledger.position += 1
        ledger.apply(record, by: member, &effects)
        return effects
    }

    @Test(arguments: [
        claim(credits(1, sessions: 1, items: 300), isOptional: true, number: 300),
        .credit(.release(upstream: "demo", credits(3, items: 700))),
        .credit(.release(upstream: "demo", .none, claim: 1_000)),
        .credit(.declare(upstream: "demo", credits(3), limits: credits(4, sessions: 5, items: 6))),
    ])
    func recordIsReadAsItWasWritten(record: ClusterRecord) throws {
        #expect(try ClusterRecord.read(record.body[...], layout: { _ in nil }) == record)
        for count in 1..<record.body.count {
            #expect(throws: CodingError.self) { try ClusterRecord.read(record.body[..<count], layout: { _ in nil }) }
        }
    }

    @Test func aClaimGetsWhatIsFreeOfWhatItWants() {
        var ledger = Self.ledger()
        let requested = Self.credits(40, sessions: 1, items: 8)
        let effects = Self.apply(
            Self.claim(Self.credits(1, sessions: 1, items: 1), requested: requested),
            by: 1,
            &ledger
        )
        let given = Self.credits(10, sessions: 1, items: 8)
        #expect(
            effects == [
                .order(.credit(upstream: "demo", given), to: 1), .order(.report(.credits(1), .accepted), to: 1),
            ]
        )
        #expect(ledger.credits["demo"].held[1] == given)
        #expect(ledger.credits["demo"].free == Self.credits(0, sessions: 1, items: 12))
    }

    @Test func aClaimIsRefusedAfterAllOtherMembersHaveAnswered() throws {
        var ledger = Self.ledger()
        _ = Self.apply(Self.claim(Self.credits(6)), by: 1, &ledger)
        _ = Self.apply(Self.claim(Self.credits(4)), by: 2, &ledger)
        let sought = Self.apply(Self.claim(Self.credits(3), number: 7), by: 3, &ledger)
        let position = ledger.position
        #expect(sought == [.creditsSought(upstream: "demo", claim: position)])
        #expect(ledger.awaits(1, for: position, of: "demo") && ledger.awaits(2, for: position, of: "demo"))
        let snapshot = ClusterSnapshot(created: "g", ledger: ledger, tables: [:])
        #expect(try ClusterSnapshot(snapshot.bytes(in: 2)) == snapshot)
        let first = ClusterRecord.credit(.release(upstream: "demo", Self.credits(2), claim: position))
        #expect(Self.apply(first, by: 1, &ledger).isEmpty)
        var refused = ledger
        let none = ClusterRecord.credit(.release(upstream: "demo", .none, claim: position))
        #expect(Self.apply(none, by: 2, &refused) == [.order(.report(.credits(7), .refused), to: 3)])
        #expect(refused.credits["demo"].free.subscriptions == 2)
        // The death of the other member is an answer, too, and frees what it had.
        let effects = Self.apply(.remove(2), by: 1, &ledger)
        #expect(effects.contains(.order(.credit(upstream: "demo", Self.credits(3)), to: 3)))
        #expect(effects.contains(.order(.report(.credits(7), .accepted), to: 3)))
        #expect(ledger.credits["demo"].free.subscriptions == 3)
    }

    @Test func anOptionalSessionIsNotTakenFromMembersWithoutOne() {
        var ledger = Self.ledger()
        _ = Self.apply(Self.claim(Self.credits(1, sessions: 1)), by: 1, &ledger)
        let more = Self.claim(Self.credits(0, sessions: 1), isOptional: true, number: 2)
        #expect(Self.apply(more, by: 1, &ledger) == [.order(.report(.credits(2), .refused), to: 1)])
        let needed = Self.claim(Self.credits(1, sessions: 1), number: 3)
        #expect(Self.apply(needed, by: 2, &ledger).contains(.order(.report(.credits(3), .accepted), to: 2)))
    }

    @Test func anOwnerGetsTheCreditsOfItsSubscriptions() throws {
        var ledger = Self.ledger()
        func key(_ id: String) -> SharedTopicKey { SimulatedNode.key(id) }
        // Without a claim, it is not known what the members have.
        #expect(!Self.apply(.addInterest(id: "a", key("a")), by: 1, &ledger).contains { $0.isCredit })
        _ = Self.apply(Self.claim(Self.credits(9, sessions: 1)), by: 3, &ledger)
        let effects = Self.apply(.addInterest(id: "b", key("b")), by: 2, &ledger)
        let owner = try #require(ledger.topics.byID["b"]?.owner)
        #expect(effects.contains(.order(.credit(upstream: "demo", Self.credits(1, items: 1)), to: owner)))
        // All subscriptions are taken: the owner of the next one has to claim them.
        #expect(ledger.credits["demo"].free.subscriptions == 0)
    }

    @Test func anOwnerWithoutASessionLosesItsSubscriptionsToOneThatHasOne() throws {
        var ledger = Self.ledger()
        _ = Self.apply(.addInterest(id: "a", SimulatedNode.key("a")), by: 1, &ledger)
        let owner = try #require(ledger.topics.byID["a"]?.owner)
        let other: UInt64 = owner == 1 ? 2 : 1
        _ = Self.apply(Self.claim(Self.credits(1, sessions: 2)), by: other, &ledger)
        _ = Self.apply(Self.claim(Self.credits(1, sessions: 1), number: 5), by: owner, &ledger)
        let answer = ClusterRecord.credit(.release(upstream: "demo", .none, claim: ledger.position))
        let effects = Self.apply(answer, by: other, &ledger)
        #expect(effects.contains(.assigned("a", to: other)))
        #expect(effects.last == .order(.report(.credits(5), .refused), to: owner))
        #expect(ledger.topics.byID["a"]?.owner == other)
        #expect(ledger.carriers(of: "demo", insteadOf: owner, for: 1) == [other])
        #expect(ledger.carriers(of: "demo", insteadOf: other, for: 1).isEmpty)
    }

    /// All orders in which members make requests and read the log.
    @Test(arguments: [(1, [1, 1]), (1, [2, 1]), (2, [2, 1]), (2, [2, 2]), (1, [1, 1, 1]), (2, [1, 1, 1])])
    func everyOrderOfClaimsUsesTheWholeLimitAndNoMore(limit: Int, requests: [Int]) {
        var known: Set<String> = []
        func explore(_ model: CreditModel) {
            guard known.insert(model.description).inserted else { return }
            #expect(model.used <= limit)
            for index in model.callers {
                var next = model
                next.call(index)
                explore(next)
            }
            for index in model.readers {
                var next = model
                next.read(index)
                explore(next)
            }
            guard model.callers.isEmpty, model.readers.isEmpty else { return }
            let all = requests.reduce(0, +)
            #expect(model.used == min(limit, all))
            #expect(model.members.reduce(0) { $0 + $1.refused } == all - model.used)
        }
        explore(CreditModel(limit: limit, requests: requests))
        #expect(known.count > 10)
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func limitIsNotExceededInRandomSchedulesWithDeaths(seed: UInt64) {
        var state = seed
        func random(_ count: Int) -> Int {
            state &+= 1
            return Int(SplitMix64.mixed(state) % UInt64(count))
        }
        let limit = 1 + random(6)
        var model = CreditModel(limit: limit, requests: [8, 8, 8, 8])
        while true {
            let (callers, readers) = (model.callers, model.readers)
            if callers.isEmpty, readers.isEmpty { break }
            switch random(24) {
            case 0..<8 where !callers.isEmpty: model.call(callers[random(callers.count)])
            case 8, 9:
                let open = model.members.indices.filter { model.members[$0].isAlive && model.members[$0].used > 0 }
                if !open.isEmpty { model.close(open[random(open.count)]) }
            case 10: model.release(random(4))
            case 11 where model.members.count { $0.isAlive } > 2:
                let alive = model.members.indices.filter { model.members[$0].isAlive }
                model.kill(alive[random(alive.count)])
            default: if !readers.isEmpty { model.read(readers[random(readers.count)]) }
            }
            guard model.used <= limit else {
                Issue.record("seed \(seed): \(model.used) of \(limit)")
                return
            }
        }
        // No claim waits for ever.
        for member in model.members where member.isAlive {
            #expect(member.ledger.credits["demo"].waiting.isEmpty)
        }
    }
}

extension LedgerEffect {
    fileprivate var isCredit: Bool { if case .order(.credit, _) = self { true } else { false } }
}

internal import SessionCore
internal import TLCP
internal import Testing

/// Random lines of the server: no trap, and the events stay valid.
struct SubscriptionStoreRobustnessTests {
    @Test(arguments: 1...15 as ClosedRange<UInt64>)
    func randomLinesKeepThePromisesToTheUser(seed: UInt64) throws {
        var random = RandomInput(seed: seed)
        var fixture = StoreFixture()
        var isSubscribed: [SubscriptionToken: Bool] = [:]
        var tables: [SubscriptionToken: ValueTable] = [:]
        for step in 0..<1_500 {
            var effects: [SubscriptionEffect] = []
            switch random.number(below: 20) {
            case 0:
                let properties = random.properties()
                let token = SubscriptionToken(UInt64(step))
                effects = fixture.store.subscribe(token, properties)
                tables[token] = ValueTable(properties: properties, recentRows: 3)
            case 1: effects = fixture.store.unsubscribe(SubscriptionToken(UInt64(random.number(below: max(step, 1)))))
            case 2 where random.number(below: 20) == 0: effects = fixture.store.sessionEnded()
            case 3: fixture.store.channelLost()
            case 4, 5: _ = fixture.post(atMost: random.number(below: 5))
            case 6: effects = fixture.accept(random.number(below: step + 1)) ?? []
            case 7: effects = fixture.refuse(random.number(below: step + 1), 1 - random.number(below: 3)) ?? []
            default:
                if let line = try? ServerNotification(parsing: Array(random.line().utf8)[...]) {
                    effects = fixture.receive(line)
                }
            }
            for case .notify(let token, let event) in effects {
                switch event {
                case .subscribed:
                    #expect(isSubscribed[token] != true, "seed \(seed)")
                    isSubscribed[token] = true
                case .unsubscribed:
                    #expect(isSubscribed[token] == true, "seed \(seed)")
                    isSubscribed[token] = false
                case .failed: isSubscribed[token] = false
                default: #expect(isSubscribed[token] == true, "seed \(seed)")
                }
                tables[token]?.apply(event)
            }
        }
        for table in tables.values { _ = table.presentState() }
    }
}

/// A seeded generator of lines of a server and calls of a user.
private struct RandomInput {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func number(below bound: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state >> 11) % max(bound, 1)
    }

    mutating func pick<Element>(_ list: [Element]) -> Element { list[number(below: list.count)] }

    mutating func properties() -> SubscriptionProperties {
        pick([.merge(), .plain(.distinct), .plain(.raw), .command(), .twoLevel(), .twoLevel()])
    }

    mutating func line() -> String {
        let id = number(below: 30) + 1
        let item = number(below: 12) == 0 ? number(below: 4) : number(below: 2) + 1
        switch number(below: 14) {
        case 0: return "SUBOK,\(id),\(pick([1, 2, 2, 2])),\(pick([2, 2, 2, 4]))"
        case 1: return "SUBCMD,\(id),2,4,3,\(pick([4, 4, 4, 9]))"
        case 2: return pick(["UNSUB,\(id)", "EOS,\(id),\(item)", "CS,\(id),\(item)", "OV,\(id),\(item),3"])
        case 3: return "CONF,\(id),\(pick(["1", "2.5", "unlimited"])),filtered"
        case 4...8: return "U,\(id),\(item),\(field())|\(field())"
        default:
            return
                "U,\(id),\(item),\(field())|\(field())|\(pick(["k1", "k2", "7", ""]))|\(pick(["ADD", "UPDATE", "DELETE", ""]))"
        }
    }

    private mutating func field() -> String {
        pick(["a", "b", "#", "$", "", "c", "d", "[1]", "^Tb", "^P[]", "^1", "^9"])
    }
}

internal import SessionCore
internal import TestSupport

@testable import EventHub

/// A source of random but valid events of one subscription.
struct RandomFeed {
    let properties: SubscriptionProperties
    private var generator: SeededGenerator
    private var values: [Int: [String?]] = [:]
    private var keys: [String: String?] = [:]
    /// The keys whose command is `UPDATE`, which later updates do not change.
    private var updated: Set<String> = []
    private var isSubscribed = false

    init(_ properties: SubscriptionProperties, seed: UInt64) {
        self.properties = properties
        generator = SeededGenerator(seed: seed)
    }

    mutating func next() -> SubscriptionEvent {
        guard isSubscribed else {
            isSubscribed = true
            return properties.subscribed
        }
        switch Int.random(in: 0..<200, using: &generator) {
        case 0:
            isSubscribed = false
            values.removeAll()
            keys.removeAll()
            updated.removeAll()
            return .unsubscribed(isFinal: false)
        case 1..<3: return .endOfSnapshot(itemPos: 1)
        case 3..<5 where properties.mode == .command:
            keys.removeAll()
            updated.removeAll()
            return .clearSnapshot(itemPos: 1)
        default: return properties.mode == .command ? row() : quote()
        }
    }

    private mutating func quote() -> SubscriptionEvent {
        let item = Int.random(in: 1...2, using: &generator)
        var row = values[item] ?? ["", "", ""]
        let isFirst = values[item] == nil
        var changed: [Int] = []
        for position in 1...3 where isFirst || Bool.random(using: &generator) {
            row[position - 1] = Int.random(in: 0..<4, using: &generator) == 0 ? nil : "\(generator.next() % 1000)"
            changed.append(position)
        }
        values[item] = row
        return properties.update(row, item: item, changed: changed, snapshot: isFirst)
    }

    private mutating func row() -> SubscriptionEvent {
        let key = "k\(Int.random(in: 0..<6, using: &generator))"
        let quantity = "\(generator.next() % 1000)"
        if keys[key] == nil {
            keys[key] = quantity
            return properties.update([key, "ADD", quantity])
        }
        if Int.random(in: 0..<4, using: &generator) == 0 {
            keys[key] = nil
            updated.remove(key)
            return properties.update([key, "DELETE", nil], changed: [2, 3])
        }
        keys[key] = quantity
        return properties.update([key, "UPDATE", quantity], changed: updated.insert(key).inserted ? [2, 3] : [3])
    }
}

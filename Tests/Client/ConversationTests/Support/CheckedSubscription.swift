internal import SessionCore

/// The events of one subscription, checked against the class reference.
struct CheckedSubscription {
    /// A mirror of the values.
    private(set) var table: ValueTable
    /// Whether the user has not ended it.
    var isActive = true

    /// How often the server has accepted it.
    private(set) var cycles = 0
    /// The rows of each item, and the numbers of its last row, in this cycle.
    private var rows: [Int: [String?]] = [:]
    private var lastNumber: [Int: Int] = [:]
    private var texts: Set<String> = []

    init(_ properties: SubscriptionProperties) { table = ValueTable(properties: properties) }

    private var mode: SubscriptionMode { table.properties.mode }

    /// Checks the next event; the violation, or nil.
    mutating func saw(_ event: SubscriptionEvent) -> String? {
        let violation = check(event)
        table.apply(event)
        return violation.map { "\(table.properties.items.wireName): \($0)" }
    }

    private mutating func check(_ event: SubscriptionEvent) -> String? {
        switch event {
        case .subscribed:
            cycles += 1
            rows = [:]
            lastNumber = [:]
            texts = []
            if !isActive { return "subscribed after its end" }
            return table.isSubscribed ? "subscribed twice" : nil
        case .unsubscribed: return table.isSubscribed ? nil : "unsubscribed without having been subscribed"
        case .failed(let code, let message): return "refused: \(code) \(message)"
        case .update(let update):
            if !table.isSubscribed { return "update outside a cycle" }
            return check(update)
        case .endOfSnapshot(let item):
            if !table.isSubscribed { return "end of snapshot outside a cycle" }
            return table.snapshotEnded(item: item) ? "second end of snapshot" : nil
        case .lostUpdates: return "lost updates"
        case .secondLevelFailed(let code, _, let key):
            if !table.isSubscribed { return "second level refused outside a cycle" }
            return (key == "two words" && code == 14) || (key == "nothing" && code == 21) ? nil : "\(key): \(code)"
        case .clearSnapshot, .secondLevelLostUpdates, .realMaxFrequency:
            return table.isSubscribed ? nil : "\(event) outside a cycle"
        }
    }

    private mutating func check(_ update: ItemUpdate) -> String? {
        if mode == .command { return checkCommand(update) ?? checkSnapshot(update) }
        let violation = checkSnapshot(update) ?? checkChanges(update) ?? checkNumber(update)
        rows[update.itemPos] = update.values
        return violation
    }

    private func checkSnapshot(_ update: ItemUpdate) -> String? {
        let expected: Bool
        switch mode {
        case .raw: expected = false
        case .merge: expected = rows[update.itemPos] == nil
        case .distinct: expected = !table.snapshotEnded(item: update.itemPos)
        case .command:
            // An update of the second level depends on the snapshot of that level.
            guard update.itemRow != nil else { return nil }
            expected = !table.snapshotEnded(item: update.itemPos)
        }
        return update.isSnapshot == expected ? nil : "snapshot flag \(update.isSnapshot) of \(update.values)"
    }

    private func checkChanges(_ update: ItemUpdate) -> String? {
        let before = rows[update.itemPos]
        for (index, value) in update.values.enumerated() {
            let expected = before.map { $0[index] != value } ?? true
            if update.changed.contains(index + 1) != expected {
                return "field \(index + 1) changed \(!expected): \(update.values) after \(before ?? [])"
            }
        }
        return nil
    }

    /// DISTINCT and RAW items lose nothing within a cycle; other items may be conflated, but never return to older
    /// values.
    private mutating func checkNumber(_ update: ItemUpdate) -> String? {
        guard let text = update.values.first ?? nil else { return nil }
        if text.hasPrefix("say ") { return texts.insert(text).inserted ? nil : "processed twice: \(text)" }
        guard let number = Int(text) else { return nil }
        defer { lastNumber[update.itemPos] = number }
        guard let last = lastNumber[update.itemPos] else { return nil }
        let isInOrder = mode == .merge ? number > last : number == last + 1
        return isInOrder ? nil : "row \(number) after \(last)"
    }

    private func checkCommand(_ update: ItemUpdate) -> String? {
        guard let key = update.key else { return "update without key" }
        let isKnown = table.row(item: update.itemPos, key: key) != nil
        switch update.command {
        case "ADD": return isKnown ? "ADD of a known key" : nil
        case "UPDATE": return isKnown ? nil : "UPDATE of an unknown key"
        case "DELETE": return nil
        default: return "command \(update.command ?? "nil")"
        }
    }
}

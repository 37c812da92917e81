internal import TLCP

/// How much of the snapshot of a subscription has arrived. It remembers the items that are complete, so that a large
/// snapshot is examined once and not at each of its events.
package struct SnapshotProgress: Sendable {
    private var next = 1

    package init() {}

    /// Whether every item has its snapshot.
    ///
    /// In COMMAND and DISTINCT mode an item is complete at the end of its snapshot, if the subscription requests one;
    /// otherwise, and in the other modes, with its first update.
    package mutating func isComplete(_ table: ValueTable) -> Bool {
        guard table.isSubscribed, let count = table.itemBound else {
            next = 1
            return false
        }
        while next <= count, table.isComplete(item: next) { next += 1 }
        return next > count
    }
}

extension ValueTable {
    /// Whether the snapshot of an item has arrived.
    fileprivate func isComplete(item: Int) -> Bool {
        switch properties.mode {
        case .merge, .raw: changedAt(item: item) != nil || snapshotEnded(item: item)
        case .distinct, .command:
            snapshotEnded(item: item) || (!properties.requestsSnapshot && changedAt(item: item) != nil)
        }
    }

    /// Whether every key of every item has its second-level values, or was refused them. True without a second level.
    package var hasSecondLevels: Bool {
        guard properties.secondLevelFields != nil, let bound = itemBound, bound > 0 else { return true }
        return (1...bound).allSatisfy { item in
            keys(item: item).allSatisfy { secondLevelRefusals[UpstreamName($0)] != nil || hasSecondLevel(item, $0) }
        }
    }

    /// Why no key has second-level values; nil if one has them or waits for them, and if the server has refused none.
    package var secondLevelRefusal: UpstreamRefusal? {
        if secondLevelRefusals.isEmpty { return nil }
        var first: UpstreamRefusal?
        for item in items.indices.map({ $0 + 1 }) {
            for key in keys(item: item) {
                guard !hasSecondLevel(item, key), let refusal = secondLevelRefusals[UpstreamName(key)] else {
                    return nil
                }
                if first == nil, refusal.code != UpstreamRefusal.badKeyCode { first = refusal }
            }
        }
        return first
    }

    private func hasSecondLevel(_ item: Int, _ key: String) -> Bool {
        (row(item: item, key: key)?.count ?? 0) > properties.fields.names?.count ?? fieldCount ?? 0
    }
}

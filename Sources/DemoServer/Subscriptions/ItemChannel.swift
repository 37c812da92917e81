internal import TLCP

/// One item of a subscription: what waits for it, and what was sent of it.
struct ItemChannel: Sendable {
    /// The item's name.
    let name: String
    /// The feed's description of it.
    let item: FeedItem
    /// What waits to be sent.
    var queue: ItemQueue
    /// Whether `queue` is already among those that the session will look at.
    var isListed = false
    /// Whether the client still waits for `EOS`.
    var owesEndOfSnapshot = false

    private var encoder = RowEncoder()
    private var lastOffered: FeedRow?

    /// A channel on which nothing was sent.
    init(name: String, item: FeedItem, queue: ItemQueue) {
        self.name = name
        self.item = item
        self.queue = queue
    }

    /// The item has a new row, of which the subscription sees some columns.
    mutating func offer(_ row: FeedRow, seen columns: [Int], isSnapshot: Bool) {
        if item.dropsUnchanged, item.mode == .merge {
            if let last = lastOffered, columns.allSatisfy({ last.values[$0] == row.values[$0] }) { return }
            lastOffered = row
        }
        if isSnapshot { queue.offerSnapshot(.row(row)) } else { queue.offer(row) }
    }

    /// The field list that tells a row, which counts as sent from now on.
    mutating func encode(_ row: FeedRow, plan: SubscriptionPlan, diffs: DiffFormats) -> FieldList {
        var values: [String?] = []
        values.reserveCapacity(plan.columns.count)
        for column in plan.columns { values.append(row.values[column]) }
        if let position = plan.commandPosition, let command = row.command {
            values[position - 1] = command.kind.rawValue
        }
        return encoder.encode(
            values,
            diffs: diffs.intersection(item.diffs),
            fieldDiffs: item.fieldDiffs.isEmpty ? [:] : fieldDiffs(plan.columns, diffs),
            minimumLength: ItemChannel.minimumDiffLength
        )
    }

    private func fieldDiffs(_ columns: [Int], _ diffs: DiffFormats) -> [Int: DiffFormats] {
        var formats: [Int: DiffFormats] = [:]
        for (index, column) in columns.enumerated() {
            formats[index + 1] = item.fieldDiffs[column].map(diffs.intersection)
        }
        return formats
    }

    /// Bytes below which a value is sent as it is.
    private static let minimumDiffLength = 50
}

/// Something that goes out about one item, apart from its number.
enum ItemEvent: Sendable, Hashable {
    /// `U`.
    case row(FeedRow)
    /// `EOS`.
    case endOfSnapshot
    /// `CS`.
    case cleared
    /// `OV`.
    case lost(Int)
}

extension ItemEvent {
    /// Whether this is a `U`.
    var isRow: Bool {
        if case .row = self { true } else { false }
    }
}

/// One channel of one subscription.
struct ChannelReference: Sendable, Hashable {
    /// The subscription.
    let subscription: SubscriptionID
    /// The channel's place in it, from 0.
    let index: Int
}

internal import JSONText
internal import TLCP

/// One item of a subscription: its pending events, and the values sent last.
struct ItemChannel: Sendable {
    let name: String
    let item: FeedItem
    var queue: any ItemQueue
    /// Whether the channel is in `EventSchedule.ready`.
    var isListed = false
    /// Whether `EOS` is still to be sent.
    var owesEndOfSnapshot = false

    private var encoder = RowEncoder()
    private var lastOffered: FeedRow?

    init(name: String, item: FeedItem, queue: any ItemQueue) {
        self.name = name
        self.item = item
        self.queue = queue
    }

    /// Queues a new row; `columns` are the indices of the subscribed fields.
    mutating func offer(_ row: FeedRow, seen columns: [Int], isSnapshot: Bool) {
        if item.dropsUnchanged, item.mode == .merge {
            if let last = lastOffered, columns.allSatisfy({ last.values[$0].hasSameBytes(as: row.values[$0]) }) {
                return
            }
            lastOffered = row
        }
        if isSnapshot { queue.offerSnapshot(.row(row)) } else { queue.offer(row) }
    }

    /// Encodes a row as the difference to the row encoded before.
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

    /// Length in bytes below which a value is sent without diff.
    private static let minimumDiffLength = 50
}

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
    var isRow: Bool { if case .row = self { true } else { false } }
}

struct ChannelReference: Sendable, Hashable {
    let subscription: SubscriptionID
    /// The index of the channel in the subscription.
    let index: Int
}

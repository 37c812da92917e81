internal import TLCP

extension DemoSubscription {
    /// The notification of something that happened to an item.
    mutating func notification(of event: ItemEvent, index: Int, diffs: DiffFormats) -> ServerNotification {
        switch event {
        case .row(let row):
            .update(id, item: index + 1, fields: channels[index].encode(row, plan: plan, diffs: diffs))
        case .endOfSnapshot: .eos(id, item: index + 1)
        case .cleared: .cs(id, item: index + 1)
        case .lost(let count): .ov(id, item: index + 1, lost: count)
        }
    }
}

internal import DequeModule
internal import SessionCore

/// The behavior of a sequence of updates for a reader that is slower than the server.
enum UpdateBuffering: Sendable {
    /// Keeps every update, up to this number. The snapshot of a session does not count if the reader has read those before.
    case all(limit: Int)
    /// Keeps the newest update of each item, in COMMAND mode of each key.
    case latest
}

/// The updates that wait for one reader.
struct UpdateBuffer {
    private var waiting: Deque<(update: ItemUpdate, isCounted: Bool)> = []
    private var counted = 0
    /// Whether the snapshot of the present session counts: rows of an earlier one, which do not count, are waiting.
    private var countsSnapshot = false
    private var latest: LatestUpdates?
    private let limit: Int

    init(_ buffering: UpdateBuffering) {
        switch buffering {
        case .all(let limit): self.limit = max(1, limit)
        case .latest:
            limit = .max
            latest = LatestUpdates()
        }
    }

    /// Applies an event of the subscription. False: the update exceeds the limit and was not kept.
    mutating func put(_ event: SubscriptionEvent) -> Bool {
        latest?.put(event)
        switch event {
        case .subscribed: countsSnapshot = waiting.count > counted
        case .update(let update) where latest == nil:
            // One snapshot is bounded by the table that the subscription holds anyway.
            let isCounted = countsSnapshot || !update.isSnapshot
            if isCounted, counted >= limit { return false }
            counted += isCounted ? 1 : 0
            waiting.append((update, isCounted))
        default: break
        }
        return true
    }

    /// Removes and returns the oldest update; nil if none waits.
    mutating func take() -> ItemUpdate? {
        if latest != nil { return latest?.take() }
        guard let (update, isCounted) = waiting.popFirst() else { return nil }
        counted -= isCounted ? 1 : 0
        return update
    }

    mutating func removeAll() {
        waiting.removeAll()
        counted = 0
        if latest != nil { latest = LatestUpdates() }
    }
}

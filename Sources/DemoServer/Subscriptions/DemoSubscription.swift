internal import TLCP

/// One subscription of a session: its items and fields, and a channel per item.
struct DemoSubscription: Sendable {
    /// The number that the client assigned (`LS_subId`).
    let id: SubscriptionID
    /// The request, kept to recognize its repetition.
    let request: AddRequest
    /// The items and fields of the request.
    let plan: SubscriptionPlan
    /// One channel per item, in the order of the group.
    var channels: [ItemChannel]
    private(set) var frequency: RealMaxFrequency

    init(_ request: AddRequest, plan: SubscriptionPlan, limits: ServerLimits) {
        id = request.subscriptionID
        self.request = request
        self.plan = plan
        frequency = DemoSubscription.grant(request.maxFrequency ?? .unlimited, plan: plan, limits: limits)
        let policy = DemoSubscription.policy(request, plan: plan, frequency: frequency, limits: limits)
        channels = plan.items.map {
            let queue: any ItemQueue = plan.mode == .command ? CommandQueue(policy: policy) : RowQueue(policy: policy)
            return ItemChannel(name: $0.name, item: $0.item, queue: queue)
        }
    }

    func isRepeated(by other: AddRequest) -> Bool {
        var other = other
        other.isAcknowledged = request.isAcknowledged
        return other == request
    }

    /// Whether every event is forwarded unchanged.
    var isUnfiltered: Bool { Self.isUnfiltered(request, plan) }

    private static func isUnfiltered(_ request: AddRequest, _ plan: SubscriptionPlan) -> Bool {
        request.maxFrequency == .unfiltered || plan.mode == .raw
    }

    func announcement(wrongBy faults: (items: Int, fields: Int)) -> [ServerNotification] {
        let items = max(0, plan.items.count + faults.items)
        let fields = max(0, plan.columns.count + faults.fields)
        guard let key = plan.keyPosition, let command = plan.commandPosition else {
            return [.subOK(id, items: items, fields: fields), configuration]
        }
        return [.subCmd(id, items: items, fields: fields, keyPosition: key, commandPosition: command), configuration]
    }

    var configuration: ServerNotification { .conf(id, frequency, isFiltered: !isUnfiltered) }

    /// Queues the snapshot of an item, as far as requested.
    mutating func offerSnapshot(_ snapshot: FeedSnapshot, to index: Int) {
        let rows: ArraySlice<FeedRow>
        switch request.snapshot {
        case nil, .no: return
        case .yes: rows = snapshot.rows[...]
        case .length(let length): rows = snapshot.rows.suffix(max(0, length))
        }
        guard plan.mode != .raw else { return }
        for row in rows { channels[index].offer(row, seen: plan.columns, isSnapshot: true) }
        guard plan.mode != .merge else { return }
        channels[index].owesEndOfSnapshot = true
        if snapshot.isComplete { endSnapshot(of: index) }
    }

    mutating func offer(_ event: ItemEvent, to index: Int) {
        switch event {
        case .row(let row):
            // Rows of an incomplete snapshot are not limited in number and frequency.
            channels[index].offer(row, seen: plan.columns, isSnapshot: channels[index].owesEndOfSnapshot)
        case .cleared:
            if plan.mode == .distinct || plan.mode == .command { channels[index].queue.offerClear() }
        case .lost(let count): channels[index].queue.offerLoss(count)
        case .endOfSnapshot: endSnapshot(of: index)
        }
    }

    mutating func reconfigure(_ requested: RequestedMaxFrequency, limits: ServerLimits) {
        frequency = DemoSubscription.grant(requested, plan: plan, limits: limits)
        let policy = DemoSubscription.policy(request, plan: plan, frequency: frequency, limits: limits)
        for index in channels.indices { channels[index].queue.policy = policy }
    }

    private mutating func endSnapshot(of index: Int) {
        guard channels[index].owesEndOfSnapshot else { return }
        channels[index].owesEndOfSnapshot = false
        channels[index].queue.offerSnapshot(.endOfSnapshot)
    }

    private static func grant(
        _ requested: RequestedMaxFrequency,
        plan: SubscriptionPlan,
        limits: ServerLimits
    ) -> RealMaxFrequency {
        guard plan.mode != .raw, requested != .unfiltered else { return .unlimited }
        var bounds = plan.items.compactMap(\.item.maxFrequency)
        if let limit = limits.frequency { bounds.append(limit) }
        if case .limited(let value) = requested { bounds.append(value) }
        return bounds.min().map { .limited($0) } ?? .unlimited
    }

    private static func policy(
        _ request: AddRequest,
        plan: SubscriptionPlan,
        frequency: RealMaxFrequency,
        limits: ServerLimits
    ) -> QueuePolicy {
        let isUnfiltered = isUnfiltered(request, plan)
        var capacity = limits.bufferSize
        if !isUnfiltered, plan.mode == .merge || plan.mode == .distinct {
            switch request.bufferSize {
            case .limited(let size): capacity = min(capacity, max(1, size))
            case .unlimited: break
            case nil: capacity = plan.mode == .merge ? 1 : capacity
            }
        }
        var interval: Duration?
        if case .limited(let value) = frequency, value > 0 { interval = .boundedSeconds(1 / value) }
        return QueuePolicy(capacity: capacity, isUnfiltered: isUnfiltered, interval: interval)
    }
}

extension DemoSubscription {
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

/// The items of a group and the fields of a schema.
struct SubscriptionPlan: Sendable, Hashable {
    var feed: FeedDirectory.Index
    var mode: SubscriptionMode
    var items: [NamedItem]
    /// For each field of the schema, its index in the rows of the feed.
    var columns: [Int]
    /// 1-based position of the field `key`; COMMAND only.
    var keyPosition: Int?
    /// 1-based position of the field `command`; COMMAND only.
    var commandPosition: Int?

    struct NamedItem: Sendable, Hashable {
        var name: String
        var item: FeedItem
    }
}

internal import Changes
internal import EventHub
internal import Primitives
internal import Replication
internal import SessionCore

/// Applies changes to the hub of a member. The task of `ClusterNode` owns it.
struct ClusterApplier: Sendable {
    private let hub: EventHub
    private var clients: Set<ClientID> = []
    private var subscriptions: Set<SubscriptionID> = []
    /// The topics of a former state that no member has reported yet. Their streams stay open until all members have.
    private(set) var unreported: Set<TopicID> = []
    /// The windows that are being rebuilt for the next `restart`.
    private var windows: RebuiltWindows?

    init(hub: EventHub) { self.hub = hub }

    mutating func apply(_ changes: [Change], at position: UInt64) {
        let changes = unreported.isEmpty ? changes : changes.map { reported($0) }
        for change in changes { note(change) }
        hub.apply(Self.numbered(changes), at: position)
    }

    /// Returns the change of the hub, which knows the topics of the former state.
    private mutating func reported(_ change: Change) -> Change {
        switch change {
        case .client(let id, .added(let status)):
            guard unreported.remove(.client(id)) != nil, hub.state(of: .client(id))?.changes != [change] else {
                return change
            }
            return .client(id, .event(.status(status)))
        case .subscription(let id, .added(let properties)):
            guard unreported.remove(.subscription(id)) != nil else { return change }
            return .subscription(id, .propertiesChanged(properties))
        case .client(_, .removed), .subscription(_, .removed): unreported.remove(change.topic)
        case .client, .subscription: break
        }
        return change
    }

    private static func numbered(_ changes: [Change]) -> [NumberedChange] {
        changes.enumerated().map { index, change in
            // Only the removal of a large member has more changes than a position has numbers; the last have no events.
            NumberedChange(index: min(UInt16(clamping: index), EventNumber.lastIndex), change: change)
        }
    }

    private mutating func note(_ change: Change) {
        switch change {
        case .client(let id, .added): clients.insert(id)
        case .client(let id, .removed): clients.remove(id)
        case .subscription(let id, .added): subscriptions.insert(id)
        case .subscription(let id, .removed): subscriptions.remove(id)
        case .client, .subscription: break
        }
    }

    /// Begins to rebuild the windows of recent events, from the state at an earlier position on, with the last events up to there.
    mutating func beginWindows(from ledger: ClusterLedger, _ lastEvents: [String: [UInt64]]) {
        let clients = ledger.clients.sorted { $0.key < $1.key }.map { id, client in
            Change.client(ClientID(id), .added(client.status))
        }
        let subscriptions = ledger.subscriptions.sorted { $0.key < $1.key }.flatMap { id, view -> [Change] in
            let id = SubscriptionID(id)
            return [
                .subscription(id, .added(view.properties)),
                .subscription(id, .carried(by: view.carrier.map { ClientID($0) })),
            ]
        }
        windows = RebuiltWindows(
            configuration: hub.configuration,
            epoch: Self.name(of: ledger.epoch),
            topics: clients + subscriptions,
            lastEvents: topics(of: ledger).reduce(into: [:]) { $0[$1.topic] = lastEvents[$1.id] },
            at: ledger.position
        )
    }

    mutating func extendWindows(_ changes: [Change], at position: UInt64, now: Moment) {
        windows?.apply(Self.numbered(changes), at: position, now: now)
    }

    /// Loads the state of a snapshot. Each stream receives one `stream` event with the outcome `gap`, then the state. The topics
    /// that the state does not have lose their values, and are kept until all members have reported (see `removeUnreported`),
    /// or at once, if this member serves its own readers alone.
    ///
    /// - Parameters:
    ///   - kept: The ids of the subscriptions to keep in any case.
    ///   - loading: The state; nil: the epoch is empty.
    ///   - withWindows: Whether the hub has the rebuilt windows from now on.
    mutating func restart(
        _ epoch: UInt64,
        _ position: UInt64,
        _ kept: Set<String>,
        _ loading: ClusterSnapshot?,
        withWindows: Bool,
        isDegraded: Bool
    ) {
        let loadedClients = loading?.ledger.clients ?? [:]
        let loadedSubscriptions = loading?.ledger.subscriptions ?? [:]
        let kept = Set(kept.map { SubscriptionID($0) })
        unreported = []
        for id in subscriptions.union(kept).sorted() where loadedSubscriptions[id.rawValue] == nil {
            let isKept = kept.contains(id)
            if isDegraded, !isKept {
                remove(.subscription(id))
                continue
            }
            hub.adopt(.subscription(id), [])
            hub.take([.subscription(id, .carried(by: nil)), .subscription(id, .activity(isActive: isKept))])
            if !isKept { unreported.insert(.subscription(id)) }
        }
        for (id, view) in loadedClients.sorted(by: { $0.key < $1.key }) {
            let id = ClientID(id)
            hub.adopt(.client(id), [.client(id, .added(view.status))])
            clients.insert(id)
        }
        for (id, view) in loadedSubscriptions.sorted(by: { $0.key < $1.key }) {
            let values = (loading?.tables[id] ?? []).map { SubscriptionChange.event($0) }
            let id = SubscriptionID(id)
            let carried = SubscriptionChange.carried(by: view.carrier.map { ClientID($0) })
            let state = [.added(view.properties), carried] + values + [.activity(isActive: view.isActive)]
            hub.adopt(.subscription(id), state.map { .subscription(id, $0) })
            subscriptions.insert(id)
        }
        for id in clients.sorted() where loadedClients[id.rawValue] == nil {
            if isDegraded { remove(.client(id)) } else { unreported.insert(.client(id)) }
        }
        let rebuilt = withWindows ? windows : nil
        hub.restart(epoch: Self.name(of: epoch), at: position, windows: rebuilt, isDegraded: isDegraded)
        windows = nil
    }

    /// Removes the topics that no member has reported, except for subscriptions to which a local reader was added meanwhile.
    mutating func removeUnreported(except kept: Set<String>) {
        for topic in unreported {
            if case .subscription(let id) = topic, kept.contains(id.rawValue) { continue }
            remove(topic)
        }
        unreported = []
    }

    /// Removes a subscription that the log does not have, unless a member may still report it.
    mutating func forget(_ id: SubscriptionID) {
        if !unreported.contains(.subscription(id)) { remove(.subscription(id)) }
    }

    private mutating func remove(_ topic: TopicID) {
        let change: Change =
            switch topic {
            case .client(let id): .client(id, .removed)
            case .subscription(let id): .subscription(id, .removed)
            }
        note(change)
        hub.take(change)
    }

    /// The epoch as text in ids.
    static func name(of epoch: UInt64) -> String { "e" + String(epoch, radix: 36) }

    /// The epoch of a name; nil for other text.
    static func epoch(of name: String) -> UInt64? { name.hasPrefix("e") ? UInt64(name.dropFirst(), radix: 36) : nil }

    /// For each subscribed subscription, the events that change an empty table to its present state; for each inactive one that
    /// the server has refused or removed, the failure.
    func tables(of ledger: ClusterLedger) -> [String: [SubscriptionEvent]] {
        var tables: [String: [SubscriptionEvent]] = [:]
        for (id, view) in ledger.subscriptions where view.layout != nil || !view.isActive {
            let events = hub.state(of: .subscription(SubscriptionID(id)))?.changes.compactMap { change in
                if case .subscription(_, .event(let event)) = change { event } else { nil }
            }
            if let events, !events.isEmpty { tables[id] = events }
        }
        return tables
    }

    /// The last events of the topics of a ledger up to its position.
    func lastEvents(of ledger: ClusterLedger) -> [String: [UInt64]] {
        topics(of: ledger).reduce(into: [:]) { lastEvents, entry in
            // The hub keeps ended subscriptions with local readers, and their clients.
            lastEvents[entry.id] = hub.lastEvents(of: entry.topic, through: ledger.position) { member in
                ledger.subscriptions[member.rawValue]?.carrier == entry.id
            }
        }
    }

    private func topics(of ledger: ClusterLedger) -> [(id: String, topic: TopicID)] {
        ledger.clients.keys.map { ($0, .client(ClientID($0))) }
            + ledger.subscriptions.keys.map { ($0, .subscription(SubscriptionID($0))) }
    }
}

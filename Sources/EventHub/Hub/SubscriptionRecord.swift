internal import SessionCore

/// What the hub knows of a subscription resource.
struct SubscriptionRecord: Sendable {
    /// What it is.
    let properties: SubscriptionProperties
    /// Its events.
    let channel: Channel
    /// Its present values, for those who join.
    var table: ValueTable
    /// Whether it is active.
    var isActive = false
    /// The client that carries it.
    var client: String?
    /// The streams that have it as a source.
    var streams: Set<String> = []

    /// The present state as a joiner is told it. In MERGE mode, too, the end of the snapshot is told: the server sends
    /// none there, but a joiner has to know when it has all there is.
    var presentState: [SubscriptionEvent] {
        let state = table.presentState()
        guard properties.mode == .merge else { return state }
        return state.flatMap { event -> [SubscriptionEvent] in
            guard case .update(let update) = event else { return [event] }
            return [event, .endOfSnapshot(itemPos: update.itemPos)]
        }
    }
}

/// The data adapter that `MPNREG` names, with the state of devices for push notifications. After a registration, client libraries
/// subscribe to the adapter and report the outcome from its data.
///
/// `DEV-` with the identifier of a device (MERGE): the status. `SUBS-` with the identifier (COMMAND): no push subscriptions.
struct DeviceFeed: Feed {
    static let adapter = "MPN_INTERNAL_DATA_ADAPTER"

    let fields = ["status", "status_timestamp", "key", "command"]

    /// Milliseconds since 1970.
    let activeSince: Int64

    func item(named name: String) -> FeedItem? {
        if name.hasPrefix("DEV-") { return FeedItem(mode: .merge) }
        return name.hasPrefix("SUBS-") ? FeedItem(mode: .command) : nil
    }

    func snapshot(of name: String) -> FeedSnapshot {
        guard name.hasPrefix("DEV-") else { return FeedSnapshot(rows: []) }
        return FeedSnapshot(rows: [FeedRow(values: ["ACTIVE", String(activeSince), nil, nil])])
    }
}

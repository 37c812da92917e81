/// The present values of one subscription: a mirror fed with its events, in order.
///
/// It answers the getters of a `Subscription` and tells a late joiner the present state. A value: a copy is a snapshot
/// that costs nothing until one of the two changes. Applying an update costs O(1).
package struct ValueTable: Sendable {
    /// What names the items, fields and levels of the subscription.
    package let properties: SubscriptionProperties
    /// Whether the last of `subscribed`, `unsubscribed` and `failed` was `subscribed`.
    package private(set) var isSubscribed = false
    /// The number of items that the server told; nil while not subscribed.
    package private(set) var itemCount: Int?
    /// The number of first-level fields that the server told; nil while not subscribed.
    package private(set) var fieldCount: Int?
    /// COMMAND only: the 1-based position of the key field; nil while not subscribed.
    package private(set) var keyPosition: Int?
    /// COMMAND only: the 1-based position of the command field; nil while not subscribed.
    package private(set) var commandPosition: Int?
    /// The frequency limit told last; nil while not subscribed or unknown.
    package private(set) var realMaxFrequency: RealMaxFrequency?
    /// The names and positions that the last update was told with; nil before the first one of a subscription cycle.
    package private(set) var layout: SubscriptionLayout?

    var items: [ValueTableItem] = []
    private let recentLimit: Int

    /// An empty table. `recentRows` bounds how many past rows of an item are kept for late joiners in DISTINCT mode;
    /// a smaller requested snapshot length bounds them further, and without a requested snapshot it is one.
    package init(properties: SubscriptionProperties, recentRows: Int = 100) {
        self.properties = properties
        recentLimit =
            switch (properties.mode, properties.requestedSnapshot) {
            case (.distinct, .yes): recentRows
            case (.distinct, .length(let length)): min(length, recentRows)
            case (.distinct, .no), (.distinct, nil): min(1, recentRows)
            case (.merge, _), (.raw, _), (.command, _): 0
            }
    }

    // MARK: - Events

    /// Takes in an event of the subscription; `now` is what `changedAt` will tell of the item.
    package mutating func apply(_ event: SubscriptionEvent, at now: Moment = .zero) {
        switch event {
        case .subscribed(let itemCount, let fieldCount, let keyPosition, let commandPosition):
            clear()
            isSubscribed = true
            self.itemCount = itemCount
            self.fieldCount = fieldCount
            self.keyPosition = keyPosition
            self.commandPosition = commandPosition
        case .unsubscribed, .failed:
            clear()
        case .update(let update):
            layout = update.layout
            withItem(update.itemPos) { $0.apply(update, at: now) }
        case .endOfSnapshot(let itemPos):
            withItem(itemPos) { $0.snapshotEnded = true }
        case .clearSnapshot(let itemPos):
            withItem(itemPos) { $0.clearSnapshot(at: now) }
        case .realMaxFrequency(let frequency):
            realMaxFrequency = frequency
        case .lostUpdates, .secondLevelFailed, .secondLevelLostUpdates:
            break
        }
    }

    private mutating func clear() {
        items.removeAll()
        isSubscribed = false
        itemCount = nil
        fieldCount = nil
        keyPosition = nil
        commandPosition = nil
        realMaxFrequency = nil
        layout = nil
    }

    private mutating func withItem(_ position: Int, _ body: (inout ValueTableItem) -> Void) {
        guard position >= 1, position <= SubscriptionLimits.maxItemCount else { return }
        while items.count < position { items.append(ValueTableItem(recentLimit: recentLimit)) }
        body(&items[position - 1])
    }
}

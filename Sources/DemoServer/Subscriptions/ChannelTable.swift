internal import TLCP

/// The channels of all sessions, by item.
struct ChannelTable: Sendable {
    struct Item: Sendable, Hashable {
        private let feed: FeedDirectory.Index
        private let name: UpstreamName

        init(feed: FeedDirectory.Index, name: String) { (self.feed, self.name) = (feed, UpstreamName(name)) }
    }

    struct Entry: Sendable, Hashable {
        var session: SessionHandle
        var channel: ChannelReference
    }

    private var entries: [Item: [Entry]] = [:]
    private(set) var count = 0

    /// The channels of an item, oldest first.
    func entries(for item: Item) -> [Entry] { entries[item] ?? [] }

    mutating func add(_ subscription: DemoSubscription, of session: SessionHandle) {
        count += subscription.channels.count
        for (index, channel) in subscription.channels.enumerated() {
            let reference = ChannelReference(subscription: subscription.id, index: index)
            entries[Item(feed: subscription.plan.feed, name: channel.name), default: []]
                .append(Entry(session: session, channel: reference))
        }
    }

    mutating func remove(_ subscription: DemoSubscription, of session: SessionHandle) {
        count -= subscription.channels.count
        for item in Set(subscription.channels.map { Item(feed: subscription.plan.feed, name: $0.name) }) {
            entries[item]?.removeAll { $0.session == session && $0.channel.subscription == subscription.id }
            if entries[item]?.isEmpty == true { entries[item] = nil }
        }
    }
}

/// Who gets the events of an item.
struct RouteTable: Sendable {
    /// One item of one feed.
    struct Item: Sendable, Hashable {
        /// The feed.
        var feed: FeedDirectory.Index
        /// The item's name.
        var name: String
    }

    /// One channel of one session.
    struct Route: Sendable, Hashable {
        /// The session.
        var session: SessionHandle
        /// The channel.
        var channel: ChannelReference
    }

    private var routes: [Item: [Route]] = [:]
    /// Number of channels.
    private(set) var count = 0

    /// The channels that show an item, in the order in which they were opened.
    func routes(to item: Item) -> [Route] { routes[item] ?? [] }

    /// Adds the channels of a subscription.
    mutating func add(_ subscription: DemoSubscription, of session: SessionHandle) {
        count += subscription.channels.count
        for (index, channel) in subscription.channels.enumerated() {
            let reference = ChannelReference(subscription: subscription.id, index: index)
            routes[Item(feed: subscription.plan.feed, name: channel.name), default: []]
                .append(Route(session: session, channel: reference))
        }
    }

    /// Takes the channels of a subscription away.
    mutating func remove(_ subscription: DemoSubscription, of session: SessionHandle) {
        count -= subscription.channels.count
        for name in Set(subscription.channels.map(\.name)) {
            let item = Item(feed: subscription.plan.feed, name: name)
            routes[item]?.removeAll { $0.session == session && $0.channel.subscription == subscription.id }
            if routes[item]?.isEmpty == true { routes[item] = nil }
        }
    }
}

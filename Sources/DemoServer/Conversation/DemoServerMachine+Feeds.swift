extension DemoServerMachine {
    /// A feed is driven by hand.
    package mutating func published(_ order: FeedRequest, to adapter: String, at now: Duration) -> [ServerAction] {
        context.now = now
        publish(feeds.ordered(order, to: adapter))
        return settle()
    }

    /// Hands events to every channel that shows their items.
    mutating func publish(_ events: [(feed: FeedDirectory.Index, event: FeedEvent)]) {
        for (feed, event) in events {
            for route in routes.routes(to: RouteTable.Item(feed: feed, name: event.item)) {
                sessions[route.session]?.offer(event, to: route.channel, &context)
            }
        }
    }
}

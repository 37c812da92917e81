internal import Changes
internal import SessionCore
internal import SessionPool

extension Services {
    /// The types of the values of the subscriptions that a stream has joined by the name of a feed.
    func types(of joined: [String: JoinedSubscription], typed: Set<SubscriptionID>) -> FieldTypes {
        let (feeds, defaultUpstream) = (configuration.feeds, configuration.pool.defaultUpstream?.name)
        var types: FieldTypes = [:]
        for (id, subscription) in joined where typed.contains(SubscriptionID(id)) {
            let feed = feeds.first { feed in
                (feed.upstream ?? defaultUpstream) == subscription.upstream && feed.covers(subscription.properties)
            }
            guard let feed, let names = subscription.properties.fields.names else { continue }
            types[SubscriptionID(id)] = names.map(feed.type)
        }
        return types
    }
}

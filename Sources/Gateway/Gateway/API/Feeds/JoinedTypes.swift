internal import Changes
internal import SessionCore
internal import SessionPool

extension Services {
    /// The types of the values of the subscriptions that a stream has joined, as far as feeds describe them.
    func types(of joined: [String: JoinedSubscription]) -> FieldTypes {
        let (feeds, defaultUpstream) = (configuration.feeds, configuration.pool.defaultUpstream?.name)
        var types: FieldTypes = [:]
        for (id, subscription) in joined {
            let feed = feeds.first { feed in
                (feed.upstream ?? defaultUpstream) == subscription.upstream && feed.covers(subscription.properties)
            }
            guard let feed, let names = subscription.properties.fields.names else { continue }
            types[SubscriptionID(id)] = names.map(feed.type)
        }
        return types
    }
}

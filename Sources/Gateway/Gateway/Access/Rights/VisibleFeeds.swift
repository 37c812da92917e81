internal import SessionCore
internal import SessionPool

/// The feeds that need no credentials, and those that a caller sees.
struct VisibleFeeds: Sendable {
    private let feeds: [FeedConfiguration]
    private let defaultUpstream: String?

    init(_ configuration: GatewayConfiguration) {
        feeds = configuration.feeds
        defaultUpstream = feeds.isEmpty ? nil : configuration.pool.defaultUpstream?.name
    }

    /// Whether a subscription has data of one public feed only.
    func makePublic(_ properties: SubscriptionProperties, of upstream: String) -> Bool {
        feeds.contains { $0.isPublic && isData($0, properties, of: upstream) }
    }

    /// Whether rights that list feeds permit a subscription: it has data of one of these feeds only.
    func permit(_ properties: SubscriptionProperties, of upstream: String, to rights: Rights) -> Bool {
        rights.feeds == nil
            || feeds.contains { rights.covers(feed: $0.name) && isData($0, properties, of: upstream) }
    }

    /// Whether rights that list feeds permit an upstream: one of these feeds has its data.
    func permit(upstream name: String, to rights: Rights) -> Bool {
        rights.feeds == nil || feeds.contains { rights.covers(feed: $0.name) && upstream(of: $0) == name }
    }

    private func isData(_ feed: FeedConfiguration, _ properties: SubscriptionProperties, of upstream: String) -> Bool {
        self.upstream(of: feed) == upstream && feed.covers(properties)
    }

    private func upstream(of feed: FeedConfiguration) -> String? { feed.upstream ?? defaultUpstream }

    /// Whether a caller with these rights sees a feed: public feeds, and those whose name, upstream, adapter and at least one
    /// item the rights cover.
    func shows(_ feed: FeedConfiguration, to rights: Rights) -> Bool {
        if feed.isPublic { return true }
        guard rights.covers(feed: feed.name), let upstream = upstream(of: feed), rights.covers(upstream: upstream),
            !rights.operations.isDisjoint(with: [.read, .subscribe])
        else { return false }
        guard let items = feed.itemNames else { return rights.covers(feed.properties(items: [], fields: [])) }
        return items.contains { rights.covers(feed.properties(items: [$0], fields: [])) }
    }
}

extension Permissions {
    func sees(_ feed: FeedConfiguration) -> Bool { feeds.shows(feed, to: caller.rights) }

    /// Whether values of a feed may be read: it is public, or it is visible and the caller may join subscriptions.
    func mayRead(_ feed: FeedConfiguration) -> Bool {
        feed.isPublic || (sees(feed) && caller.rights.operations.contains(.subscribe))
    }
}

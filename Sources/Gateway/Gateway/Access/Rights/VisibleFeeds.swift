internal import SessionCore
internal import SessionPool

/// The feeds that need no credentials, and those that a caller sees.
struct VisibleFeeds: Sendable {
    private let feeds: [FeedConfiguration]
    private let defaultUpstream: String?

    /// The feeds of a configuration.
    init(_ configuration: GatewayConfiguration) {
        feeds = configuration.feeds
        defaultUpstream = feeds.isEmpty ? nil : configuration.pool.defaultUpstream?.name
    }

    /// Whether a subscription has data of one public feed only.
    func makePublic(_ properties: SubscriptionProperties, of upstream: String) -> Bool {
        feeds.contains { feed in
            feed.isPublic && (feed.upstream ?? defaultUpstream) == upstream && feed.covers(properties)
        }
    }

    /// Whether a caller with these rights sees a feed: it is public, or the rights cover its upstream and one of its items.
    func shows(_ feed: FeedConfiguration, to rights: Rights) -> Bool {
        if feed.isPublic { return true }
        guard let upstream = feed.upstream ?? defaultUpstream, rights.covers(upstream: upstream),
            !rights.operations.isDisjoint(with: [.read, .subscribe])
        else { return false }
        guard let items = feed.itemNames else { return true }
        return items.contains { rights.covers(feed.properties(items: [$0], fields: [])) }
    }
}

extension Permissions {
    /// Whether a feed is visible.
    func sees(_ feed: FeedConfiguration) -> Bool { feeds.shows(feed, to: caller.rights) }
}

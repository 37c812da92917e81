/// All data adapters of the adapter set, by name.
struct FeedDirectory: Sendable {
    /// Stands for one feed; two names may lead to the same one.
    typealias Index = Int

    private var feeds: [any Feed] = []
    private var names: [String: Index] = [:]

    /// Opens the built-in feeds and those driven by hand; the latter win where names are equal.
    ///
    /// - Parameters:
    ///   - clockStart: Milliseconds since 1970 at the server's time zero.
    init(_ configuration: DemoServerConfiguration, clockStart: Int64) {
        let feeds = configuration.feeds
        let seed = configuration.seed
        add(QuoteFeed(feeds, seed: seed, clockStart: clockStart), named: "DEFAULT", "QUOTE_ADAPTER")
        add(PortfolioFeed(feeds, seed: seed), named: "PORTFOLIO_ADAPTER")
        add(ChatFeed(clockStart: clockStart), named: "CHAT_ROOM")
        add(RawFeed(feeds, seed: seed, clockStart: clockStart), named: "RAW_FEED")
        add(DocumentFeed(feeds, seed: seed, clockStart: clockStart), named: "JSON_FEED")
        for (name, manual) in configuration.manualFeeds.sorted(by: { $0.key < $1.key }) {
            add(ManualFeed(manual, remembered: configuration.limits.bufferSize), named: name)
        }
    }

    private mutating func add(_ feed: some Feed, named names: String...) {
        for name in names { self.names[name] = feeds.count }
        feeds.append(feed)
    }

    /// The feed of a data adapter; nil if there is none of that name.
    func index(named name: String) -> Index? { names[name] }

    /// The field names of a feed.
    func fields(of index: Index) -> [String] { feeds[index].fields }

    /// What an item of a feed is; nil if it has no such item.
    func item(_ name: String, of index: Index) -> FeedItem? { feeds[index].item(named: name) }

    /// The present state of an item.
    func snapshot(of name: String, in index: Index) -> FeedSnapshot { feeds[index].snapshot(of: name) }

    /// The instant at which some feed changes by itself.
    var nextChange: Duration? {
        mutating get {
            var earliest: Duration?
            for index in feeds.indices {
                guard let change = feeds[index].nextChange else { continue }
                earliest = min(earliest ?? change, change)
            }
            return earliest
        }
    }

    /// What happened in all feeds up to an instant; per feed in order.
    mutating func advance(to now: Duration) -> [(feed: Index, event: FeedEvent)] {
        feeds.indices.flatMap { index in
            feeds[index].advance(to: now).map { (index, $0) }
        }
    }

    /// Publishes a message to all subscribers of the chat.
    mutating func said(_ text: String, from address: String, at now: Duration) -> [(feed: Index, event: FeedEvent)] {
        feeds.indices.flatMap { index in
            feeds[index].said(text, from: address, at: now).map { (index, $0) }
        }
    }

    /// A feed is driven by hand; feeds that go by themselves and unknown ones do nothing.
    mutating func ordered(_ order: FeedRequest, to adapter: String) -> [(feed: Index, event: FeedEvent)] {
        guard let index = names[adapter] else { return [] }
        return feeds[index].ordered(order).map { (index, $0) }
    }
}

/// What the built-in feeds publish and how fast.
package struct FeedConfiguration: Sendable, Hashable {
    /// Bounds of the random pause between two updates of one quote item.
    package var quotePause = Duration.milliseconds(200)...Duration.seconds(2)

    /// Bounds of the random pause between two changes of the portfolio.
    package var portfolioPause = Duration.seconds(1)...Duration.seconds(4)

    /// Bounds of the random pause between two events of the raw feed.
    package var rawPause = Duration.milliseconds(300)...Duration.seconds(1)

    /// Bounds of the random pause between two changes of a JSON document.
    package var documentPause = Duration.milliseconds(500)...Duration.seconds(2)

    /// Whether the built-in feeds change at all; a still server serves snapshots and what clients and tests publish.
    package var isMoving = true

    /// Greatest number of updates per second and item that the quote feed allows; nil sets no limit.
    ///
    /// With a limit, `unfiltered` subscriptions to quotes are refused with code 26.
    package var quoteFrequencyLimit: Double?

    /// Diff formats that the feeds ask for: JSON Patch for JSON documents, TLCP-diff for long texts.
    package var diffs = true

    /// The demo's speed.
    package init() {}
}

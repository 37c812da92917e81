/// All data adapters of the adapter set, by name.
struct FeedDirectory: Sendable {
    /// The index of a feed; several names may have the same one.
    typealias Index = Int

    private var feeds: [any Feed] = []
    private var names: [String: Index] = [:]
    private var replay: ReplayTimeline?
    private var replayed: Set<Index> = []

    /// The built-in feeds and the manual ones; a manual feed replaces a built-in one of the same name. With a replay there are
    /// only the manual feeds, which have the data of the replay, and the feed of push devices.
    /// `clockStart`: milliseconds since 1970 at the server's time zero.
    init(_ configuration: DemoServerConfiguration, clockStart: Int64) {
        if configuration.replay == nil { addGenerated(configuration, clockStart: clockStart) }
        if configuration.mobilePush == .devicesOnly {
            add(DeviceFeed(activeSince: clockStart), named: DeviceFeed.adapter)
        }
        for (name, manual) in configuration.manualFeeds.sorted(by: { $0.key < $1.key }) {
            add(ManualFeed(manual, remembered: configuration.limits.bufferSize), named: name)
        }
        guard let replay = configuration.replay else { return }
        replayed = Set(configuration.manualFeeds.keys.compactMap { names[$0] })
        var timeline = ReplayTimeline(replay)
        while let event = timeline.pastEvent() { _ = requested(event.request, to: event.adapter) }
        self.replay = timeline
    }

    /// Somebody has subscribed to a feed: a replay starts with the first subscription to one of its feeds.
    mutating func subscribed(to index: Index, at now: Duration) {
        if replayed.contains(index) { replay?.start(at: now) }
    }

    /// Adds the feeds whose data are made by the seed, and the chat.
    private mutating func addGenerated(_ configuration: DemoServerConfiguration, clockStart: Int64) {
        let feeds = configuration.feeds
        let seed = configuration.seed
        add(QuoteFeed(feeds, seed: seed, clockStart: clockStart), named: "DEFAULT", "QUOTE_ADAPTER")
        add(PortfolioFeed(feeds, seed: seed), named: "PORTFOLIO_ADAPTER")
        add(ChatFeed(clockStart: clockStart), named: "CHAT_ROOM")
        add(RawFeed(feeds, seed: seed, clockStart: clockStart), named: "RAW_FEED")
        add(DocumentFeed(feeds, seed: seed, clockStart: clockStart), named: "JSON_FEED")
    }

    private mutating func add(_ feed: some Feed, named names: String...) {
        for name in names { self.names[name] = feeds.count }
        feeds.append(feed)
    }

    /// The feed of a data adapter; nil if there is none of that name.
    func index(named name: String) -> Index? { names[name] }

    func fields(of index: Index) -> [String] { feeds[index].fields }

    /// The description of an item of a feed; nil if it has no such item.
    func item(_ name: String, of index: Index) -> FeedItem? { feeds[index].item(named: name) }

    func snapshot(of name: String, in index: Index) -> FeedSnapshot { feeds[index].snapshot(of: name) }

    /// The instant of the next change of any feed; nil if none changes with time.
    var nextChange: Duration? {
        mutating get {
            var earliest: Duration?
            for index in feeds.indices {
                guard let change = feeds[index].nextChange else { continue }
                earliest = min(earliest ?? change, change)
            }
            if let change = replay?.nextChange { earliest = min(earliest ?? change, change) }
            return earliest
        }
    }

    /// The events of all feeds up to an instant; in order within each feed.
    mutating func advance(to now: Duration) -> [(feed: Index, event: FeedEvent)] {
        let events = feeds.indices.flatMap { index in
            feeds[index].advance(to: now).map { (index, $0) }
        }
        let replayed = replay?.advance(to: now) ?? []
        return events + replayed.flatMap { requested($0.request, to: $0.adapter) }
    }

    /// The events of a chat message of a client.
    mutating func received(_ text: String, from address: String, at now: Duration) -> [(feed: Index, event: FeedEvent)]
    {
        feeds.indices.flatMap { index in
            feeds[index].received(text, from: address, at: now).map { (index, $0) }
        }
    }

    /// The events of a request to a feed; none for an unknown feed, item or command.
    mutating func requested(_ request: FeedRequest, to adapter: String) -> [(feed: Index, event: FeedEvent)] {
        guard let index = names[adapter] else { return [] }
        return feeds[index].requested(request).map { (index, $0) }
    }
}

/// Rates and content of the built-in feeds.
package struct FeedConfiguration: Sendable, Hashable {
    /// Bounds of the random pause between two updates of one quote item.
    package var quotePause = Duration.milliseconds(200)...Duration.seconds(2)
    /// Bounds of the random pause between two changes of the portfolio.
    package var portfolioPause = Duration.seconds(1)...Duration.seconds(4)
    /// Bounds of the random pause between two events of the raw feed.
    package var rawPause = Duration.milliseconds(300)...Duration.seconds(1)
    /// Bounds of the random pause between two changes of a JSON document.
    package var documentPause = Duration.milliseconds(500)...Duration.seconds(2)
    /// Whether the built-in feeds change; otherwise the server sends only snapshots, chat messages and events of manual
    /// feeds.
    package var isMoving = true
    /// Greatest frequency of the quote feed, in updates per second and item; nil sets no limit.
    ///
    /// With a limit, `unfiltered` subscriptions to quotes are refused with code 26.
    package var quoteFrequencyLimit: Double?
    /// Whether feeds use diff formats: JSON Patch for JSON documents, TLCP-diff for long texts.
    package var diffs = true

    /// The rates of the public demos.
    package init() {}
}

internal import Changes
internal import JSONText
internal import SessionCore

extension Settings {
    /// The settings of each feed; `*` is its name. In `feeds.*.fields.*` the second `*` is the name of a field.
    static let feeds: [Setting] = {
        let feed = SettingGroup("feeds.*.", each: \.feeds, \.name) { FeedConfiguration(name: $1) }
        return descriptions(feed) + subscriptions(feed) + contents(feed)
    }()

    private typealias FeedGroup = SettingGroup<FeedConfiguration>

    private static func descriptions(_ feed: FeedGroup) -> [Setting] {
        [
            feed.text("title", "text", \.title).means("The name of the feed for people."),
            feed.text("description", "text", \.description).means("What the data of the feed is."),
        ]
    }

    private static func subscriptions(_ feed: FeedGroup) -> [Setting] {
        [
            feed.text("upstream", "a name", \.upstream, default: "the default upstream")
                .means("The upstream of the feed."),
            feed.text("dataAdapter", "a name", \.dataAdapter, default: "the server's DEFAULT")
                .means("The data adapter."),
            feed.choice("mode", \.mode).means("The mode of subscriptions."),
            feed.text("selector", "a name", \.selector).means("The selector of subscriptions."),
            feed.setting("snapshot", .text("yes, no, or a length in DISTINCT mode")) { _ in
                "yes, except in RAW mode"
            } apply: { feed, text throws(SettingError) in
                guard let snapshot = RequestedSnapshot(json: .string(text)) else {
                    throw SettingError(rule: "must be yes, no or a number of updates")
                }
                feed.snapshot = snapshot
            }
            .means("The requested snapshot."),
            feed.setting("maxFrequency", .number("updates a second, unlimited, unfiltered")) { _ in
                "none"
            } apply: { feed, text throws(SettingError) in
                guard let frequency = RequestedMaxFrequency(json: .string(text)) else {
                    throw SettingError(rule: "must be a number of updates a second, unlimited or unfiltered")
                }
                feed.maxFrequency = frequency
            }
            .means("The requested frequency."),
        ]
    }

    private static func contents(_ feed: FeedGroup) -> [Setting] {
        let types = FieldType.allCases.map(\.rawValue).joined(separator: ", ")
        return [
            feed.setting("items", .list(of: "NAME, NAME=DESCRIPTION or a pattern such as item{1…30}")) {
                SettingValue.text($0.items.map(\.pattern))
            } apply: { feed, text throws(SettingError) in
                let expectation = "an item, or a range of at most \(FeedItem.most) numbers without leading zeros"
                feed.items = try SettingValue.elements(text, expectation, FeedItem.init)
            }
            .means("The items of the feed; none: any item."),
            Setting(
                "feeds.*.fields.*",
                .text("TYPE, TYPE UNIT, each with a description after a comma"),
                effect: .reload,
                text: { _ in "none" },
                apply: { all, name, text throws(SettingError) in
                    let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
                    guard let field = FeedField(parts.last ?? "", text) else {
                        throw SettingError(rule: "must begin with one of \(types)")
                    }
                    try feed.change(&all, parts[0]) { $0.fields.append(field) }
                }
            )
            .means("A field of the feed; the types are \(types)."),
            feed.flag("public", \.isPublic).means("Whether callers need no credentials for the feed."),
        ]
    }
}

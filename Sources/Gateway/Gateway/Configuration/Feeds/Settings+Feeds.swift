internal import Changes
internal import JSONText
package import SessionCore

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
            feed.setting("mode", .choice(SubscriptionMode.allCases.map(\.rawValue))) {
                $0.mode.rawValue
            } apply: { feed, text throws(SettingError) in
                feed.mode = try SettingValue.choice(text)
            }
            .means("The mode of subscriptions."),
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

extension GatewayConfiguration {
    /// Puts the feeds into the order of the keys that describe them, and behind them those that other sources name. Each
    /// setting is applied to all feeds before the next one, so that the feeds are made in the order of the settings.
    mutating func orderFeeds(by keys: [String], _ names: [String]) {
        let described = keys.filter { $0.hasPrefix("feeds.") }.compactMap { key in
            key.split(separator: ".").dropFirst().first.map(String.init)
        }
        let places = Dictionary((described + names).enumerated().map { ($1, $0) }) { first, _ in first }
        feeds.sort { places[$0.name, default: .max] < places[$1.name, default: .max] }
    }

    var feedMistakes: [(key: String, rule: String)] {
        feeds.flatMap { feed -> [(key: String, rule: String)] in
            let key = "feeds.\(feed.name)"
            var mistakes: [(key: String, rule: String)] = []
            if let upstream = feed.upstream {
                if !pool.upstreams.contains(where: { $0.name == upstream }) {
                    mistakes.append((key + ".upstream", "names no configured upstream"))
                }
            } else if pool.defaultUpstream == nil {
                mistakes.append((key + ".upstream", "is required, because no upstream is the default"))
            }
            if feed.fields.isEmpty { mistakes.append((key + ".fields", "must have at least one field")) }
            for conflict in ModeConflict.all(in: feed.properties(items: feed.itemNames ?? [], fields: feed.fieldNames))
            {
                mistakes.append((key + ".\(conflict.settingName)", conflict.rule))
            }
            return mistakes + typeConflicts(of: feed).map { (key + ".fields.\($0.field)", $0.rule) }
        }
    }

    /// The fields of a feed that have another type in an earlier feed of the same data. A stream reads a subscription
    /// with one type for each field, whichever feed it names.
    private func typeConflicts(of feed: FeedConfiguration) -> [(field: String, rule: String)] {
        let earlier = feeds.prefix { $0.name != feed.name }.filter { other in
            (other.upstream ?? pool.defaultUpstream?.name) == (feed.upstream ?? pool.defaultUpstream?.name)
                && other.dataAdapter == feed.dataAdapter && other.mode == feed.mode && other.selector == feed.selector
                && other.sharesItems(with: feed)
        }
        return feed.fields.compactMap { field in
            let other = earlier.first { $0.field(field.name).map { $0.type != field.type } ?? false }
            return other.map { (field.name, "has another type in the feed \($0.name), which has the same items") }
        }
    }
}

extension ModeConflict {
    /// The member of a feed that has the property.
    fileprivate var settingName: String {
        switch property {
        case "requestedSnapshot": "snapshot"
        case "requestedMaxFrequency": "maxFrequency"
        default: property
        }
    }
}

extension FeedConfiguration {
    /// The properties of a subscription to some items and fields of the feed.
    func properties(items: [String], fields: [String]) -> SubscriptionProperties {
        var properties = SubscriptionProperties(mode: mode, items: .list(items), fields: .list(fields))
        properties.dataAdapter = dataAdapter
        properties.selector = selector
        if let snapshot { properties.requestedSnapshot = snapshot }
        properties.requestedMaxFrequency = maxFrequency
        return properties
    }

    /// The properties of a subscription to the first item; nil for a feed of any items.
    package var probe: SubscriptionProperties? {
        itemNames?.first.map { properties(items: [$0], fields: fieldNames) }
    }

    fileprivate func sharesItems(with other: FeedConfiguration) -> Bool {
        guard let names = itemNames, let others = other.itemNames else { return true }
        return !Set(names).isDisjoint(with: others)
    }

    /// Whether a subscription has no data beyond that of the feed.
    func covers(_ properties: SubscriptionProperties) -> Bool {
        guard properties.mode == mode, properties.dataAdapter.hasSameBytes(as: dataAdapter),
            properties.selector.hasSameBytes(as: selector), properties.secondLevelFields == nil,
            case .list(let items) = properties.items, case .list(let fields) = properties.fields
        else { return false }
        return items.allSatisfy(has) && fields.allSatisfy { field($0) != nil }
    }
}

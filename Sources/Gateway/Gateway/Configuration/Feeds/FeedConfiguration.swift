package import Changes
internal import JSONText
package import SessionCore

/// A feed: a name for data of an upstream, with the properties that its subscriptions have, its items and its fields.
package struct FeedConfiguration: Sendable, Equatable {
    /// The name that requests use.
    package let name: String
    /// A short name for people; nil: none.
    package var title: String?
    package var description: String?
    /// The upstream; nil: the default one.
    package var upstream: String?
    /// The data adapter; nil: the server's default.
    package var dataAdapter: String?
    package var mode = SubscriptionMode.merge
    package var selector: String?
    /// The items; empty: any.
    package var items: [FeedItem] = [] {
        didSet { knownItems = Set(items.lazy.flatMap(\.names).map { Array($0.utf8) }) }
    }
    /// The names of all items, as bytes: requests look up tens of thousands.
    private var knownItems: Set<[UInt8]> = []
    /// The fields in their order.
    package var fields: [FeedField] = []
    /// The requested snapshot; nil: the default of the mode.
    package var snapshot: RequestedSnapshot?
    package var maxFrequency: RequestedMaxFrequency?
    /// Whether callers need no credentials for the feed.
    package var isPublic = false

    /// A feed of any items without fields.
    package init(name: String) { self.name = name }

    /// The names of all items; nil for a feed of any items.
    package var itemNames: [String]? { items.isEmpty ? nil : items.flatMap(\.names) }

    package var fieldNames: [String] { fields.map(\.name) }

    /// Whether the feed has an item. As for the server, names are equal if their bytes are.
    package func has(item: String) -> Bool { items.isEmpty || knownItems.contains(Array(item.utf8)) }

    /// The field of a name; nil if there is none.
    package func field(_ name: String) -> FeedField? { fields.first { $0.name.hasSameBytes(as: name) } }

    /// The type of the field of a name; fields that the feed does not describe are strings.
    package func type(of field: String) -> FieldType { self.field(field)?.type ?? .string }

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
        items.isEmpty || other.items.isEmpty || !knownItems.isDisjoint(with: other.knownItems)
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

package struct FeedItem: Sendable, Equatable {
    /// The most items that one pattern stands for.
    package static let most = 10_000

    /// The item, or a pattern with a range of numbers, such as `item{1…30}`, whose dots are one character.
    package let pattern: String
    package let description: String?
    /// The names that the pattern stands for.
    package let names: [String]

    /// Reads `PATTERN` or `PATTERN=DESCRIPTION`; nil for a range that does not end, is empty or has more than `most`
    /// numbers, for a bound with leading zeros, for a second range, and for a name that is no item.
    package init?(_ text: String) {
        let parts = text.split(separator: "=", maxSplits: 1).map { String($0.trimmed) }
        guard let text = parts.first, let (pattern, names) = Self.expanded(text) else { return nil }
        self.pattern = pattern
        self.names = names
        description = parts.count > 1 ? parts[1] : nil
    }

    private static func expanded(_ text: String) -> (pattern: String, names: [String])? {
        guard let open = text.firstIndex(of: "{") else { return NameRule.item.admits(text) ? (text, [text]) : nil }
        guard let close = text[open...].firstIndex(of: "}") else { return nil }
        let range = text[text.index(after: open)..<close].replacing("...", with: "…").replacing("..", with: "…")
        let bounds = range.split(separator: "…", omittingEmptySubsequences: false).map(Self.number)
        guard bounds.count == 2, let first = bounds[0], let last = bounds[1], last >= first, last - first < most else {
            return nil
        }
        let (start, end) = (text[..<open], text[close...].dropFirst())
        let names = (first...last).map { "\(start)\($0)\(end)" }
        guard !end.contains("{"), names.allSatisfy(NameRule.item.admits) else { return nil }
        return ("\(start){\(range)}\(end)", names)
    }

    /// The number that the names of a range have as the text has it; nil for a sign and for leading zeros.
    private static func number(_ text: Substring) -> Int? {
        guard let number = Int(text), number >= 0, "\(number)" == text else { return nil }
        return number
    }
}

package struct FeedField: Sendable, Equatable {
    package let name: String
    package let type: FieldType
    package let unit: String?
    package let description: String?

    /// Reads `TYPE`, `TYPE UNIT`, and either with `, DESCRIPTION`; nil for an unknown type.
    package init?(_ name: String, _ text: String) {
        let parts = text.split(separator: ",", maxSplits: 1).map { String($0.trimmed) }
        let words = (parts.first ?? "").split(separator: " ", maxSplits: 1).map(String.init)
        guard let type = words.first.flatMap(FieldType.init(rawValue:)) else { return nil }
        self.name = name
        self.type = type
        unit = words.count > 1 ? words[1] : nil
        description = parts.count > 1 && !parts[1].isEmpty ? parts[1] : nil
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

    /// The mistakes of feeds that a single value does not show.
    ///
    /// - Parameter upstreams: The names of all upstreams, also of those that are missing because of a mistake.
    func feedMistakes(of upstreams: [String]) -> [(key: String, rule: String)] {
        feeds.flatMap { feed -> [(key: String, rule: String)] in
            let key = "feeds.\(feed.name)"
            var mistakes: [(key: String, rule: String)] = []
            if let upstream = feed.upstream {
                if !upstreams.contains(upstream) {
                    mistakes.append((key + ".upstream", "names no configured upstream"))
                }
            } else if pool.defaultUpstream == nil, pool.upstreams.count == upstreams.count {
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
                && other.dataAdapter.hasSameBytes(as: feed.dataAdapter) && other.mode == feed.mode
                && other.selector.hasSameBytes(as: feed.selector)
        }
        return feed.fields.compactMap { field in
            let other = earlier.first { other in
                other.field(field.name).map { $0.type != field.type } ?? false && other.sharesItems(with: feed)
            }
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

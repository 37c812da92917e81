internal import JSONText
package import SessionCore

package enum Right: String, Sendable, CaseIterable {
    /// Read upstreams, clients, subscriptions, values and streams, and open streams over what exists.
    case read
    /// Join shared subscriptions; make, change and delete subscriptions and streams.
    case subscribe
    /// Make, change and delete dedicated clients. With all upstreams and all items it covers the resources of every
    /// caller, and the clients of the pool.
    case manage
    /// Send messages through a client.
    case send
}

/// The rights of the holder of a key or token.
package struct Rights: Sendable, Equatable {
    package var operations: Set<Right> { didSet { noteReach() } }
    package var upstreams: [WildcardPattern] { didSet { noteReach() } }
    package var items: [WildcardPattern] { didSet { noteReach() } }
    /// The permitted data adapters, each also with selectors; nil: all of them with all items, else the default adapter
    /// without selectors.
    package var dataAdapters: [WildcardPattern]? { didSet { noteReach() } }
    /// The permitted feeds: only their data may be used, as far as upstreams and items permit it. Nil: any data.
    package var feeds: [WildcardPattern]? { didSet { noteReach() } }
    /// The most streams open at a time; nil: no limit of its own.
    package var streams: Int?
    /// The most requests a second; nil: no limit of its own.
    package var rate: Double?
    /// The most subscriptions that its holder may use at a time; nil: no limit of its own.
    package var maxSubscriptions: Int?
    /// The most items that these subscriptions may have together; nil: no limit of its own.
    package var maxItems: Int?
    /// Whether the rights cover the resources of all callers. Each request asks it.
    package private(set) var reachesOverAll = false

    package init(
        operations: Set<Right>,
        upstreams: [WildcardPattern],
        items: [WildcardPattern],
        dataAdapters: [WildcardPattern]? = nil,
        feeds: [WildcardPattern]? = nil,
        streams: Int? = nil,
        rate: Double? = nil,
        maxSubscriptions: Int? = nil,
        maxItems: Int? = nil
    ) {
        self.operations = operations
        self.upstreams = upstreams
        self.items = items
        self.dataAdapters = dataAdapters
        self.feeds = feeds
        self.streams = streams
        self.rate = rate
        self.maxSubscriptions = maxSubscriptions
        self.maxItems = maxItems
        noteReach()
    }

    private mutating func noteReach() {
        reachesOverAll =
            feeds == nil && operations.contains(.manage) && upstreams.coverAll && items.coverAll
            && dataAdapters?.coverAll ?? true
    }

    /// All rights: those of callers without authentication.
    package static let all = Rights(
        operations: Set(Right.allCases),
        upstreams: [WildcardPattern("*")],
        items: [WildcardPattern("*")]
    )

    package static let none = Rights(operations: [], upstreams: [], items: [])

    /// The default quotas of a key or token: half of an upstream's default quota of subscriptions, a
    /// quarter of its items.
    static let defaultQuotas = (subscriptions: 2_000, items: 25_000)

    /// The greatest limit of open streams.
    static let mostStreams = 1_000_000
}

extension Rights {
    /// Whether every upstream is covered, those that requests name by address included.
    package var coversAllUpstreams: Bool { feeds == nil && upstreams.coverAll }

    package var coversAllItems: Bool { items.coverAll }

    /// Whether every data adapter is covered, with selectors.
    package var coversAllAdapters: Bool { dataAdapters?.coverAll ?? coversAllItems }

    /// Whether every subscription to a covered upstream is covered.
    package var coversAllSubscriptions: Bool { feeds == nil && coversAllItems && coversAllAdapters }

    package func covers(upstream name: String) -> Bool { upstreams.contains { $0.matches(name) } }

    /// Whether a feed is among those that are listed, or none are.
    func covers(feed name: String) -> Bool { feeds.map { $0.contains { $0.matches(name) } } ?? true }

    /// Whether a subscription is covered, apart from the feeds: its data adapters, its selector and all its items.
    package func covers(_ properties: SubscriptionProperties) -> Bool {
        coversAdapters(of: properties) && coversItems(of: properties)
    }

    /// Whether the data adapters and the selector of a subscription are covered.
    ///
    /// The same item is other data in another adapter, and a selector may make the metadata adapter choose other data, so
    /// limited items alone cover neither.
    package func coversAdapters(of properties: SubscriptionProperties) -> Bool {
        if coversAllAdapters { return true }
        guard let dataAdapters else {
            return properties.selector == nil && Self.isDefault(properties.dataAdapter)
                && Self.isDefault(properties.secondLevelDataAdapter)
        }
        var names = [properties.dataAdapter]
        if properties.secondLevelFields != nil { names.append(properties.secondLevelDataAdapter) }
        return names.allSatisfy { name in dataAdapters.contains { $0.matches(name ?? Self.defaultAdapter) } }
    }

    /// The adapter that the server uses for subscriptions without one.
    private static let defaultAdapter = "DEFAULT"

    private static func isDefault(_ adapter: String?) -> Bool { adapter?.hasSameBytes(as: defaultAdapter) ?? true }

    /// Whether all items of a subscription are covered.
    ///
    /// An item group is split at its spaces (byte 0x20), as the usual metadata adapters do, and each part must be
    /// covered. Empty parts, and names with other white space or control characters, require all items. So does a
    /// second level, whose items are named by the data and not by the caller.
    package func coversItems(of properties: SubscriptionProperties) -> Bool {
        if coversAllItems { return true }
        if properties.secondLevelFields != nil { return false }
        switch properties.items {
        case .list(let names): return names.allSatisfy(covers(item:))
        case .group(let name):
            return name.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
                .allSatisfy { covers(item: String(Substring($0))) }
        }
    }

    /// The first item of a list that is not covered, with its index; nil for a group, and if all are.
    package func firstUncovered(in properties: SubscriptionProperties) -> (index: Int, item: String)? {
        guard !coversAllItems, case .list(let names) = properties.items else { return nil }
        return names.firstIndex { !covers(item: $0) }.map { ($0, names[$0]) }
    }

    /// Whether an item is covered. Adapters may also split at other white space, so no name may contain any.
    private func covers(item name: String) -> Bool {
        let isPlain = name.unicodeScalars.allSatisfy {
            !$0.properties.isWhitespace && $0.properties.generalCategory != .control
        }
        return !name.isEmpty && isPlain && items.contains { $0.matches(name) }
    }
}

extension [WildcardPattern] {
    /// Whether one of the patterns covers every name.
    fileprivate var coverAll: Bool {
        for pattern in self where pattern.description == "*" { return true }
        return false
    }
}

/// A pattern of names: `*` stands for any sequence of bytes, everything else for itself.
///
/// Bytes are compared, not characters, so that canonically equal names stay different.
package struct WildcardPattern: Sendable, Equatable, CustomStringConvertible {
    /// The longest name that a pattern other than `*` covers, in bytes. It bounds the time of a comparison.
    static let longestName = 4096

    package let description: String

    package init(_ text: String) { description = text }

    /// Equal bytes.
    package static func == (left: WildcardPattern, right: WildcardPattern) -> Bool {
        left.description.hasSameBytes(as: right.description)
    }

    package func matches(_ name: String) -> Bool {
        if description == "*" { return true }
        let name = Array(name.utf8)
        return name.count <= Self.longestName && Self.matches(name, Array(description.utf8))
    }

    /// Backtracks to the last asterisk only: an earlier one cannot match more.
    private static func matches(_ name: [UInt8], _ pattern: [UInt8]) -> Bool {
        let asterisk = UInt8(ascii: "*")
        var (place, position) = (0, 0)
        var retry: (place: Int, position: Int)?
        while position < name.count {
            if place < pattern.count, pattern[place] == asterisk {
                retry = (place, position)
                place += 1
            } else if place < pattern.count, pattern[place] == name[position] {
                place += 1
                position += 1
            } else if let last = retry {
                retry = (last.place, last.position + 1)
                place = last.place + 1
                position = last.position + 1
            } else {
                return false
            }
        }
        return pattern[place...].allSatisfy { $0 == asterisk }
    }
}

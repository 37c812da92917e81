internal import JSONText
internal import Primitives
public import TLCP

/// The names of the items of a subscription, or of the fields of one of its levels.
public enum NameSource: Sendable, Hashable {
    /// An explicit list of names, sent joined by one space.
    case list([String])
    /// The name of a group (items) or schema (fields) that the server's Metadata Adapter expands.
    case group(String)

    /// The value of `LS_group` or `LS_schema`.
    public var wireName: String {
        switch self {
        case .list(let names): names.joined(separator: " ")
        case .group(let name): name
        }
    }

    /// Whether a name consists of digits alone, so that it cannot name an item.
    public static func isNumber(_ name: String) -> Bool { name.isEmpty ? false : name.hasASCIIDigitsOnly }

    /// The names, or nil for a group or schema.
    public var names: [String]? {
        switch self {
        case .list(let names): names
        case .group: nil
        }
    }

    /// The names of a subscription whose items or fields are not set yet: an empty list, which no request carries.
    package static let unset = NameSource.list([])

    package var isUnset: Bool { names?.isEmpty ?? false }

    /// The names of a list; nil for a group or schema, and while the names are not set.
    package var listedNames: [String]? { isUnset ? nil : names }

    /// The name of a group or schema; nil for a list.
    package var groupName: String? {
        switch self {
        case .list: nil
        case .group(let name): name
        }
    }

    /// Whether both are lists, or both groups, with the same names, compared by bytes.
    public static func == (left: NameSource, right: NameSource) -> Bool {
        switch (left, right) {
        case (.list(let left), .list(let right)): left.hasSameNames(as: right)
        case (.group(let left), .group(let right)): UpstreamName(left) == UpstreamName(right)
        case (.list, .group), (.group, .list): false
        }
    }

    /// Feeds the bytes of the names to a hasher.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .list(let names): for name in names { hasher.combine(UpstreamName(name)) }
        case .group(let name): hasher.combine(UpstreamName(name))
        }
    }
}

/// The properties of a subscription, as an `add` request carries them.
///
/// Two subscriptions with equal properties receive the same data.
public struct SubscriptionProperties: Sendable, Hashable {
    /// How the items behave.
    public var mode: SubscriptionMode
    /// The items, by list or by group.
    public var items: NameSource
    /// The first-level fields, by list or by schema.
    public var fields: NameSource
    /// The Data Adapter that supplies the items; nil: the Adapter Set's `DEFAULT`.
    public var dataAdapter: String?
    /// A selector for the Metadata Adapter; nil: none.
    public var selector: String?
    /// The requested snapshot; nil: the server decides.
    public var requestedSnapshot: RequestedSnapshot?
    /// The requested frequency limit; nil: the server decides.
    public var requestedMaxFrequency: RequestedMaxFrequency?
    /// The requested buffer size; nil: the server decides.
    public var requestedBufferSize: RequestedBufferSize?
    /// COMMAND only: the second-level fields; nil: no second level.
    public var secondLevelFields: NameSource?
    /// COMMAND only: the Data Adapter of the second level; nil: `DEFAULT`.
    public var secondLevelDataAdapter: String?

    /// Properties with the defaults of the class reference: snapshot `yes`, but nil in RAW mode.
    public init(mode: SubscriptionMode, items: NameSource, fields: NameSource) {
        self.mode = mode
        self.items = items
        self.fields = fields
        self.requestedSnapshot = mode == .raw ? nil : .yes
    }

    /// Whether all properties are equal, names compared by their bytes.
    public static func == (left: SubscriptionProperties, right: SubscriptionProperties) -> Bool {
        guard left.mode == right.mode, left.items == right.items, left.fields == right.fields,
            left.requestedSnapshot == right.requestedSnapshot,
            left.requestedMaxFrequency == right.requestedMaxFrequency,
            left.requestedBufferSize == right.requestedBufferSize, left.secondLevelFields == right.secondLevelFields,
            left.dataAdapter.hasSameBytes(as: right.dataAdapter), left.selector.hasSameBytes(as: right.selector)
        else { return false }
        return left.secondLevelDataAdapter.hasSameBytes(as: right.secondLevelDataAdapter)
    }

    /// Feeds the properties to a hasher by which subscriptions of one adapter usually differ, and the adapter.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(mode)
        hasher.combine(items)
        hasher.combine(fields)
        hasher.combine(requestedSnapshot)
        hasher.combine(requestedMaxFrequency)
        hasher.combine(requestedBufferSize)
        hasher.combine(secondLevelFields)
        dataAdapter?.hashBytes(into: &hasher)
        selector?.hashBytes(into: &hasher)
    }

    /// The properties that are set but have no effect, by name, with the reason. They are not sent to the server.
    public var ineffectiveProperties: [(name: String, rule: String)] {
        var properties: [(name: String, rule: String)] = []
        if requestedMaxFrequency != nil, mode == .raw {
            properties.append(("requestedMaxFrequency", "has no effect in RAW mode"))
        }
        if requestedBufferSize != nil {
            if [.raw, .command].contains(mode) {
                properties.append(("requestedBufferSize", "has no effect in \(mode.rawValue) mode"))
            } else if requestedMaxFrequency == .unfiltered {
                properties.append(("requestedBufferSize", "has no effect with requestedMaxFrequency unfiltered"))
            }
        }
        return properties
    }

    /// Whether items and fields are set, so that the subscription can be activated.
    package var isComplete: Bool {
        if items.isUnset { return false }
        return !fields.isUnset
    }

    /// Whether a snapshot is requested.
    package var requestsSnapshot: Bool { (requestedSnapshot ?? .no) != .no }

    /// The number of items that count against limits: a group counts as one item, because the client does not know how many
    /// the group has. Each KiB of names counts as one item at least, so that limits of items also bound the memory of names.
    package var countedItems: Int { max(items.names?.count ?? 1, nameBytes(perListed: 0) >> 10) }

    /// The length of all names in UTF-8, with a number of bytes more for each name of a list.
    package func nameBytes(perListed overhead: Int) -> Int {
        var bytes = 0
        for case .some(let source) in [items, fields, secondLevelFields] {
            switch source {
            case .list(let names): for name in names { bytes += overhead + name.utf8.count }
            case .group(let name): bytes += name.utf8.count
            }
        }
        for case .some(let name) in [dataAdapter, selector, secondLevelDataAdapter] { bytes += name.utf8.count }
        return bytes
    }

    /// The buffer size to request from the server; nil: none.
    var effectiveBufferSize: RequestedBufferSize? {
        switch mode {
        case .merge, .distinct: requestedMaxFrequency == .unfiltered ? nil : requestedBufferSize
        case .raw, .command: nil
        }
    }
}

/// The transports that a client is restricted to (class reference: `forcedTransport`).
public enum ForcedTransport: String, Sendable, Hashable, CaseIterable {
    /// WebSocket, streaming or polling.
    case ws = "WS"
    /// WebSocket, streaming.
    case wsStreaming = "WS-STREAMING"
    /// WebSocket, polling.
    case wsPolling = "WS-POLLING"
    /// HTTP, streaming or polling.
    case http = "HTTP"
    /// HTTP, streaming.
    case httpStreaming = "HTTP-STREAMING"
    /// HTTP, polling.
    case httpPolling = "HTTP-POLLING"
}

/// Numbers of sessions, subscriptions and items of one upstream: what may be open, what is open, or what is missing.
package struct UpstreamCredits: Sendable, Hashable {
    package var sessions: Int
    package var subscriptions: Int
    /// Items of the subscriptions; a group counts as one.
    package var items: Int

    /// Credits; without arguments: none.
    package init(sessions: Int = 0, subscriptions: Int = 0, items: Int = 0) {
        self.sessions = sessions
        self.subscriptions = subscriptions
        self.items = items
    }

    package static let none = UpstreamCredits()

    package var isNone: Bool { self == .none }

    /// Whether each number is at least that of `other`.
    package func covers(_ other: UpstreamCredits) -> Bool {
        sessions >= other.sessions && subscriptions >= other.subscriptions && items >= other.items
    }

    /// The smaller of each two numbers.
    package func limited(to other: UpstreamCredits) -> UpstreamCredits { merged(with: other, min) }

    package static func + (left: UpstreamCredits, right: UpstreamCredits) -> UpstreamCredits {
        left.merged(with: right, +)
    }

    /// The difference of each two numbers, 0 instead of a negative one.
    package static func - (left: UpstreamCredits, right: UpstreamCredits) -> UpstreamCredits {
        left.merged(with: right) { max(0, $0 - $1) }
    }

    package static func += (left: inout UpstreamCredits, right: UpstreamCredits) { left = left + right }

    /// Subtracts each number of `right`, down to 0.
    package static func -= (left: inout UpstreamCredits, right: UpstreamCredits) { left = left - right }

    private func merged(with other: UpstreamCredits, _ merge: (Int, Int) -> Int) -> UpstreamCredits {
        UpstreamCredits(
            sessions: merge(sessions, other.sessions),
            subscriptions: merge(subscriptions, other.subscriptions),
            items: merge(items, other.items)
        )
    }
}

extension SubscriptionProperties {
    /// The credits of its upstream that the subscription needs, beside a session.
    package var credits: UpstreamCredits { UpstreamCredits(subscriptions: 1, items: countedItems) }
}

internal import Changes
package import JSONText
package import SessionCore

/// An event of a topic, as the log of the topic has it.
enum HubEvent: Sendable, Equatable {
    case client(ClientTopicEvent)
    case subscription(SubscriptionEvent)

    /// The event's name on streams.
    var name: StaticString {
        switch self {
        case .client(let event): event.name
        case .subscription(let event): event.name
        }
    }
}

extension ClientTopicEvent {
    var name: StaticString {
        switch self {
        case .status: "status"
        case .serverError: "server-error"
        case .property: "property"
        case .message: "message-outcome"
        case .legacy(let event): event.name
        case .sessionStarted: "session-started"
        case .bytesReceived: "bytes-received"
        case .activityWarning: "activity-warning"
        }
    }
}

extension SubscriptionEvent {
    fileprivate var name: StaticString {
        switch self {
        case .subscribed: "subscribed"
        case .unsubscribed: "unsubscribed"
        case .failed: "subscription-error"
        case .update: "update"
        case .endOfSnapshot: "end-of-snapshot"
        case .clearSnapshot: "clear-snapshot"
        case .lostUpdates: "lost-updates"
        case .secondLevelFailed: "second-level-error"
        case .secondLevelLostUpdates: "second-level-lost-updates"
        case .realMaxFrequency: "real-max-frequency"
        }
    }
}

extension LegacyEvent {
    fileprivate var name: StaticString {
        switch self {
        case .connectionEstablished: "connection-established"
        case .closed: "connection-closed"
        case .ended: "connection-ended"
        case .connectionFailed: "connection-failure"
        case .serverFailed: "server-failure"
        case .badData: "data-error"
        case .deviceRegistered, .deviceRefused: "device-token-change"
        case .badgeReset: "badge-reset"
        }
    }
}

extension HubEvent {
    /// The approximate size of an event without its texts, in bytes.
    private static let baseWeight = 160
    /// The approximate size of a value without its text, in bytes.
    private static let valueWeight = 16

    /// The approximate size of the event in bytes.
    var weight: Int {
        switch self {
        case .subscription(.update(let update)): Self.weight(of: update)
        case .client(.serverError(_, let message)), .client(.message(_, .processed(let message))):
            Self.baseWeight &+ message.utf8.count
        case .client, .subscription: Self.baseWeight
        }
    }

    /// The approximate size of the row of an update in bytes, without the texts of the row, most of which earlier updates have
    /// brought; 0 for an event that is no update.
    var rowWeight: Int {
        if case .subscription(.update(let update)) = self { update.values.count &* Self.valueWeight } else { 0 }
    }

    /// The approximate size of an event with this update in bytes.
    static func weight(of update: ItemUpdate) -> Int {
        var weight = baseWeight
        for value in update.values { weight &+= valueWeight &+ (value?.utf8.count ?? 0) }
        for patch in update.patches.values { weight &+= patch.utf8.count }
        return weight
    }
}

/// The common parts of the events of a topic.
final class TopicContext: Sendable {
    /// The members that every event has, as JSON text without braces.
    let commonMembers: [UInt8]
    /// How unread events of late readers are conflated.
    let policy: OverflowPolicy
    /// The keys of fields; nil for a client.
    let naming: FieldNaming?
    /// The subscription; nil for a client.
    let subscription: SubscriptionID?
    /// The properties of the subscription; nil for a client.
    let properties: SubscriptionProperties?
    private let itemNames: [String]?

    /// The length that the common members do not exceed, in bytes.
    private static let usualLength = 64

    /// The context of a client's events.
    init(client: ClientID) {
        var json = JSONBytes(capacity: Self.usualLength)
        json.member("client", client.rawValue)
        commonMembers = json.bytes
        policy = .keepEverything
        naming = nil
        subscription = nil
        properties = nil
        itemNames = nil
    }

    /// The context of a subscription's events; `client` is nil while none carries it.
    ///
    /// - Parameter naming: The keys of the fields of the properties, if they are known.
    init(
        subscription: SubscriptionID,
        client: ClientID?,
        properties: SubscriptionProperties,
        naming: FieldNaming? = nil
    ) {
        var json = JSONBytes(capacity: Self.usualLength)
        json.member("client", client?.rawValue)
        json.member("subscription", subscription.rawValue)
        commonMembers = json.bytes
        policy = OverflowPolicy(properties.mode)
        if let naming { self.naming = naming } else { self.naming = FieldNaming(properties) }
        self.subscription = subscription
        self.properties = properties
        itemNames = properties.items.names
    }

    /// The name of the item at a 1-based position; nil with an item group.
    func itemName(at position: Int) -> String? {
        guard let itemNames, itemNames.indices.contains(position &- 1) else { return nil }
        return itemNames[position &- 1]
    }

    /// Writes the key of the field at a 1-based position.
    func writeKey(ofField position: Int, to json: inout JSONBytes) {
        if let naming, position >= 1, position <= naming.keys.texts.count {
            json.key(position - 1, of: naming.keys)
        } else {
            json.key(String(position))
        }
    }
}

/// How the unread events of a conflating reader are reduced.
enum OverflowPolicy: Sendable, Equatable {
    /// Updates of an item are conflated into one.
    case conflateByItem
    /// Updates of a key of an item are conflated into one; rows that were added and deleted meanwhile are omitted.
    case conflateByKey
    /// The newest updates are kept, the others counted.
    case keepNewest
    case keepEverything

    /// Whether updates of a row are conflated into one.
    var conflates: Bool {
        switch self {
        case .conflateByItem, .conflateByKey: true
        case .keepNewest, .keepEverything: false
        }
    }

    init(_ mode: SubscriptionMode) {
        self =
            switch mode {
            case .merge: .conflateByItem
            case .command: .conflateByKey
            case .distinct, .raw: .keepNewest
            }
    }
}

/// The keys of the fields of a subscription in events and tables: names if every level has a list and no name occurs twice
/// in both lists together, else positions as decimal strings.
package struct FieldNaming: Sendable {
    private static let positions = JSONKeys((1...64).map(String.init))

    let usesNames: Bool
    /// The first keys; those of further fields are their positions.
    package let keys: JSONKeys
    private let names: [String]

    package init(_ properties: SubscriptionProperties) {
        var names = properties.fields.names
        if let second = properties.secondLevelFields {
            if let more = second.names { names? += more } else { names = nil }
        }
        // Names are compared by their bytes.
        var distinct: Set<[UInt8]> = []
        for name in names ?? [] { distinct.insert(Array(name.utf8)) }
        if let names, names.count == distinct.count {
            usesNames = true
            self.names = names
            keys = JSONKeys(names)
        } else {
            usesNames = false
            self.names = []
            keys = Self.positions
        }
    }

    /// The key of the field at a 1-based position.
    package func label(_ position: Int) -> String {
        names.indices.contains(position - 1) ? names[position - 1] : "\(position)"
    }
}

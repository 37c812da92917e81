internal import SessionCore

/// The kinds of data of a subscription.
enum DataKind: String, CaseIterable {
    case merge, distinct, raw, command, twoLevel

    /// The subscription.
    var properties: SubscriptionProperties {
        switch self {
        case .merge:
            Self.properties(.merge, ["item1", "item2", "item3"], ["n", "text", "doc"], of: "QUOTES")
        case .distinct: Self.properties(.distinct, ["list"], ["n", "text"], of: "LIST")
        case .raw: Self.properties(.raw, ["flow"], ["n"], of: "FLOW")
        case .command: Self.properties(.command, ["table"], ["key", "command", "n"], of: "TABLE")
        case .twoLevel: Self.twoLevels
        }
    }

    /// The feeds of the subscription.
    var adapters: Set<String> { Set([properties.dataAdapter, properties.secondLevelDataAdapter].compactMap(\.self)) }

    /// The chat with messages of the form `CHAT|say …`.
    static var chat: SubscriptionProperties { properties(.distinct, ["chat_room"], ["message"], of: "CHAT_ROOM") }

    private static var twoLevels: SubscriptionProperties {
        var properties = DataKind.command.properties
        properties.secondLevelFields = .list(["n", "text", "doc"])
        properties.secondLevelDataAdapter = "QUOTES"
        return properties
    }

    private static func properties(
        _ mode: SubscriptionMode,
        _ items: [String],
        _ fields: [String],
        of adapter: String
    ) -> SubscriptionProperties {
        var properties = SubscriptionProperties(mode: mode, items: .list(items), fields: .list(fields))
        properties.dataAdapter = adapter
        properties.requestedSnapshot = mode == .raw ? nil : .yes
        return properties
    }
}

internal import JSONText
internal import SessionCore

/// What all events of a topic have in common.
final class TopicContext: Sendable {
    /// The members that every event has, as JSON text without braces.
    let commonMembers: [UInt8]
    /// What a reader that is late gets.
    let policy: OverflowPolicy
    /// The keys of fields; nil for a client.
    let naming: FieldNaming?
    private let itemNames: [String]?

    /// The context of a client's events.
    init(client: String) {
        var json = JSONBytes()
        json.member("client", client)
        commonMembers = json.bytes
        policy = .keepEverything
        naming = nil
        itemNames = nil
    }

    /// The context of a subscription's events; `client` is nil while none carries it.
    init(subscription: String, client: String?, properties: SubscriptionProperties) {
        var json = JSONBytes()
        json.member("client", client)
        json.member("subscription", subscription)
        commonMembers = json.bytes
        policy = OverflowPolicy(properties.mode)
        naming = FieldNaming(properties)
        itemNames = properties.items.names
    }

    /// The name of the item at a 1-based position; nil with an item group.
    func itemName(at position: Int) -> String? {
        guard let itemNames, itemNames.indices.contains(position - 1) else { return nil }
        return itemNames[position - 1]
    }
}

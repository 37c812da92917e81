import Changes
import JSONText
import SessionCore
import Testing

@testable import EventHub
@testable import Gateway

/// The event schemas compared with the events written to streams, in both directions.
@Suite struct EventContractTests {
    private let contract: OpenAPIDocument
    private let check: SchemaCheck

    init() throws {
        contract = try OpenAPIDocument()
        check = SchemaCheck(contract: contract)
    }

    private static let client = TopicContext(client: ClientID("c1"))
    private static let quotes = SubscriptionProperties(mode: .merge, items: .list(["a"]), fields: .list(["x", "y"]))
    private static let portfolio = SubscriptionProperties(
        mode: .command,
        items: .group("g"),
        fields: .list(["key", "command"])
    )

    @Test func everyEventIsAsDescribed() {
        let schema = contract.root["components"]?["schemas"]?["StreamEvent"] ?? .null
        for event in Self.events() {
            #expect(check.faults(of: event, by: schema).isEmpty, "\(event.text)")
        }
    }

    @Test func everyNameIsOnBothSides() {
        let written = Set(Self.events().compactMap { $0["event"]?.string })
        #expect(written == Set(described().keys))
    }

    /// Generated readers find the schema of an event by its name.
    @Test func everyNameLeadsToTheSchemaThatHasIt() throws {
        let schema = try #require(contract.root["components"]?["schemas"]?["StreamEvent"])
        let mapping = try #require(schema["discriminator"]?["mapping"]?.object)
        #expect(Set(mapping.map(\.name)) == Set(described().keys))
        for entry in mapping {
            let reference: JSONValue = ["$ref": entry.value]
            #expect(schema["oneOf"]?.array?.contains(reference) == true, "\(entry.name)")
            let event = contract.resolve(reference)
            #expect(event["properties"]?["event"]?["enum"]?.array?.contains(.string(entry.name)) == true)
            #expect(event["required"] == ["event", "data"], "\(entry.name)")
        }
    }

    @Test func everyMemberIsOnBothSides() {
        var written: [String: Set<String>] = [:]
        for event in Self.events() {
            let members = (event["data"]?.object ?? JSONObject()).map(\.name)
            written[event["event"]?.string ?? "", default: []].formUnion(members)
        }
        for (name, members) in described() { #expect(written[name] == members, "members of \(name)") }
    }

    /// The types of the module for browsers, which knows no legacy events, and no heartbeats: they are comments.
    @Test func theModuleDeclaresEveryEvent() throws {
        let text = try RepositoryFiles.text("Sources/Gateway/Gateway/Resources/Module/gateway.d.ts")
        let list = try #require(text.firstMatch(of: /type EventName =([^;]*);/)?.output.1)
        let names = list.matches(of: /"([a-z-]+)"/).map { String($0.output.1) }
        let others = Self.legacyEvents().map { "\($0.name)" } + ["heartbeat"]
        #expect(Set(names) == Set(Self.events().compactMap { $0["event"]?.string }).subtracting(others))
        #expect(names.count == Set(names).count)
    }

    // MARK: - What is described

    /// The members that the contract gives to each event.
    private func described() -> [String: Set<String>] {
        var members: [String: Set<String>] = [:]
        func visit(_ schema: JSONValue) {
            let schema = contract.resolve(schema)
            for part in schema["oneOf"]?.array ?? [] { visit(part) }
            for name in (schema["properties"]?["event"]?["enum"]?.array ?? []).compactMap(\.string) {
                members[name, default: []].formUnion(properties(of: schema["properties"]?["data"] ?? .null))
            }
        }
        visit(contract.root["components"]?["schemas"]?["StreamEvent"] ?? .null)
        return members
    }

    private func properties(of schema: JSONValue) -> Set<String> {
        let schema = contract.resolve(schema)
        let own = (schema["properties"]?.object ?? JSONObject()).map(\.name)
        let parts = (schema["allOf"]?.array ?? []) + (schema["oneOf"]?.array ?? [])
        return parts.reduce(into: Set(own)) { $0.formUnion(properties(of: $1)) }
    }

    // MARK: - What is written

    private static func events() -> [JSONValue] {
        clientEvents().map { written(.client($0), client) } + subscriptionEvents() + controlEvents() + conflated()
    }

    private static func legacyEvents() -> [ClientTopicEvent] {
        let events: [LegacyEvent] = [
            .connectionEstablished, .closed, .ended(cause: 48), .connectionFailed(reason: "r"),
            .serverFailed(code: 1, message: "m", isRetried: false), .badData(reason: "r"),
            .deviceRegistered(DeviceTokenInfo(deviceID: "d", adapterName: "a")),
            .deviceRefused(code: 45, message: "m"),
            .badgeReset(deviceId: nil, code: nil, message: nil), .badgeReset(deviceId: nil, code: 45, message: "m"),
        ]
        return events.map { .legacy($0) } + [
            .sessionStarted(polling: false), .bytesReceived(1), .activityWarning(true),
        ]
    }

    private static func clientEvents() -> [ClientTopicEvent] {
        let outcomes: [MessageOutcome] = [
            .processed(response: ""), .denied(code: 1, message: "m"), .discarded, .failed,
            .aborted(sentOnNetwork: true),
        ]
        return [
            .status(.connecting), .status(.disconnectedWillRetry, failure: failure),
            .serverError(code: 1, message: "m"), .property(name: "user", value: .null),
            .property(name: "password", value: nil),
        ] + legacyEvents() + outcomes.map { .message(id: "m1", $0) }
    }

    private static func subscriptionEvents() -> [JSONValue] {
        let list = TopicContext(subscription: SubscriptionID("s1"), client: ClientID("c1"), properties: quotes)
        let group = TopicContext(subscription: SubscriptionID("s2"), client: nil, properties: portfolio)
        let events: [SubscriptionEvent] = [
            .subscribed(itemCount: 1, fieldCount: 2, keyPosition: 1, commandPosition: nil),
            .unsubscribed(isFinal: false),
            .failed(code: 23, message: "m"), .endOfSnapshot(itemPos: 1), .clearSnapshot(itemPos: 1),
            .lostUpdates(count: 3, itemPos: 1), .secondLevelFailed(code: 14, message: "m", key: "k"),
            .secondLevelLostUpdates(count: 2, key: "k"), .realMaxFrequency(.limited(2.5)),
            .realMaxFrequency(.unlimited),
            .realMaxFrequency(nil),
            .update(update(quotes, ["1", nil], patches: [1: #"[{"op":"remove","path":"/a"}]"#])),
            .update(update(portfolio, ["k", "ADD"])),
        ]
        return events.flatMap { [written(.subscription($0), list), written(.subscription($0), group)] }
    }

    private static let failure = LastFailure(
        reason: "http-status",
        code: 502,
        detail: "Cause. Cure.",
        since: "2026-01-01T00:00:00Z",
        attempts: 2,
        nextAttempt: nil
    )

    private static func controlEvents() -> [JSONValue] {
        let sources: [SourceState] = [
            .client(id: ClientID("c1"), status: .stalled),
            .client(id: ClientID("c2"), status: .disconnectedWillRetry, failure: failure),
            .subscription(
                SubscriptionSourceState(
                    id: SubscriptionID("s1"),
                    mode: .merge,
                    client: ClientID("c1"),
                    status: .stalled,
                    isActive: true,
                    lastError: UpstreamRefusal(code: 21, message: "no")
                )
            ),
            .subscription(
                SubscriptionSourceState(
                    id: SubscriptionID("s2"),
                    mode: .merge,
                    client: ClientID("c1"),
                    status: .connectedWSStreaming,
                    isActive: true,
                    lastError: nil,
                    shape: SubscribedShape(
                        itemCount: 1,
                        fieldCount: 2,
                        keyPosition: nil,
                        commandPosition: nil,
                        usesNames: false,
                        realMaxFrequency: .limited(2.5)
                    )
                )
            ),
        ]
        let events: [ControlEvent] = [
            .stream(id: "t1", sources: sources, resume: .gap, isDegraded: true, retryMilliseconds: 1),
            .closing(reason: "deleted", retryMilliseconds: 1), .heartbeat,
        ]
        return events.map { event in
            var encoder = EventEncoder(epoch: "e")
            encoder.encode(event, as: .ndjson)
            return parsed(encoder)
        }
    }

    private static func conflated() -> [JSONValue] {
        let context = TopicContext(subscription: SubscriptionID("s1"), client: ClientID("c1"), properties: quotes)
        var pair = ConflatedUpdate(update(quotes, ["1", nil]))
        pair.add(update(quotes, ["2", "3"]))
        var encoder = EventEncoder(epoch: "e")
        let typed = EventVariant(format: .ndjson, sendsAllFields: true, isTyped: true)
        encoder.encode(pair, sequence: 1, of: context, as: typed, [.integer, .boolean])
        let merged = parsed(encoder)
        encoder.encodeLoss(of: 2, item: 1, sequence: 2, of: context, as: variant)
        return [merged, parsed(encoder)]
    }

    private static let variant = EventVariant(format: .ndjson, sendsAllFields: true)

    private static func written(_ event: HubEvent, _ context: TopicContext) -> JSONValue {
        var encoder = EventEncoder(epoch: "e")
        encoder.encode(event, sequence: 7, of: context, as: variant)
        return parsed(encoder)
    }

    private static func parsed(_ encoder: EventEncoder) -> JSONValue {
        (try? JSONValue(parsing: encoder.json.bytes)) ?? .null
    }

    private static func update(
        _ properties: SubscriptionProperties,
        _ values: [String?],
        patches: [Int: String] = [:]
    ) -> ItemUpdate {
        let isCommand = properties.mode == .command
        var changed = FieldSet()
        for position in 1...values.count { changed.insert(position) }
        return ItemUpdate(
            layout: SubscriptionLayout(
                itemNames: properties.items.names,
                fieldNames: properties.fields.names,
                fieldCount: values.count,
                keyPosition: isCommand ? 1 : nil,
                commandPosition: isCommand ? 2 : nil,
                secondLevelFieldNames: nil,
                hasSecondLevel: false
            ),
            itemPos: 1,
            isSnapshot: true,
            values: values,
            changed: changed,
            patches: patches
        )
    }
}

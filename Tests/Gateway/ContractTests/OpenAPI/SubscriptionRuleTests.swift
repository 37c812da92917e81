import JSONText
import SessionCore
import Testing

@testable import Gateway

/// The rules between the properties of a subscription: openapi.yaml and the gateway refuse the same bodies and
/// queries.
@Suite struct SubscriptionRuleTests {
    private let contract: OpenAPIDocument
    private let check: SchemaCheck

    init() throws {
        contract = try OpenAPIDocument()
        check = SchemaCheck(contract: contract)
    }

    private static let names = ["items": "a", "fields": "key,command"]
    private static let groups = ["itemGroup": "g", "fieldSchema": "s"]

    /// Properties as texts: each mode with each of these, alone and with a second one.
    private static let properties: [[String: String]] = {
        let values = [
            ["requestedSnapshot": "yes"], ["requestedSnapshot": "7"], ["requestedMaxFrequency": "2.5"],
            ["requestedMaxFrequency": "Unfiltered"], ["requestedBufferSize": "3"], ["requestedBufferSize": "unlimited"],
            ["commandSecondLevelFields": "x"], ["commandSecondLevelFieldSchema": "x"],
            ["commandSecondLevelDataAdapter": "x"], ["itemGroup": "h"], ["fieldSchema": "t"], ["fields": "other"],
        ]
        let pairs = values.indices.flatMap { index in
            values[index...].map { values[index].merging($0) { _, second in second } }
        }
        return SubscriptionMode.allCases.flatMap { mode in
            ([[:]] + pairs).flatMap { pair in
                [names, groups].map { base in
                    base.merging(pair) { _, second in second }.merging(["upstream": "demo", "mode": mode.rawValue]) {
                        $1
                    }
                }
            }
        }
    }()

    @Test(arguments: ["a", "1a", "1.2.3", "1e", "-", ".", "0x1F", "12", "-3", "+7", "1.5", ".5", "5.", "1e5", "2.5E-3"])
    func namesOfItemsAreRefusedAsDescribed(name: String) throws {
        let isDescribed = check.faults(of: .string(name), by: try schema("ItemName")).isEmpty
        #expect(isDescribed == NameRule.item.admits(name))
        #expect(isDescribed == (name != "12"))
        let texts = ["upstream": "demo", "mode": "MERGE", "items": "a,\(name)", "fields": "f"]
        let object = JSONObject(texts.map { JSONObject.Member(name: $0.key, value: .string($0.value)) })
        #expect(check.faults(of: .object(object), by: try joinQuery()).isEmpty == isDescribed)
    }

    private static let lists: Set = ["items", "fields", "commandSecondLevelFields"]

    private func schema(_ name: String) throws -> JSONValue {
        try #require(contract.root["components"]?["schemas"]?[name])
    }

    private func joinQuery() throws -> JSONValue { try #require(contract.root["x-rules"]?["JoinQuery"]) }

    @Test func queriesAreRefusedAsDescribed() throws {
        let schema = try joinQuery()
        for texts in Self.properties {
            let object = JSONObject(texts.map { JSONObject.Member(name: $0.key, value: .string($0.value)) })
            let query = texts.map { "\($0.key)=\($0.value)" }.joined(separator: "&")
            let isDescribed = check.faults(of: .object(object), by: schema).isEmpty
            let isAccepted =
                (try? StreamQuery.sources(Query(raw: query), SourceDefaults(GatewayConfiguration()))) != nil
            #expect(isDescribed == isAccepted, "\(query)")
        }
    }

    private static let feedMembers: [(name: String, value: JSONValue)] = [
        ("items", "a,b"), ("item", ["a"]), ("item", ["a", "b"]), ("fields", "price"), ("field", ["price"]),
        ("items", ""), ("item", [""]), ("mode", "MERGE"), ("upstream", "demo"), ("selector", "s"), ("itemGroup", "g"),
        ("fieldSchema", "s"), ("dataAdapter", "d"), ("commandSecondLevelFields", "x"), ("requestedSnapshot", "no"),
        ("requestedMaxFrequency", "2"), ("requestedMaxFrequency", "unfiltered"), ("requestedBufferSize", "3"),
    ]

    @Test func queriesOfFeedsAreRefusedAsDescribed() throws {
        let schema = try #require(contract.root["x-rules"]?["FeedQuery"])
        var feed = FeedConfiguration(name: "quotes")
        feed.upstream = "demo"
        feed.items = ["a", "b"].compactMap { FeedItem($0) }
        feed.fields = [FeedField("price", "number")].compactMap(\.self)
        var configuration = GatewayConfiguration()
        configuration.feeds = [feed]
        let defaults = SourceDefaults(configuration)
        for first in Self.feedMembers {
            for second in Self.feedMembers where second.name != first.name {
                var object = JSONObject()
                object["feed"] = "quotes"
                for member in [first, second] { object[member.name] = member.value }
                let pairs = object.flatMap { member in
                    (member.value.array ?? [member.value]).map { "\(member.name)=\($0.string ?? "")" }
                }
                let query = pairs.joined(separator: "&")
                let isAccepted = (try? StreamQuery.sources(Query(raw: query), defaults)) != nil
                #expect(check.faults(of: .object(object), by: schema).isEmpty == isAccepted, "\(query)")
            }
        }
    }

    @Test(arguments: ["NewSubscription", "JoinProperties"])
    func bodiesAreRefusedAsDescribed(name: String) throws {
        let schema = try schema(name)
        for texts in Self.properties {
            let object = JSONObject(texts.map { JSONObject.Member(name: $0.key, value: Self.value($0.key, $0.value)) })
            let isDescribed = check.faults(of: .object(object), by: schema).isEmpty
            var properties = object
            properties["upstream"] = nil
            let reader = ObjectReader(properties, Refusals())
            #expect(isDescribed == (SubscriptionReader.properties(reader) != nil), "\(JSONValue.object(object).text)")
        }
    }

    private static func value(_ name: String, _ text: String) -> JSONValue {
        lists.contains(name) ? .array(text.split(separator: ",").map { .string(String($0)) }) : .string(text)
    }
}

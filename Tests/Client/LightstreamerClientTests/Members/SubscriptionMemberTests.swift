internal import DemoServer
internal import LightstreamerClient
internal import Testing

@Suite(.timeLimit(.minutes(1))) struct SubscriptionMemberTests {
    private static func subscription(_ mode: SubscriptionMode = .merge) throws -> Subscription {
        try Subscription(mode: mode, item: "item1", fields: mode == .command ? ["key", "command"] : ["name"])
    }

    private static func refuses(_ property: String, _ body: () throws -> Void) {
        let error = #expect(throws: ClientError.self) { try body() }
        #expect(error?.code == .invalidValue)
        #expect(error?.property == property)
    }

    @Test func constructorsTakeModeItemsAndFields() throws {
        let bare = Subscription(mode: .distinct)
        #expect(bare.mode == .distinct && bare.items == nil && bare.fields == nil && !bare.isActive)
        #expect(bare.requestedSnapshot == .yes && Subscription(mode: .raw).requestedSnapshot == nil)
        let one = try Subscription(mode: .merge, item: "a", fields: ["f", "g"])
        #expect(one.items == ["a"] && one.fields == ["f", "g"])
        let two = try Subscription(mode: .raw, items: ["a", "b"], fields: ["f"])
        #expect(two.items == ["a", "b"])
        #expect(throws: ClientError.self) { try Subscription(mode: .merge, items: [], fields: ["f"]) }
        #expect(throws: ClientError.self) { try Subscription(mode: .command, item: "a", fields: ["key"]) }
    }

    @Test(arguments: ["", "two words", "123", "0"])
    func badItemNamesAreRefused(name: String) throws {
        let subscription = try Self.subscription()
        Self.refuses("items") { try subscription.setItems(["a", name]) }
        #expect(subscription.items == ["item1"])
        try subscription.setItems(["123i", "123_456", "1.2.3", "1e5", "-3", "+7", "1.5", ".5", "5.", "-", ".", "0x1F"])
    }

    @Test(arguments: ["", "two words"])
    func badFieldNamesAreRefused(name: String) throws {
        let subscription = try Self.subscription()
        Self.refuses("fields") { try subscription.setFields(["a", name]) }
        try subscription.setFields(["123"])
    }

    @Test func listsAndNamesReplaceEachOther() throws {
        let subscription = try Self.subscription(.command)
        try subscription.setItemGroup("group")
        #expect(subscription.items == nil && subscription.itemGroup == "group")
        try subscription.setItems(["a"])
        #expect(subscription.items == ["a"] && subscription.itemGroup == nil)
        try subscription.setFieldSchema("schema")
        #expect(subscription.fields == nil && subscription.fieldSchema == "schema")
        try subscription.setCommandSecondLevelFields(["a"])
        #expect(subscription.commandSecondLevelFields == ["a"] && subscription.commandSecondLevelFieldSchema == nil)
        try subscription.setCommandSecondLevelFieldSchema("below")
        #expect(subscription.commandSecondLevelFields == nil && subscription.commandSecondLevelFieldSchema == "below")
        try subscription.setCommandSecondLevelDataAdapter("adapter")
        #expect(subscription.commandSecondLevelDataAdapter == "adapter")
        for name in ["itemGroup", "fieldSchema", "commandSecondLevelFieldSchema", "commandSecondLevelDataAdapter"] {
            #expect(throws: ClientError.self, "\(name)") {
                switch name {
                case "itemGroup": try subscription.setItemGroup("")
                case "fieldSchema": try subscription.setFieldSchema("")
                case "commandSecondLevelFieldSchema": try subscription.setCommandSecondLevelFieldSchema("")
                default: try subscription.setCommandSecondLevelDataAdapter("")
                }
            }
        }
    }

    @Test func secondLevelBelongsToCommandMode() throws {
        let subscription = try Self.subscription()
        #expect(throws: ClientError.self) { try subscription.setCommandSecondLevelFields(["a"]) }
        #expect(throws: ClientError.self) { try subscription.setCommandSecondLevelFieldSchema("a") }
        #expect(throws: ClientError.self) { try subscription.setCommandSecondLevelDataAdapter("a") }
    }

    @Test func adapterSelectorBufferSnapshotAndFrequencyAreKept() throws {
        let subscription = try Self.subscription(.distinct)
        try subscription.setDataAdapter("adapter")
        try subscription.setSelector("selector")
        try subscription.setRequestedBufferSize(.limited(3))
        try subscription.setRequestedSnapshot(.length(5))
        try subscription.setRequestedMaxFrequency(.limited(2.5))
        #expect(subscription.dataAdapter == "adapter" && subscription.selector == "selector")
        #expect(subscription.requestedBufferSize == .limited(3) && subscription.requestedSnapshot == .length(5))
        #expect(subscription.requestedMaxFrequency == .limited(2.5))
        for part in ["DISTINCT", "item1", "name", "adapter", "selector", "2.5"] {
            #expect(subscription.description.contains(part))
        }
        Self.refuses("dataAdapter") { try subscription.setDataAdapter("") }
        Self.refuses("selector") { try subscription.setSelector("") }
        Self.refuses("requestedBufferSize") { try subscription.setRequestedBufferSize(.limited(0)) }
        Self.refuses("requestedSnapshot") { try subscription.setRequestedSnapshot(.length(0)) }
        Self.refuses("requestedMaxFrequency") { try subscription.setRequestedMaxFrequency(.limited(0)) }
    }

    @Test func propertiesAreReadAndReplacedTogether() throws {
        let subscription = try Self.subscription(.distinct)
        var properties = try #require(subscription.properties)
        properties.items = .list(["item7"])
        properties.selector = "selector"
        try subscription.setProperties(properties)
        #expect(subscription.properties == properties)
        #expect(subscription.items == ["item7"] && subscription.selector == "selector")
        var wrong = properties
        wrong.dataAdapter = ""
        wrong.selector = "other"
        Self.refuses("dataAdapter") { try subscription.setProperties(wrong) }
        let otherMode = SubscriptionProperties(mode: .merge, items: properties.items, fields: properties.fields)
        #expect(throws: ClientError.self) { try subscription.setProperties(otherMode) }
        #expect(subscription.properties == properties)
    }

    @Test func snapshotLengthIsForDistinctAndRawHasNone() throws {
        Self.refuses("requestedSnapshot") { try Self.subscription(.merge).setRequestedSnapshot(.length(1)) }
        Self.refuses("requestedSnapshot") { try Self.subscription(.raw).setRequestedSnapshot(.yes) }
    }

    @Test func activeSubscriptionCannotBeChanged() async throws {
        try await MemberFixture.runConnected { fixture in
            let subscription = try await fixture.quote()
            #expect(subscription.isActive && subscription.isSubscribed)
            let setters: [() throws -> Void] = [
                { try subscription.setItems(["item2"]) }, { try subscription.setItemGroup("g") },
                { try subscription.setFields(["price"]) }, { try subscription.setFieldSchema("s") },
                { try subscription.setDataAdapter(nil) }, { try subscription.setSelector("s") },
                { try subscription.setRequestedSnapshot(.no) }, { try subscription.setRequestedBufferSize(.unlimited) },
            ]
            for set in setters {
                let error = #expect(throws: ClientError.self) { try set() }
                #expect(error?.code == .lifecycle)
            }
            try fixture.client.unsubscribe(subscription)
            #expect(!subscription.isActive && !subscription.isSubscribed)
            try subscription.setItems(["item2"])
        }
    }

    @Test func frequencyChangesWhileActive() async throws {
        try await MemberFixture.runConnected { fixture in
            let subscription = try await fixture.quote()
            await fixture.log.until("frequency unlimited")
            try subscription.setRequestedMaxFrequency(.limited(5))
            await fixture.log.until("frequency 5")
            #expect(subscription.realMaxFrequency == .limited(5))
            for frequency in [RequestedMaxFrequency.unfiltered, nil] {
                let error = #expect(throws: ClientError.self) { try subscription.setRequestedMaxFrequency(frequency) }
                #expect(error?.code == .lifecycle)
            }
        }
    }

    @Test func valuesAreReadByNameAndPosition() async throws {
        try await MemberFixture.runConnected { fixture in
            let subscription = try await fixture.quote()
            #expect(try subscription.valueWithItemPos(1, fieldPos: 1) == nil)
            await fixture.publish("item1", "Acme", "7", to: "QUOTES")
            await fixture.log.until("update")
            #expect(try subscription.valueWithItemPos(1, fieldPos: 2) == "7")
            #expect(try subscription.valueWithItemPos(1, fieldName: "name") == "Acme")
            #expect(try subscription.valueWithItemName("item1", fieldPos: 1) == "Acme")
            #expect(try subscription.valueWithItemName("item1", fieldName: "price") == "7")
            #expect(throws: ClientError.self) { try subscription.valueWithItemPos(2, fieldPos: 1) }
            #expect(throws: ClientError.self) { try subscription.valueWithItemPos(1, fieldPos: 0) }
            #expect(throws: ClientError.self) { try subscription.valueWithItemName("item2", fieldName: "name") }
            #expect(throws: ClientError.self) { try subscription.commandValueWithItemPos(1, key: "k", fieldPos: 1) }
            try fixture.client.unsubscribe(subscription)
            #expect(try subscription.valueWithItemPos(1, fieldPos: 2) == nil)
        }
    }

    @Test func valuesOfKeysAreReadByNameAndPosition() async throws {
        try await MemberFixture.runConnected { fixture in
            let subscription = try Subscription(mode: .command, item: "portfolio1", fields: ["key", "command", "qty"])
            #expect(subscription.keyPosition == nil && subscription.commandPosition == nil)
            try await fixture.subscribe(subscription, to: "PORTFOLIO")
            #expect(subscription.keyPosition == 1 && subscription.commandPosition == 2)
            await fixture.publish("portfolio1", "k", "ADD", "3", to: "PORTFOLIO")
            await fixture.publish("portfolio1", "k", "UPDATE", "4", to: "PORTFOLIO")
            await fixture.log.until("update 1 k|UPDATE|4")
            #expect(try subscription.commandValueWithItemPos(1, key: "k", fieldPos: 3) == "4")
            #expect(try subscription.commandValueWithItemPos(1, key: "k", fieldName: "command") == "UPDATE")
            #expect(try subscription.commandValueWithItemName("portfolio1", key: "k", fieldPos: 1) == "k")
            #expect(try subscription.commandValueWithItemName("portfolio1", key: "k", fieldName: "qty") == "4")
            #expect(try subscription.commandValueWithItemPos(1, key: "other", fieldPos: 3) == nil)
            await fixture.publish("portfolio1", "k", "DELETE", nil, to: "PORTFOLIO")
            await fixture.log.until("update 1 k|DELETE")
            #expect(try subscription.commandValueWithItemPos(1, key: "k", fieldPos: 3) == nil)
            try fixture.client.unsubscribe(subscription)
            #expect(subscription.keyPosition == 1 && subscription.commandPosition == 2)
            try subscription.setFields(["command", "key"])
            #expect(subscription.keyPosition == nil && subscription.commandPosition == nil)
        }
    }

    @Test func delegatesAreHeldInTheOrderOfAddition() throws {
        let subscription = try Self.subscription()
        let (first, second) = (MemberLog(), MemberLog())
        subscription.addDelegate(first)
        subscription.addDelegate(second)
        subscription.addDelegate(first)
        #expect(subscription.delegates.elementsEqual([first, second]) { $0 === $1 })
        subscription.removeDelegate(first)
        #expect(subscription.delegates.count == 1)
        #expect(first.entries == ["joined", "left"])
    }
}

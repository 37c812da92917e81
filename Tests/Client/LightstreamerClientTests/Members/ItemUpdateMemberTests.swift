internal import DemoServer
internal import LightstreamerClient
internal import Testing

@Suite(.timeLimit(.minutes(1))) struct ItemUpdateMemberTests {
    @Test func updateReportsItsItemAndItsValues() async throws {
        try await MemberFixture.runConnected { fixture in
            await fixture.publish("item1", "Acme", nil, to: "QUOTES")
            _ = try await fixture.quote()
            let update = try await fixture.log.nextUpdate()
            #expect(update.itemName == "item1" && update.itemPos == 1 && update.isSnapshot)
            #expect(try update.value(withFieldPos: 1) == "Acme")
            #expect(try update.value(withFieldName: "price") == nil)
            #expect(try update.fields == ["name": "Acme", "price": nil])
            #expect(update.fieldsByPositions == [1: "Acme", 2: nil])
            #expect(throws: ClientError.self) { try update.value(withFieldPos: 3) }
            #expect(throws: ClientError.self) { try update.value(withFieldName: "other") }
        }
    }

    @Test func updateReportsWhatItChanged() async throws {
        try await MemberFixture.runConnected { fixture in
            _ = try await fixture.quote()
            await fixture.publish("item1", "Acme", "7", to: "QUOTES")
            #expect(try await fixture.log.nextUpdate().changedFields.count == 2)
            await fixture.publish("item1", "Acme", "8", to: "QUOTES")
            let update = try await fixture.log.nextUpdate()
            #expect(!update.isSnapshot)
            #expect(try !update.isValueChanged(withFieldPos: 1))
            #expect(try update.isValueChanged(withFieldName: "price"))
            #expect(try update.changedFields == ["price": "8"])
            #expect(update.changedFieldsByPositions == [2: "8"])
            #expect(throws: ClientError.self) { try update.isValueChanged(withFieldPos: 3) }
        }
    }

    @Test func descriptionHasTheChangedFieldsUpToALimit() {
        let names = (1...30).map { "f\($0)" }
        let layout = SubscriptionLayout(itemNames: ["a"], fieldNames: names, fieldCount: 30)
        var changed = FieldSet()
        changed.insert(2)
        changed.insert(3)
        let values = ["1", nil, String(repeating: "e\u{301}", count: 1_000)]
        let few = ItemUpdate(layout: layout, itemPos: 1, isSnapshot: false, values: values, changed: changed)
        #expect("\(few)" == "item a (1), update: f2: null, f3: \(String(repeating: "e\u{301}", count: 30))…")
        let all = ItemUpdate(layout: layout, itemPos: 1, isSnapshot: true, values: names, changed: FieldSet(all: 30))
        #expect(all.description.hasPrefix("item a (1), snapshot: f1: f1, f2: f2,"))
        #expect(all.description.hasSuffix(", f20: f20, …"))
    }

    @Test func descriptionOfARowHasItsKey() {
        let layout = SubscriptionLayout(
            itemNames: nil,
            fieldNames: nil,
            fieldCount: 2,
            keyPosition: 1,
            commandPosition: 2,
            secondLevelFieldNames: ["price"],
            hasSecondLevel: true
        )
        var changed = FieldSet()
        changed.insert(2)
        changed.insert(3)
        let values = ["k", "UPDATE", "7"]
        let row = ItemUpdate(layout: layout, itemPos: 4, isSnapshot: false, values: values, changed: changed)
        #expect(row.description == "item 4, update: 1: k, 2: UPDATE, price: 7")
    }

    /// An update of a row of two levels, of which the second has a field with a name of the first.
    private static func twoLevelUpdate(_ values: [String?], changed positions: [Int]) -> ItemUpdate {
        let layout = SubscriptionLayout(
            itemNames: ["portfolio"],
            fieldNames: ["key", "command", "qty"],
            fieldCount: 3,
            keyPosition: 1,
            commandPosition: 2,
            secondLevelFieldNames: ["qty", "price"],
            hasSecondLevel: true
        )
        var changed = FieldSet()
        for position in positions { changed.insert(position) }
        return ItemUpdate(layout: layout, itemPos: 1, isSnapshot: false, values: values, changed: changed)
    }

    @Test func deleteListsNoFieldsOfTheSecondLevel() throws {
        let update = Self.twoLevelUpdate(["k", "DELETE", nil, nil, nil], changed: [2, 3, 4, 5])
        #expect(try update.isValueChanged(withFieldName: "price") && update.isValueChanged(withFieldPos: 4))
        #expect(try update.changedFields == ["command": "DELETE", "qty": nil])
        #expect(update.changedFieldsByPositions == [2: "DELETE", 3: nil])
    }

    @Test func nameOfBothLevelsStandsForTheFirst() throws {
        let update = Self.twoLevelUpdate(["k", "UPDATE", "10", "20", "7"], changed: [4, 5])
        #expect(try update.value(withFieldName: "qty") == "10")
        #expect(try !update.isValueChanged(withFieldName: "qty"))
        #expect(try update.changedFields == ["price": "7"])
        #expect(try update.fields == ["key": "k", "command": "UPDATE", "qty": "10", "price": "7"])
        #expect(update.changedFieldsByPositions == [4: "20", 5: "7"])
    }

    @Test func updateOfASchemaHasNoNames() async throws {
        try await MemberFixture.runConnected { fixture in
            let subscription = Subscription(mode: .raw)
            try subscription.setItemGroup("events")
            try subscription.setFieldSchema("text")
            try await fixture.subscribe(subscription, to: "EVENTS")
            await fixture.publish("events", "hello", to: "EVENTS")
            let update = try await fixture.log.nextUpdate()
            #expect(update.itemName == nil)
            #expect(throws: ClientError.self) { try update.value(withFieldName: "text") }
            #expect(throws: ClientError.self) { try update.fields }
            #expect(update.fieldsByPositions == [1: "hello"])
        }
    }

    @Test func patchesAreHandedOn() async throws {
        try await MemberFixture.runConnected { fixture in
            let subscription = try Subscription(mode: .merge, item: "document", fields: ["text", "size"])
            try await fixture.subscribe(subscription, to: "DOCUMENTS")
            let list = (1...40).map(String.init).joined(separator: ",")
            await fixture.publish("document", #"{"list":[\#(list)],"a":1}"#, "1", to: "DOCUMENTS")
            #expect(try await fixture.log.nextUpdate().valueAsJSONPatchIfAvailable(withFieldName: "text") == nil)
            await fixture.publish("document", #"{"list":[\#(list)],"a":2}"#, "1", to: "DOCUMENTS")
            let update = try await fixture.log.nextUpdate()
            let patch = try #require(try update.valueAsJSONPatchIfAvailable(withFieldPos: 1))
            #expect(patch.contains("/a"))
            #expect(try update.value(withFieldPos: 1)?.hasSuffix(#""a":2}"#) == true)
            #expect(try update.valueAsJSONPatchIfAvailable(withFieldName: "size") == nil)
        }
    }
}

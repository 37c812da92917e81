internal import LightstreamerClient
internal import Testing

/// Serialized: `limitExceptionsUse` applies to the whole process, and all tests that depend on it are here.
@Suite(.serialized) struct SubscriptionValuesTests {
    private let layout = SubscriptionLayout(
        itemNames: ["i"],
        fieldNames: ["key", "command", "x"],
        fieldCount: 3,
        keyPosition: 1,
        commandPosition: 2,
        secondLevelFieldNames: ["x", "z"],
        hasSecondLevel: true
    )

    private var update: ItemUpdate {
        var changed = FieldSet()
        changed.insert(3)
        changed.insert(5)
        let values = ["k", "ADD", nil, "b", "c"]
        return ItemUpdate(
            layout: layout,
            itemPos: 1,
            isSnapshot: false,
            values: values,
            changed: changed,
            patches: [5: "[]"]
        )
    }

    @Test func fieldsOfAnUpdateAreReadByNameAndPosition() throws {
        #expect(try update.value(withFieldName: "z") == "c")
        #expect(try update.value(withFieldPos: 4) == "b")
        #expect(try update.value(withFieldName: "x") == nil)
        #expect(try update.isValueChanged(withFieldName: "x"))
        #expect(try !update.isValueChanged(withFieldPos: 4))
        #expect(try update.valueAsJSONPatchIfAvailable(withFieldName: "z") == "[]")
        #expect(try update.changedFields == ["x": nil, "z": "c"])
        #expect(update.changedFieldsByPositions == [3: nil, 5: "c"])
        #expect(update.fieldsByPositions.count == 5)
        #expect(try update.fields == ["key": "k", "command": "ADD", "x": nil, "z": "c"])
    }

    @Test func unknownFieldsThrowUnlessExceptionsAreLimited() throws {
        #expect(throws: ClientError.self) { try update.value(withFieldName: "nope") }
        #expect(throws: ClientError.self) { try update.value(withFieldPos: 0) }
        #expect(throws: ClientError.self) { try update.isValueChanged(withFieldPos: 6) }
        LightstreamerClient.limitExceptionsUse = true
        defer { LightstreamerClient.limitExceptionsUse = false }
        #expect(try update.value(withFieldName: "nope") == nil)
        #expect(try update.value(withFieldPos: .max) == nil)
        #expect(try !update.isValueChanged(withFieldPos: .min))
    }

    @Test func namesNeedALayoutWithNames() {
        let bare = ItemUpdate(
            layout: SubscriptionLayout(itemNames: nil, fieldNames: nil, fieldCount: 1),
            itemPos: 1,
            isSnapshot: true,
            values: ["v"],
            changed: FieldSet(all: 1)
        )
        #expect(throws: ClientError.self) { try bare.fields }
        #expect(throws: ClientError.self) { try bare.changedFields }
        #expect(bare.fieldsByPositions == [1: "v"])
        #expect(bare.itemName == nil)
    }

    @Test func gettersOfASubscriptionCheckNamesAndPositions() throws {
        let subscription = try Subscription(mode: .merge, items: ["a"], fields: ["f"])
        #expect(try subscription.valueWithItemPos(1, fieldPos: 1) == nil)
        #expect(throws: ClientError.self) { try subscription.valueWithItemPos(2, fieldPos: 1) }
        #expect(throws: ClientError.self) { try subscription.valueWithItemPos(1, fieldPos: 0) }
        #expect(throws: ClientError.self) { try subscription.valueWithItemName("b", fieldPos: 1) }
        #expect(throws: ClientError.self) { try subscription.valueWithItemPos(1, fieldName: "g") }
        let error = #expect(throws: ClientError.self) {
            try subscription.commandValueWithItemPos(1, key: "k", fieldPos: 1)
        }
        #expect(error?.code == .notCommandMode)
        LightstreamerClient.limitExceptionsUse = true
        defer { LightstreamerClient.limitExceptionsUse = false }
        #expect(try subscription.valueWithItemName("b", fieldName: "g") == nil)
        #expect(try subscription.commandValueWithItemName("a", key: "k", fieldName: "f") == nil)
    }

    @Test func groupsOfUnknownSizeHaveNoUpperBound() throws {
        let subscription = Subscription(mode: .merge)
        try subscription.setItemGroup("g")
        try subscription.setFieldSchema("s")
        #expect(try subscription.valueWithItemPos(99, fieldPos: 99) == nil)
        #expect(throws: ClientError.self) { try subscription.valueWithItemPos(0, fieldPos: 1) }
        #expect(throws: ClientError.self) { try subscription.valueWithItemName("g", fieldPos: 1) }
    }
}

import SessionCore

extension ItemUpdate {
    /// The snapshot of the item `i`, the only one of its subscription, with a value of the only field, `f`.
    init(snapshotOf value: String) {
        self.init(
            layout: SubscriptionLayout(
                itemNames: ["i"],
                fieldNames: ["f"],
                fieldCount: 1,
                keyPosition: nil,
                commandPosition: nil
            ),
            itemPos: 1,
            isSnapshot: true,
            values: [value],
            changed: FieldSet(all: 1)
        )
    }
}

internal import LightstreamerClient
internal import Testing

@Suite struct SubscriptionRulesTests {
    @Test(arguments: [[], [""], ["a b"], ["123"], ["ok", "7"], ["0"]])
    func badItemListsAreRefused(names: [String]) {
        let subscription = Subscription(mode: .merge)
        let error = #expect(throws: ClientError.self) { try subscription.setItems(names) }
        #expect(error?.code == .invalidValue)
        #expect(error?.property == "items")
    }

    @Test(arguments: ["123i", "123_456", "a\r\nb", "7x", "1.2.3", "-1", "1.5", "+.5e-3", "1E9", "-"])
    func itemNamesMayHoldDigitsAndLineEnds(name: String) throws {
        let subscription = Subscription(mode: .merge)
        try subscription.setItems([name])
        #expect(subscription.items == [name])
    }

    @Test func allDigitFieldNamesAreLegal() throws {
        let subscription = Subscription(mode: .merge)
        try subscription.setFields(["1", "2"])
        #expect(subscription.fields == ["1", "2"])
    }

    @Test func commandModeNeedsKeyAndCommand() throws {
        let subscription = Subscription(mode: .command)
        #expect(throws: ClientError.self) { try subscription.setFields(["key", "x"]) }
        try subscription.setFields(["command", "x", "key"])
        try subscription.setFieldSchema("any")
    }

    @Test func listsAndGroupsReplaceEachOther() throws {
        let subscription = try Subscription(mode: .merge, item: "i", fields: ["f"])
        try subscription.setItemGroup("g")
        #expect(subscription.items == nil)
        #expect(subscription.itemGroup == "g")
        try subscription.setFieldSchema("s")
        #expect(subscription.fields == nil)
        try subscription.setFields(["f"])
        #expect(subscription.fieldSchema == nil)
    }

    @Test func snapshotDependsOnTheMode() throws {
        #expect(Subscription(mode: .merge).requestedSnapshot == .yes)
        #expect(Subscription(mode: .raw).requestedSnapshot == nil)
        #expect(throws: ClientError.self) { try Subscription(mode: .raw).setRequestedSnapshot(.no) }
        #expect(throws: ClientError.self) { try Subscription(mode: .merge).setRequestedSnapshot(.length(3)) }
        #expect(throws: ClientError.self) { try Subscription(mode: .distinct).setRequestedSnapshot(.length(0)) }
        try Subscription(mode: .distinct).setRequestedSnapshot(.length(3))
    }

    @Test func secondLevelIsForCommandModeOnly() throws {
        #expect(throws: ClientError.self) { try Subscription(mode: .merge).setCommandSecondLevelFields(["x"]) }
        #expect(throws: ClientError.self) { try Subscription(mode: .raw).setCommandSecondLevelFieldSchema("x") }
        #expect(throws: ClientError.self) { try Subscription(mode: .merge).setCommandSecondLevelDataAdapter("x") }
        let subscription = Subscription(mode: .command)
        try subscription.setCommandSecondLevelFields(["x"])
        try subscription.setCommandSecondLevelFieldSchema("s")
        #expect(subscription.commandSecondLevelFields == nil)
    }

    @Test func limitsMustBePositive() throws {
        let subscription = Subscription(mode: .merge)
        #expect(throws: ClientError.self) { try subscription.setRequestedBufferSize(.limited(0)) }
        #expect(throws: ClientError.self) { try subscription.setRequestedMaxFrequency(.limited(-1)) }
        #expect(throws: ClientError.self) { try subscription.setRequestedMaxFrequency(.limited(.nan)) }
        #expect(throws: ClientError.self) { try subscription.setSelector("") }
        #expect(throws: ClientError.self) { try subscription.setDataAdapter("") }
    }

    @Test func incompleteSubscriptionsCannotBeSubscribedTo() throws {
        let client = try LightstreamerClient()
        let subscription = Subscription(mode: .merge)
        #expect(throws: ClientError.self) { try client.subscribe(subscription) }
        try subscription.setItems(["i"])
        let error = #expect(throws: ClientError.self) { try client.subscribe(subscription) }
        #expect(error?.rule == "Specify property 'fields' or 'fieldSchema'")
        try subscription.setFields(["f"])
        try client.subscribe(subscription)
    }

    @Test func activeSubscriptionsCannotBeChangedButForTheirFrequency() throws {
        let client = try LightstreamerClient()
        let subscription = try Subscription(mode: .merge, item: "i", fields: ["f"])
        try client.subscribe(subscription)
        #expect(throws: ClientError.self) { try client.subscribe(subscription) }
        let error = #expect(throws: ClientError.self) { try subscription.setItems(["j"]) }
        #expect(error?.code == .lifecycle)
        try subscription.setRequestedMaxFrequency(.limited(2))
        try subscription.setRequestedMaxFrequency(.unlimited)
        #expect(throws: ClientError.self) { try subscription.setRequestedMaxFrequency(.unfiltered) }
        #expect(throws: ClientError.self) { try subscription.setRequestedMaxFrequency(nil) }
        #expect(subscription.requestedMaxFrequency == .unlimited)
        try client.unsubscribe(subscription)
        try client.unsubscribe(subscription)
        try subscription.setRequestedMaxFrequency(.unfiltered)
    }

    @Test func subscriptionBelongsToOneClientAtATime() throws {
        let (first, second) = (try LightstreamerClient(), try LightstreamerClient())
        let subscription = try Subscription(mode: .merge, item: "i", fields: ["f"])
        try first.subscribe(subscription)
        #expect(throws: ClientError.self) { try second.subscribe(subscription) }
        #expect(throws: ClientError.self) { try second.unsubscribe(subscription) }
        try first.unsubscribe(subscription)
        try second.subscribe(subscription)
        #expect(second.subscriptions.count == 1)
    }

    @Test(arguments: ["ws://x", "x", "http://", "http://x?y", "http://a b", "http://x:99999", "ftp://x"])
    func badServerAddressesAreRefused(address: String) {
        let error = #expect(throws: ClientError.self) { try LightstreamerClient(serverAddress: address) }
        #expect(error?.property == "serverAddress")
    }

    @Test(arguments: ["http://x", "https://x:8080/push/", "http://[::1]:80", "HTTPS://Push.Example.com"])
    func goodServerAddressesAreTaken(address: String) throws {
        #expect(try LightstreamerClient(serverAddress: address).connectionDetails.serverAddress == address)
    }
}

internal import SessionCore
internal import Testing

/// The requests of subscriptions, with their time and order.
struct SubscriptionStoreRequestTests {
    private let token = StoreFixture.token

    @Test func addCarriesAllParametersInOrder() {
        var fixture = StoreFixture()
        var properties = SubscriptionProperties(mode: .distinct, items: .list(["i 1+", "i2"]), fields: .group("a&b"))
        properties.dataAdapter = "adapter"
        properties.selector = "sel"
        properties.requestedSnapshot = .length(10)
        properties.requestedMaxFrequency = .limited(123)
        properties.requestedBufferSize = .limited(5)
        _ = fixture.store.subscribe(token, properties)
        #expect(
            fixture.send() == [
                "LS_reqId=1&LS_op=add&LS_subId=1&LS_mode=DISTINCT&LS_group=i%201%2B%20i2&LS_schema=a%26b"
                    + "&LS_data_adapter=adapter&LS_selector=sel&LS_snapshot=10"
                    + "&LS_requested_max_frequency=123.0&LS_requested_buffer_size=5&LS_ack=false"
            ]
        )
    }

    @Test(arguments: [
        (RequestedSnapshot?.none, RequestedMaxFrequency?.none, RequestedBufferSize?.none, ""),
        (
            .no, .unlimited, .unlimited,
            "&LS_snapshot=false&LS_requested_max_frequency=unlimited&LS_requested_buffer_size=unlimited"
        ),
        (.yes, .unfiltered, nil, "&LS_snapshot=true&LS_requested_max_frequency=unfiltered"),
    ])
    func addWritesWhatWasAskedFor(
        snapshot: RequestedSnapshot?,
        frequency: RequestedMaxFrequency?,
        buffer: RequestedBufferSize?,
        expected: String
    ) {
        var fixture = StoreFixture()
        var properties = SubscriptionProperties.merge()
        properties.requestedSnapshot = snapshot
        properties.requestedMaxFrequency = frequency
        properties.requestedBufferSize = buffer
        _ = fixture.store.subscribe(token, properties)
        let head = "LS_reqId=1&LS_op=add&LS_subId=1&LS_mode=MERGE&LS_group=i1%20i2&LS_schema=f1%20f2"
        #expect(fixture.post() == [head + expected])
    }

    @Test(arguments: [
        (SubscriptionMode.raw, RequestedMaxFrequency.limited(1)), (.command, .limited(1)), (.merge, .unfiltered),
    ])
    func addOmitsPropertiesWithoutEffect(mode: SubscriptionMode, frequency: RequestedMaxFrequency) {
        var fixture = StoreFixture()
        var properties = SubscriptionProperties(mode: mode, items: .group("g"), fields: .group("s"))
        properties.requestedMaxFrequency = frequency
        properties.requestedBufferSize = .limited(3)
        _ = fixture.store.subscribe(token, properties)
        let request = fixture.post().first ?? ""
        #expect(!request.contains("LS_requested_buffer_size"))
        #expect(request.contains("LS_requested_max_frequency") == (mode != .raw))
    }

    @Test func unansweredAddIsWrittenAgainWithANewIdentifier() {
        var fixture = StoreFixture.added()
        fixture.store.channelLost()
        let again = fixture.send()
        #expect(again.map { $0.hasPrefix("LS_reqId=2&LS_op=add&LS_subId=1&") } == [true])
        #expect(fixture.refuse(1) == nil, "the answer to an earlier copy")
        #expect(fixture.refuse(2, 21, "bad group").brief == ["failed 21 bad group"])
    }

    @Test func acknowledgedAddIsNotWrittenAgain() {
        var fixture = StoreFixture.added(acknowledged: true)
        #expect(fixture.accept(1) == [])
        fixture.store.channelLost()
        #expect(fixture.post() == [])
    }

    @Test func unansweredDeleteIsWrittenAgain() throws {
        var fixture = try StoreFixture.subscribed()
        _ = fixture.store.unsubscribe(token)
        _ = fixture.send()
        fixture.store.channelLost()
        #expect(fixture.send() == ["LS_reqId=3&LS_subId=1&LS_op=delete&LS_ack=false"])
    }

    @Test func deleteIsNotTakenAsAnsweredByTheReconfBeforeIt() throws {
        var fixture = try StoreFixture.subscribed()
        _ = fixture.store.changeMaxFrequency(token, .limited(1))
        _ = fixture.send()
        _ = fixture.store.unsubscribe(token)
        #expect(fixture.accept(2) == [])
        #expect(fixture.send() == ["LS_reqId=3&LS_subId=1&LS_op=delete&LS_ack=false"])
    }

    @Test func pendingRequestsGoInCreationOrder() throws {
        var fixture = try StoreFixture.subscribed()
        _ = fixture.store.subscribe(SubscriptionToken(2), .merge())
        _ = fixture.store.unsubscribe(token)
        #expect(fixture.post().map { $0.contains("LS_op=delete") } == [true, false])
    }

    @Test func requestsThatDoNotFitStayPendingInOrder() {
        var fixture = StoreFixture()
        for number in 1...4 { _ = fixture.store.subscribe(SubscriptionToken(UInt64(number)), .merge()) }
        #expect(fixture.post(atMost: 2).map { $0.contains("subId=1&") || $0.contains("subId=2&") } == [true, true])
        #expect(fixture.isIdle() == false)
        _ = fixture.accept(1)
        fixture.store.channelLost()
        let subscriptions = fixture.post().compactMap { $0.split(separator: "&").first { $0.hasPrefix("LS_subId") } }
        #expect(subscriptions == ["LS_subId=2", "LS_subId=3", "LS_subId=4"])
    }

    // MARK: - Zombies

    @Test(arguments: [
        "U,7,1,a", "SUBOK,7,1,1", "SUBCMD,7,1,2,1,2", "EOS,7,1", "CS,7,1", "OV,7,1,1", "CONF,7,3.0,filtered",
    ])
    func lineOfAnUnknownSubscriptionMakesOneZombieDelete(line: String) throws {
        var fixture = StoreFixture()
        #expect(try fixture.receive(line, line).brief == [">"])
        #expect(fixture.send() == ["LS_reqId=1&LS_subId=7&LS_op=delete&LS_ack=false&LS_cause=zombie"])
        #expect(try fixture.receive(line, "U,7,9,a|b|c", "EOS,7,99") == [])
    }

    @Test func unknownRemovalIsIgnored() throws {
        var fixture = StoreFixture()
        #expect(try fixture.receive("UNSUB,7") == [])
        #expect(fixture.isIdle() == true)
    }

    @Test(arguments: ["accepted", "refused", "removed", "ended"])
    func zombieIsForgotten(end: String) throws {
        var fixture = StoreFixture()
        _ = try fixture.receive("U,7,1,a")
        _ = fixture.send()
        switch end {
        case "accepted": #expect(fixture.accept(1) == [])
        case "refused": #expect(fixture.refuse(1, 19) == [])
        case "removed": #expect(try fixture.receive("UNSUB,7") == [])
        default: #expect(fixture.store.sessionEnded() == [])
        }
        #expect(fixture.isIdle() == true)
        #expect(try fixture.receive("U,7,1,a").brief == [">"], "a new zombie")
    }

    @Test func zombiesWithoutAnAnswerAreBounded() throws {
        var fixture = StoreFixture()
        for number in 1...SubscriptionStore.maxZombies { _ = try fixture.receive("U,\(number),1,x") }
        #expect(try fixture.receive("U,5000,1,x", "SUBOK,5001,1,1") == [])
        #expect(fixture.send().count == SubscriptionStore.maxZombies)
        #expect(try fixture.receive("U,5000,1,x") == [])
        #expect(fixture.accept(1) == [])
        #expect(try fixture.receive("U,5000,1,x", "U,5001,1,x").brief == [">"])
        #expect(fixture.send() == ["LS_reqId=1001&LS_subId=5000&LS_op=delete&LS_ack=false&LS_cause=zombie"])
        _ = fixture.store.sessionEnded()
        #expect(try fixture.receive("U,5001,1,x").brief == [">"])
    }

    @Test func numbersInventedByTheServerArePassedOver() throws {
        var fixture = StoreFixture()
        _ = try fixture.receive("U,1,1,a", "U,2,1,a")
        _ = fixture.store.subscribe(token, .merge())
        #expect(fixture.post().last?.contains("LS_op=add&LS_subId=3&") == true)
    }
}

internal import SessionCore
internal import Testing

/// What is written for subscriptions, when, and in which order.
struct SubscriptionStoreRequestTests {
    private let token = StoreBench.token

    @Test func addCarriesAllParametersInOrder() {
        var bench = StoreBench()
        var properties = SubscriptionProperties(mode: .distinct, items: .list(["i 1+", "i2"]), fields: .group("a&b"))
        properties.dataAdapter = "adapter"
        properties.selector = "sel"
        properties.requestedSnapshot = .length(10)
        properties.requestedMaxFrequency = .limited(123)
        properties.requestedBufferSize = .limited(5)
        _ = bench.store.subscribe(token, properties)
        #expect(
            bench.send() == [
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
        var bench = StoreBench()
        var properties = SubscriptionProperties.merge()
        properties.requestedSnapshot = snapshot
        properties.requestedMaxFrequency = frequency
        properties.requestedBufferSize = buffer
        _ = bench.store.subscribe(token, properties)
        let head = "LS_reqId=1&LS_op=add&LS_subId=1&LS_mode=MERGE&LS_group=i1%20i2&LS_schema=f1%20f2"
        #expect(bench.post() == [head + expected])
    }

    @Test(arguments: [
        (SubscriptionMode.raw, RequestedMaxFrequency.limited(1)), (.command, .limited(1)), (.merge, .unfiltered),
    ])
    func addOmitsPropertiesWithoutEffect(mode: SubscriptionMode, frequency: RequestedMaxFrequency) {
        var bench = StoreBench()
        var properties = SubscriptionProperties(mode: mode, items: .group("g"), fields: .group("s"))
        properties.requestedMaxFrequency = frequency
        properties.requestedBufferSize = .limited(3)
        _ = bench.store.subscribe(token, properties)
        let request = bench.post().first ?? ""
        #expect(!request.contains("LS_requested_buffer_size"))
        #expect(request.contains("LS_requested_max_frequency") == (mode != .raw))
    }

    @Test func unansweredAddIsWrittenAgainWithANewIdentifier() {
        var bench = StoreBench.added()
        bench.store.channelLost()
        let again = bench.send()
        #expect(again.map { $0.hasPrefix("LS_reqId=2&LS_op=add&LS_subId=1&") } == [true])
        #expect(bench.refuse(1) == nil, "the answer to an earlier copy")
        #expect(bench.refuse(2, 21, "bad group").brief == ["failed 21 bad group"])
    }

    @Test func acknowledgedAddIsNotWrittenAgain() {
        var bench = StoreBench.added(acknowledged: true)
        #expect(bench.accept(1) == [])
        bench.store.channelLost()
        #expect(bench.post() == [])
    }

    @Test func unansweredDeleteIsWrittenAgain() throws {
        var bench = try StoreBench.subscribed()
        _ = bench.store.unsubscribe(token)
        _ = bench.send()
        bench.store.channelLost()
        #expect(bench.send() == ["LS_reqId=3&LS_subId=1&LS_op=delete&LS_ack=false"])
    }

    @Test func deleteIsNotTakenAsAnsweredByTheReconfBeforeIt() throws {
        var bench = try StoreBench.subscribed()
        _ = bench.store.changeMaxFrequency(token, .limited(1))
        _ = bench.send()
        _ = bench.store.unsubscribe(token)
        #expect(bench.accept(2) == [])
        #expect(bench.send() == ["LS_reqId=3&LS_subId=1&LS_op=delete&LS_ack=false"])
    }

    @Test func pendingRequestsGoInCreationOrder() throws {
        var bench = try StoreBench.subscribed()
        _ = bench.store.subscribe(SubscriptionToken(2), .merge())
        _ = bench.store.unsubscribe(token)
        #expect(bench.post().map { $0.contains("LS_op=delete") } == [true, false])
    }

    @Test func whatDoesNotFitStaysPendingInOrder() {
        var bench = StoreBench()
        for number in 1...4 { _ = bench.store.subscribe(SubscriptionToken(UInt64(number)), .merge()) }
        #expect(bench.post(atMost: 2).map { $0.contains("subId=1&") || $0.contains("subId=2&") } == [true, true])
        #expect(bench.isIdle() == false)
        _ = bench.accept(1)
        bench.store.channelLost()
        let subscriptions = bench.post().compactMap { $0.split(separator: "&").first { $0.hasPrefix("LS_subId") } }
        #expect(subscriptions == ["LS_subId=2", "LS_subId=3", "LS_subId=4"])
    }

    // MARK: - Zombies

    @Test(arguments: [
        "U,7,1,a", "SUBOK,7,1,1", "SUBCMD,7,1,2,1,2", "EOS,7,1", "CS,7,1", "OV,7,1,1", "CONF,7,3.0,filtered",
    ])
    func lineOfAnUnknownSubscriptionMakesOneZombieDelete(line: String) throws {
        var bench = StoreBench()
        #expect(try bench.receive(line, line).brief == [">"])
        #expect(bench.send() == ["LS_reqId=1&LS_subId=7&LS_op=delete&LS_ack=false&LS_cause=zombie"])
        #expect(try bench.receive(line, "U,7,9,a|b|c", "EOS,7,99") == [])
    }

    @Test func unknownRemovalIsIgnored() throws {
        var bench = StoreBench()
        #expect(try bench.receive("UNSUB,7") == [])
        #expect(bench.isIdle() == true)
    }

    @Test(arguments: ["accepted", "refused", "removed", "ended"])
    func zombieIsForgotten(end: String) throws {
        var bench = StoreBench()
        _ = try bench.receive("U,7,1,a")
        _ = bench.send()
        switch end {
        case "accepted": #expect(bench.accept(1) == [])
        case "refused": #expect(bench.refuse(1, 19) == [])
        case "removed": #expect(try bench.receive("UNSUB,7") == [])
        default: #expect(bench.store.sessionEnded() == [])
        }
        #expect(bench.isIdle() == true)
        #expect(try bench.receive("U,7,1,a").brief == [">"], "a new zombie")
    }

    @Test func numbersInventedByTheServerArePassedOver() throws {
        var bench = StoreBench()
        _ = try bench.receive("U,1,1,a", "U,2,1,a")
        _ = bench.store.subscribe(token, .merge())
        #expect(bench.post().last?.contains("LS_op=add&LS_subId=3&") == true)
    }
}

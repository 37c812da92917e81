internal import DemoServer
internal import LightstreamerClient
internal import Testing

@Suite(.timeLimit(.minutes(1))) struct SubscriptionDelegateMemberTests {
    private static func twoLevels() throws -> Subscription {
        let subscription = try Subscription(mode: .command, item: "portfolio1", fields: ["key", "command", "qty"])
        try subscription.setCommandSecondLevelFields(["name", "price"])
        try subscription.setCommandSecondLevelDataAdapter("QUOTES")
        return subscription
    }

    @Test func delegateIsToldItsWholeLife() async throws {
        try await MemberBench.run { bench in
            try await bench.connect()
            let subscription = try await bench.quote()
            await bench.publish("item1", "Acme", "7", to: "QUOTES")
            await bench.log.until("update 1 Acme|7")
            try bench.client.unsubscribe(subscription)
            await bench.log.until("unsubscribed")
            subscription.removeDelegate(bench.log)
            await bench.log.until("left")
            let entries = bench.log.entries.drop { $0 != "joined" }.filter { !$0.hasPrefix("property") }
            #expect(
                entries == ["joined", "subscribed", "frequency unlimited", "update 1 Acme|7", "unsubscribed", "left"]
            )
        }
    }

    @Test func refusalMakesItInactive() async throws {
        try await MemberBench.run { bench in
            try await bench.connect()
            let subscription = try Subscription(mode: .raw, item: "item1", fields: ["name"])
            try subscription.setDataAdapter("QUOTES")
            subscription.addDelegate(bench.log)
            try bench.client.subscribe(subscription)
            await bench.log.until("failed 24")
            #expect(!subscription.isActive && bench.client.subscriptions.isEmpty)
        }
    }

    @Test func wrongCountsAreARefusalOfOurOwn() async throws {
        try await MemberBench.run { bench in
            try await bench.connect()
            await bench.server.install([Fault(.wrongCounts(items: 1, fields: 0))])
            let subscription = try Subscription(mode: .merge, item: "item1", fields: ["name"])
            try subscription.setDataAdapter("QUOTES")
            subscription.addDelegate(bench.log)
            try bench.client.subscribe(subscription)
            await bench.log.until("failed 61")
        }
    }

    @Test func snapshotEndsAndIsCleared() async throws {
        try await MemberBench.run { bench in
            try await bench.connect()
            await bench.publish("news", "old", to: "NEWS")
            let subscription = try Subscription(mode: .distinct, item: "news", fields: ["headline"])
            try await bench.subscribe(subscription, to: "NEWS")
            await bench.log.until("update 1 old")
            #expect(bench.log.updates.last?.isSnapshot == true)
            await bench.log.until("end of snapshot news 1")
            await bench.server.publish(.clear(item: "news"), to: "NEWS")
            await bench.log.until("clear snapshot news 1")
        }
    }

    @Test func itemsOfAGroupHaveNoNames() async throws {
        try await MemberBench.run { bench in
            try await bench.connect()
            let subscription = Subscription(mode: .distinct)
            try subscription.setItemGroup("news")
            try subscription.setFieldSchema("headline")
            try await bench.subscribe(subscription, to: "NEWS")
            await bench.log.until("end of snapshot - 1")
            #expect(subscription.itemCount == 1 && subscription.fieldCount == 1)
        }
    }

    @Test func lossesAreTold() async throws {
        try await MemberBench.run { bench in
            try await bench.connect()
            let subscription = try Subscription(mode: .raw, item: "events", fields: ["text"])
            try await bench.subscribe(subscription, to: "EVENTS")
            await bench.server.publish(.lose(item: "events", count: 3), to: "EVENTS")
            await bench.log.until("lost 3 events 1")
        }
    }

    @Test func secondLevelSpeaksForItsKey() async throws {
        try await MemberBench.run { bench in
            try await bench.connect()
            let subscription = try Self.twoLevels()
            try await bench.subscribe(subscription, to: "PORTFOLIO")
            await bench.publish("item1", "Acme", "7", to: "QUOTES")
            await bench.publish("portfolio1", "item1", "ADD", "3", to: "PORTFOLIO")
            await bench.log.until("update 1 item1|ADD|3")
            await bench.log.until("update 1 item1|UPDATE|3|Acme|7")
            #expect(try subscription.commandValueWithItemPos(1, key: "item1", fieldName: "price") == "7")
            #expect(bench.client.subscriptions.count == 1)
        }
    }

    @Test func refusedSecondLevelIsToldWithItsKey() async throws {
        try await MemberBench.run { bench in
            try await bench.connect()
            try await bench.subscribe(try Self.twoLevels(), to: "PORTFOLIO")
            await bench.publish("portfolio1", "two words", "ADD", "1", to: "PORTFOLIO")
            await bench.log.until("failed 14 below two words")
            await bench.publish("portfolio1", "nothing", "ADD", "1", to: "PORTFOLIO")
            await bench.log.until("failed 21 below nothing")
        }
    }

    @Test func lossOnTheSecondLevelIsToldWithItsKey() async throws {
        try await MemberBench.run { bench in
            try await bench.connect()
            let subscription = try Self.twoLevels()
            try subscription.setRequestedMaxFrequency(.unfiltered)
            try await bench.subscribe(subscription, to: "PORTFOLIO")
            await bench.publish("item1", "Acme", "7", to: "QUOTES")
            await bench.publish("portfolio1", "item1", "ADD", "3", to: "PORTFOLIO")
            await bench.log.until("update 1 item1|UPDATE|3|Acme|7")
            await bench.server.publish(.lose(item: "item1", count: 2), to: "QUOTES")
            await bench.log.until("lost 2 below item1")
        }
    }

    @Test func frequencyInForceIsTold() async throws {
        try await MemberBench.run {
            $0.limits.frequency = 4
        } _: { bench in
            try await bench.connect()
            let subscription = try await bench.quote()
            await bench.log.until("frequency 4")
            #expect(subscription.realMaxFrequency == .limited(4))
        }
    }
}

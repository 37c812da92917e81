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

    @Test func delegateReceivesAllEventsOfASubscription() async throws {
        try await MemberFixture.runConnected { fixture in
            let subscription = try await fixture.quote()
            await fixture.publish("item1", "Acme", "7", to: "QUOTES")
            await fixture.log.until("update 1 Acme|7")
            try fixture.client.unsubscribe(subscription)
            await fixture.log.until("unsubscribed")
            subscription.removeDelegate(fixture.log)
            await fixture.log.until("left")
            let entries = fixture.log.entries.drop { $0 != "joined" }.filter { !$0.hasPrefix("property") }
            #expect(
                entries == ["joined", "subscribed", "frequency unlimited", "update 1 Acme|7", "unsubscribed", "left"]
            )
        }
    }

    @Test func refusalMakesItInactive() async throws {
        try await MemberFixture.runConnected { fixture in
            let subscription = try Subscription(mode: .raw, item: "item1", fields: ["name"])
            try subscription.setDataAdapter("QUOTES")
            subscription.addDelegate(fixture.log)
            try fixture.client.subscribe(subscription)
            await fixture.log.until("failed 24")
            #expect(!subscription.isActive && fixture.client.subscriptions.isEmpty)
        }
    }

    @Test func wrongCountsAreARefusalOfOurOwn() async throws {
        try await MemberFixture.runConnected { fixture in
            await fixture.server.install([Fault(.wrongCounts(items: 1, fields: 0))])
            let subscription = try Subscription(mode: .merge, item: "item1", fields: ["name"])
            try subscription.setDataAdapter("QUOTES")
            subscription.addDelegate(fixture.log)
            try fixture.client.subscribe(subscription)
            await fixture.log.until("failed 61")
        }
    }

    @Test func snapshotEndsAndIsCleared() async throws {
        try await MemberFixture.runConnected { fixture in
            await fixture.publish("news", "old", to: "NEWS")
            let subscription = try Subscription(mode: .distinct, item: "news", fields: ["headline"])
            try await fixture.subscribe(subscription, to: "NEWS")
            await fixture.log.until("update 1 old")
            #expect(fixture.log.updates.last?.isSnapshot == true)
            await fixture.log.until("end of snapshot news 1")
            await fixture.server.publish(.clear(item: "news"), to: "NEWS")
            await fixture.log.until("clear snapshot news 1")
        }
    }

    @Test func itemsOfAGroupHaveNoNames() async throws {
        try await MemberFixture.runConnected { fixture in
            let subscription = Subscription(mode: .distinct)
            try subscription.setItemGroup("news")
            try subscription.setFieldSchema("headline")
            try await fixture.subscribe(subscription, to: "NEWS")
            await fixture.log.until("end of snapshot - 1")
            #expect(subscription.itemCount == 1 && subscription.fieldCount == 1)
        }
    }

    @Test func lossesAreReported() async throws {
        try await MemberFixture.runConnected { fixture in
            let subscription = try Subscription(mode: .raw, item: "events", fields: ["text"])
            try await fixture.subscribe(subscription, to: "EVENTS")
            await fixture.server.publish(.lose(item: "events", count: 3), to: "EVENTS")
            await fixture.log.until("lost 3 events 1")
        }
    }

    @Test func secondLevelErrorsAreReportedForTheirKey() async throws {
        try await MemberFixture.runConnected { fixture in
            let subscription = try Self.twoLevels()
            try await fixture.subscribe(subscription, to: "PORTFOLIO")
            await fixture.publish("item1", "Acme", "7", to: "QUOTES")
            await fixture.publish("portfolio1", "item1", "ADD", "3", to: "PORTFOLIO")
            await fixture.log.until("update 1 item1|ADD|3")
            await fixture.log.until("update 1 item1|UPDATE|3|Acme|7")
            #expect(try subscription.commandValueWithItemPos(1, key: "item1", fieldName: "price") == "7")
            #expect(fixture.client.subscriptions.count == 1)
        }
    }

    @Test func refusedSecondLevelIsReportedWithItsKey() async throws {
        try await MemberFixture.runConnected { fixture in
            try await fixture.subscribe(try Self.twoLevels(), to: "PORTFOLIO")
            await fixture.publish("portfolio1", "two words", "ADD", "1", to: "PORTFOLIO")
            await fixture.log.until("failed 14 below two words")
            await fixture.publish("portfolio1", "nothing", "ADD", "1", to: "PORTFOLIO")
            await fixture.log.until("failed 21 below nothing")
        }
    }

    @Test func lossOnTheSecondLevelIsReportedWithItsKey() async throws {
        try await MemberFixture.runConnected { fixture in
            let subscription = try Self.twoLevels()
            try subscription.setRequestedMaxFrequency(.unfiltered)
            try await fixture.subscribe(subscription, to: "PORTFOLIO")
            await fixture.publish("item1", "Acme", "7", to: "QUOTES")
            await fixture.publish("portfolio1", "item1", "ADD", "3", to: "PORTFOLIO")
            await fixture.log.until("update 1 item1|UPDATE|3|Acme|7")
            await fixture.server.publish(.lose(item: "item1", count: 2), to: "QUOTES")
            await fixture.log.until("lost 2 below item1")
        }
    }

    @Test func frequencyInForceIsReported() async throws {
        try await MemberFixture.run {
            $0.limits.frequency = 4
        } _: { fixture in
            try await fixture.connect()
            let subscription = try await fixture.quote()
            await fixture.log.until("frequency 4")
            #expect(subscription.realMaxFrequency == .limited(4))
        }
    }
}

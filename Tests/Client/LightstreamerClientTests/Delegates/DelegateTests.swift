internal import SessionCore
internal import Synchronization
internal import Testing

@testable internal import LightstreamerClient

@Suite struct DelegateTests {
    /// Records the events, and checks that the state changes before the event.
    private final class Recorder: ClientDelegate, SubscriptionDelegate, ClientMessageDelegate {
        private let words = Mutex<[String]>([])
        private let (stream, continuation) = AsyncStream<String>.makeStream()
        private let lastStatus: String?
        private let returns: Bool
        var all: [String] { words.withLock { $0 } }

        /// A delegate of a client that removes itself at a status; nil: at none. `returns`: it adds itself to a subscription that
        /// it is removed from.
        init(leavesAt status: String? = nil, returns: Bool = false) { (lastStatus, self.returns) = (status, returns) }

        private func note(_ word: String) {
            words.withLock { $0.append(word) }
            continuation.yield(word)
        }

        func wait(for word: String) async {
            for await next in stream where next == word { return }
        }

        func clientDidAddDelegate(_ client: LightstreamerClient) { note("added") }
        func clientDidRemoveDelegate(_ client: LightstreamerClient) { note("removed") }
        func client(_ client: LightstreamerClient, didChangeStatus status: ClientStatus) {
            note("\(status.rawValue) \(client.status == status)")
            if status.rawValue == lastStatus { client.removeDelegate(self) }
        }
        func client(_ client: LightstreamerClient, didChangeProperty property: String) { note(property) }
        func subscriptionDidAddDelegate(_ subscription: Subscription) { note("sub added") }
        func subscriptionDidRemoveDelegate(_ subscription: Subscription) {
            note("sub removed")
            if returns { subscription.addDelegate(self) }
        }
        func subscriptionDidSubscribe(_ subscription: Subscription) { note("subscribed \(subscription.isSubscribed)") }
        func subscriptionDidUnsubscribe(_ subscription: Subscription) {
            note("unsubscribed \(subscription.isSubscribed)")
        }
        func subscription(_ subscription: Subscription, didUpdateItem update: ItemUpdate) {
            let name = update.itemName ?? "-"
            let held = try? subscription.valueWithItemName(name, fieldPos: 1)
            note("\(name) \(update.value(at: 1) ?? "-") \(held == update.value(at: 1))")
        }
        func subscription(_ subscription: Subscription, didFailWithErrorCode code: Int, message: String?) {
            note("failed \(code) \(subscription.isActive)")
        }
        func client(_ client: LightstreamerClient, didProcessMessage text: String, withResponse response: String) {
            note("processed \(text) \(response)")
        }
        func client(_ client: LightstreamerClient, didAbortMessage text: String, sentOnNetwork: Bool) {
            note("aborted \(text) \(sentOnNetwork)")
        }
    }

    @Test func delegateIsReportedBeginningEndAndAllBetweenInOrder() async throws {
        let fixture = try ClientFixture(address: nil)
        let recorder = Recorder()
        fixture.client.addDelegate(recorder)
        fixture.client.addDelegate(recorder)
        try fixture.client.connectionOptions.setRetryDelay(9)
        try fixture.client.connectionOptions.setRetryDelay(9)
        fixture.client.connectionDetails.setUser("mia")
        fixture.client.connectionDetails.setPassword("secret")
        fixture.client.removeDelegate(recorder)
        fixture.client.removeDelegate(recorder)
        fixture.client.connectionDetails.setUser("unheard")
        #expect(fixture.client.delegates.isEmpty)
        await fixture.client.shutdown()
        #expect(recorder.all == ["added", "retryDelay", "user", "password", "removed"])
        #expect(!fixture.client.connectionDetails.description.contains("secret"))
    }

    @Test func stateIsThereBeforeItsEvent() async throws {
        let fixture = try ClientFixture()
        let recorder = Recorder()
        fixture.client.addDelegate(recorder)
        let subscription = try Subscription(mode: .merge, items: ["a", "b"], fields: ["x", "y"])
        subscription.addDelegate(recorder)
        let link = try await fixture.connected()
        try fixture.client.subscribe(subscription)
        #expect(subscription.isActive)
        let add = try #require(await link.heard())
        #expect(add.contains("LS_op=add"))
        #expect(add.contains("LS_group=a%20b"))
        link.say("SUBOK,1,2,2", "CONF,1,unlimited,filtered", "U,1,2,7|8")
        await recorder.wait(for: "b 7 true")
        #expect(try subscription.valueWithItemName("b", fieldName: "y") == "8")
        #expect(try subscription.valueWithItemPos(1, fieldPos: 1) == nil)
        #expect(subscription.realMaxFrequency == .unlimited)
        try fixture.client.unsubscribe(subscription)
        #expect(!subscription.isActive)
        #expect(try subscription.valueWithItemName("b", fieldName: "y") == nil)
        await recorder.wait(for: "unsubscribed false")
        subscription.removeDelegate(recorder)
        await recorder.wait(for: "sub removed")
        await fixture.client.shutdown()
        let words = recorder.all
        #expect(words.first == "sub added" || words.first == "added")
        #expect(words.contains("CONNECTED:WS-STREAMING true"))
        #expect(
            Array(words.drop { !$0.hasPrefix("subscribed") }.prefix(3)) == [
                "subscribed true", "b 7 true", "unsubscribed false",
            ]
        )
    }

    /// The first client still has updates to deliver when the second one begins.
    @Test func lateEventsOfAFormerClientAreNotDelivered() throws {
        let (former, present) = (ClientCore(configuration: .init()), ClientCore(configuration: .init()))
        let (late, prompt) = (EventDelivery(core: former), EventDelivery(core: present))
        let recorder = Recorder()
        let subscription = try Subscription(mode: .merge, item: "a", fields: ["x"])
        subscription.addObserver(SubscriptionDelegateAdapter(recorder))
        func activate(on core: ClientCore, _ delivery: EventDelivery) throws -> SubscriptionToken {
            try core.subscribe(subscription)
            let token = try #require(subscription.state.withLock { $0.token })
            delivery.began(subscription, token)
            delivery.deliver(Self.subscribed, of: token)
            return token
        }
        let first = try activate(on: former, late)
        late.deliver(Self.update("1"), of: first)
        try former.unsubscribe(subscription)
        late.deliver(Self.update("2"), of: first)
        let second = try activate(on: present, prompt)
        prompt.deliver(Self.update("3"), of: second)
        late.deliver(Self.update("4"), of: first)
        late.deliver(.unsubscribed(isFinal: false), of: first)
        try present.unsubscribe(subscription)
        prompt.deliver(.unsubscribed(isFinal: false), of: second)
        late.deliver(Self.update("5"), of: first)
        #expect(
            recorder.all == [
                "subscribed true", "a 1 true", "a 2 false", "unsubscribed false", "subscribed true", "a 3 true",
                "unsubscribed false",
            ]
        )
    }

    private static let subscribed = SubscriptionEvent.subscribed(
        itemCount: 1,
        fieldCount: 1,
        keyPosition: nil,
        commandPosition: nil
    )

    private static func update(_ value: String) -> SubscriptionEvent {
        let layout = SubscriptionLayout(itemNames: ["a"], fieldNames: ["x"], fieldCount: 1)
        return .update(
            ItemUpdate(layout: layout, itemPos: 1, isSnapshot: false, values: [value], changed: FieldSet(all: 1))
        )
    }

    @Test func refusedSubscriptionIsInactiveBeforeItIsReported() async throws {
        let fixture = try ClientFixture()
        let recorder = Recorder()
        let subscription = try Subscription(mode: .merge, item: "a", fields: ["x"])
        subscription.addDelegate(recorder)
        let link = try await fixture.connected()
        try fixture.client.subscribe(subscription)
        let add = try #require(await link.heard())
        let id = add.firstRange(of: "LS_reqId=").map { add[$0.upperBound...].prefix { $0 != "&" } } ?? ""
        link.say("REQERR,\(id),21,bad group")
        await recorder.wait(for: "failed 21 false")
        #expect(fixture.client.subscriptions.isEmpty)
        try fixture.client.subscribe(subscription)
        #expect(fixture.client.subscriptions.map { $0 === subscription } == [true])
        await fixture.client.shutdown()
    }

    @Test func outcomeOfAMessageIsReportedOnce() async throws {
        let fixture = try ClientFixture()
        let recorder = Recorder()
        let link = try await fixture.connected()
        try fixture.client.sendMessage("hello", withSequence: "s_1", delegate: recorder)
        let message = try #require(await link.heard())
        #expect(message.contains("LS_message=hello"))
        link.say("MSGDONE,s_1,1,yes", "MSGDONE,s_1,1,yes")
        await recorder.wait(for: "processed hello yes")
        try fixture.client.sendMessage("late", delegate: recorder)
        await fixture.client.shutdown()
        #expect(recorder.all.filter { $0.hasPrefix("processed") }.count == 1)
        #expect(recorder.all.filter { $0.hasPrefix("aborted late") }.count == 1)
    }

    @Test(arguments: ["", "a b", "\u{E9}", "a-b"])
    func badSequenceNamesAreRefusedInEveryState(name: String) async throws {
        let fixture = try ClientFixture(address: nil)
        let error = #expect(throws: ClientError.self) { try fixture.client.sendMessage("x", withSequence: name) }
        #expect(error?.code == .invalidValue)
        await fixture.client.shutdown()
    }

    @Test func reservedSequenceNameIsNoSequence() async throws {
        let (fixture, link) = try await ClientFixture.connected()
        try fixture.client.sendMessage("hello", withSequence: "UNORDERED_MESSAGES", delegate: Recorder())
        #expect(try #require(await link.heard()).hasSuffix("LS_message=hello&LS_msg_prog=1"))
        await fixture.client.shutdown()
    }

    @Test func delegateOfAnUnboundSubscriptionIsReportedAtOnce() throws {
        let recorder = Recorder()
        let subscription = Subscription(mode: .raw)
        subscription.addDelegate(recorder)
        subscription.removeDelegate(recorder)
        #expect(recorder.all == ["sub added", "sub removed"])
    }

    @Test func delegateThatIsAddedAgainWhenItIsRemovedReceivesEvents() throws {
        let recorder = Recorder(returns: true)
        let subscription = Subscription(mode: .raw)
        subscription.addDelegate(recorder)
        subscription.removeDelegate(recorder)
        #expect(recorder.all == ["sub added", "sub removed", "sub added"])
        #expect(subscription.delegates.count == 1)
        for observer in subscription.observers { observer.subscription(subscription, emitted: Self.subscribed) }
        #expect(recorder.all.last == "subscribed false")
    }

    @Test func delegateOfAClientThatWasShutDownIsReportedAtOnce() async throws {
        let fixture = try ClientFixture(address: nil)
        let recorder = Recorder()
        fixture.client.addDelegate(recorder)
        await fixture.client.shutdown()
        fixture.client.removeDelegate(recorder)
        fixture.client.addDelegate(recorder)
        #expect(recorder.all == ["added", "removed", "added"])
    }

    @Test func delegateThatLeavesDuringTheShutdownIsReportedItsEndLast() async throws {
        let fixture = try ClientFixture()
        let recorder = Recorder(leavesAt: "DISCONNECTED")
        _ = try await fixture.connected()
        fixture.client.addDelegate(recorder)
        await fixture.client.shutdown()
        #expect(fixture.client.delegates.isEmpty)
        #expect(
            recorder.all == [
                "added", "DISCONNECTED true", "sessionId", "serverSocketName", "clientIp", "realMaxBandwidth",
                "removed",
            ]
        )
    }

    @Test func slowReaderOfASequenceIsReported() async throws {
        let fixture = try ClientFixture(address: nil)
        let events = fixture.client.events(bufferedUpTo: 2)
        for name in ["a", "b", "c"] { fixture.client.connectionDetails.setUser(name) }
        _ = await fixture.words(until: "property user")
        await fixture.client.shutdown()
        var count = 0
        let error = await #expect(throws: ClientError.self) {
            for try await _ in events { count += 1 }
        }
        #expect(count == 2)
        #expect(error?.code == .slowReader)
    }
}

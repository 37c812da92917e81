internal import Changes
internal import SessionCore
internal import Synchronization
internal import TestSupport
internal import Testing

@testable import LightstreamerClient
@testable import SessionPool

@Suite struct SessionPoolTests: PoolSuite {
    let sink = RecordingSink()
    let time = ManualTime()

    @Test func readersOfEqualPropertiesShareOneResource() throws {
        let pool = pool()
        let first = try pool.joinImplicit(Self.key).resource
        let second = try pool.joinImplicit(Self.key).resource
        #expect(first === second)
        #expect(pool.resources().count == 1 && pool.users == 1)
        pool.leaveImplicit(first)
        pass(100, in: pool)
        #expect(sink.present.carried.count == 1)
        pool.leaveImplicit(second)
        pass(4, in: pool)
        #expect(sink.present.carried.count == 1)
        pass(1, in: pool)
        #expect(sink.present.resources.isEmpty && pool.resources().isEmpty)
        #expect(sink.present.faults.isEmpty)
    }

    /// The room that one request makes is not taken by another one, which would be refused then.
    @Test func eachRequestFindsRoomWhereSubscriptionsLinger() async {
        let readers = 4
        let pool = pool { $0.upstreams[0].maxSubscriptions = 2 * readers }
        let refusals = await withTaskGroup(of: Int.self) { group in
            for reader in 0..<readers {
                group.addTask {
                    var refusals = 0
                    for number in 0..<500 {
                        let properties = SubscriptionProperties(
                            mode: .merge,
                            items: .list(["item\(reader)_\(number)"]),
                            fields: .list(["last_price"])
                        )
                        do {
                            let key = SharedKey(session: Self.key.session, properties: properties)
                            pool.leaveImplicit(try pool.joinImplicit(key).resource)
                        } catch {
                            refusals += 1
                        }
                    }
                    return refusals
                }
            }
            return await group.reduce(0, +)
        }
        #expect(refusals == 0)
        #expect(pool.figures(of: "demo").subscriptions <= 2 * readers)
    }

    /// A search through all subscriptions for each call takes minutes.
    @Test(.timeLimit(.minutes(1))) func theSubscriptionsOfAClientAreFoundAmongManyOthers() throws {
        let pool = pool()
        func made() throws -> SubscriptionResource {
            try pool.createResource(home: .pooled(Self.key.session), properties: Self.key.properties)
        }
        let active = [try made(), try made()]
        for _ in 0..<20_000 { _ = try made() }
        // They share an upstream subscription, which serves the newer one first.
        for resource in active.reversed() { try pool.activate(resource) }
        let client = try #require(active[0].present.client)
        for _ in 0..<5_000 { #expect(pool.subscriptions(of: client).map(\.id) == active.map(\.id)) }
        pool.deactivate(active[0])
        #expect(pool.subscriptions(of: client).map(\.id) == [active[1].id])
    }

    /// The values change before the event is delivered.
    @Test func aResourceThatJoinsBetweenAChangeAndItsEventReceivesTheUpdateOnce() throws {
        let pool = pool()
        var properties = SubscriptionProperties(mode: .distinct, items: .list(["room"]), fields: .list(["text"]))
        properties.requestedSnapshot = .yes
        func activated() throws -> SubscriptionResource {
            let resource = try pool.createResource(home: .pooled(Self.key.session), properties: properties)
            try pool.activate(resource)
            return resource
        }
        let first = try activated()
        let carrier = try #require(first.carrier)
        let subscription = carrier.subscription
        let token = try #require(subscription.state.withLock { $0.token })
        let layout = SubscriptionLayout(itemNames: ["room"], fieldNames: ["text"], fieldCount: 1)
        func message(_ text: String) -> SubscriptionEvent {
            let changed = FieldSet(all: 1)
            return .update(
                ItemUpdate(layout: layout, itemPos: 1, isSnapshot: false, values: [text], changed: changed)
            )
        }
        func change(_ event: SubscriptionEvent) { _ = subscription.take(event, of: token, at: .zero) }
        func deliver(_ event: SubscriptionEvent) { carrier.subscription(subscription, emitted: event) }
        let confirmation = SubscriptionEvent.subscribed(
            itemCount: 1,
            fieldCount: 1,
            keyPosition: nil,
            commandPosition: nil
        )
        for event in [confirmation, message("a")] {
            change(event)
            deliver(event)
        }
        change(message("b"))
        let second = try activated()
        #expect(first.status.confirmations == 1 && second.status.confirmations == 1)
        deliver(message("b"))
        change(message("c"))
        deliver(message("c"))
        #expect(second.carrier === carrier && second.present.table.presentState().count == 3)
        func reports(of resource: SubscriptionResource) -> Int {
            (sink.present.events[resource.id] ?? []).count { if case .update = $0 { true } else { false } }
        }
        #expect(reports(of: first) == 3 && reports(of: second) == 3)
        // The values are reported with the four messages; the fourth one does not follow.
        change(message("d"))
        carrier.reportAgain(first)
        deliver(message("d"))
        #expect(reports(of: first) == 7 && first.status.updates == 4)
        #expect(reports(of: second) == 4)
        let third = try activated()
        #expect(carrier.state.withLock { $0.reported.count } == 1)
        try pool.delete(third.id)
        #expect(carrier.state.withLock { $0.reported.isEmpty })
    }

    @Test func waitersForASubscriptionOfADedicatedClientLearnOfItsSession() throws {
        let pool = pool()
        let client = try pool.createClient(ClientSpecification(target: .upstream("demo")))
        let resource = try pool.createResource(home: .dedicated(client.id), properties: Self.key.properties)
        try pool.activate(resource)
        let seen = Mutex<[String]>([])
        let handle = resource.watchers.add {
            let session = resource.sessionRefusal.map { "refused with \($0.code)" } ?? "not refused"
            seen.withLock { $0.append("\(session), \(resource.isStale ? "stale" : "fresh")") }
            return false
        }
        client.client(client.core, emitted: .status(.connectedWSStreaming))
        client.client(client.core, emitted: .status(.disconnected))
        client.client(client.core, emitted: .serverError(code: 7, message: "full"))
        resource.watchers.cancel(try #require(handle))
        let expected = ["not refused, stale", "not refused, fresh", "not refused, stale", "refused with 7, stale"]
        #expect(seen.withLock { $0 } == expected)
    }

    /// A request can find the client that another request has made and not reported yet.
    @Test func clientIsReportedBeforeItsSubscriptions() throws {
        let pool = pool()
        sink.findClient.withLock { [sink] in
            $0 = { [weak pool] id in
                sink.findClient.withLock { $0 = nil }
                #expect((try? pool?.joinImplicit(Self.key)) != nil)
                #expect(sink.present.ofClients.contains(.client(id, .added(.disconnected))))
                return nil
            }
        }
        _ = try pool.messenger(Self.key.session, for: .zero)
        #expect(pool.users == 1 && pool.clients().count == 1)
    }

    /// The messages of all clients have a limit, and each caller a share of it.
    @Test func messagesOfASharedSessionHaveNoLimitOfTheirOwn() throws {
        let client = try pool().messenger(Self.key.session, for: .seconds(30))
        let text = String(decoding: [UInt8](repeating: 0x78, count: 40 << 20), as: UTF8.self)
        var message = MessageSubmission(text: text)
        message.enqueueWhileDisconnected = true
        for _ in 0..<3 { #expect(throws: Never.self) { try client.send(message) } }
    }

    @Test func incompleteLinesCountAsValuesOfTheirUpstream() throws {
        let pool = pool { $0.maxValueBytes = 1_000 }
        let configuration = pool.settings.clientConfiguration(of: ClientID("c"), for: pool.settings.upstream("demo"))
        let add = try #require(configuration.lineBudget)
        #expect(add(900))
        #expect(!add(200))
        #expect(pool.settings.values(of: "demo").used == 1_100)
    }

    @Test func subscriptionIsCarriedBeforeItIsSent() throws {
        let pool = pool()
        sink.findClient.withLock { $0 = { [weak pool] in pool?.client($0) } }
        #expect(try pool.joinImplicit(Self.key).isOpened)
        #expect(sink.present.subscriptionsBefore == [0])
        #expect(try !pool.joinImplicit(Self.key).isOpened)
        let posted = try pool.createResource(home: .pooled(Self.key.session), properties: Self.key.properties)
        #expect(try !pool.activate(posted))
        #expect(sink.present.subscriptionsBefore == [0, 1] && sink.present.faults.isEmpty)
    }

    @Test func discardedResourceClosesASubscriptionOfItsOwnOnly() throws {
        let pool = pool()
        let posted = try pool.createResource(home: .pooled(Self.key.session), properties: Self.key.properties)
        try pool.activate(posted)
        pool.discardImplicit(try pool.joinImplicit(Self.key).resource)
        #expect(pool.figures(of: "demo").subscriptions == 1)
        pool.deactivate(posted)
        pass(5, in: pool)
        #expect(pool.figures(of: "demo").subscriptions == 0)
        pool.discardImplicit(try pool.joinImplicit(Self.key).resource)
        #expect(pool.figures(of: "demo").subscriptions == 0)
        #expect(sink.present.faults.isEmpty)
    }

    /// The resource stayed as long as another one used the upstream subscription. A further reading needs no new resource.
    @Test func resourceWithoutReadersGoesAfterTheLingerBesideAnotherUser() throws {
        let pool = pool()
        let posted = try pool.createResource(home: .pooled(Self.key.session), properties: Self.key.properties)
        try pool.activate(posted)
        let read = try pool.joinImplicit(Self.key).resource
        pool.leaveImplicit(read)
        pass(4, in: pool)
        #expect(try pool.joinImplicit(Self.key).resource === read)
        pass(4, in: pool)
        pool.leaveImplicit(read)
        pass(4, in: pool)
        #expect(pool.resource(read.id) != nil)
        pass(1, in: pool)
        #expect(pool.resources().map(\.id) == [posted.id] && posted.status.isActive)
        #expect(pool.users == 1 && pool.figures(of: "demo").subscriptions == 1)
        let next = try pool.joinImplicit(Self.key).resource
        #expect(next !== read && next.carrier === posted.carrier && sink.present.faults.isEmpty)
    }

    @Test func closedSubscriptionIsReleased() throws {
        let pool = pool()
        let resource = try pool.joinImplicit(Self.key).resource
        weak let carrier = resource.carrier
        #expect(carrier != nil)
        pool.leaveImplicit(resource)
        pass(5, in: pool)
        #expect(carrier == nil)
    }

    @Test func subscriptionThatEndsWhileItLingersLeavesNoResource() throws {
        let pool = pool()
        let resource = try pool.joinImplicit(Self.key).resource
        let carrier = try #require(resource.carrier)
        pool.leaveImplicit(resource)
        carrier.subscription(carrier.subscription, emitted: .unsubscribed(isFinal: true))
        #expect(pool.resources().isEmpty && sink.present.resources.isEmpty)
        #expect(pool.users == 0 && sink.present.faults.isEmpty)
        // A reader keeps the resource of a subscription that ends.
        let next = try pool.joinImplicit(Self.key).resource
        let client = try #require(next.client)
        client.client(client.core, emitted: .serverError(code: 1, message: "wrong password"))
        #expect(pool.resources().map(\.id) == [next.id] && next.status.lastError?.code == 1)
    }

    @Test func readerAtTheEndOfTheLingerGetsANewSubscription() throws {
        let pool = pool()
        let resource = try pool.joinImplicit(Self.key).resource
        let carrier = try #require(resource.carrier)
        pool.leaveImplicit(resource)
        // The machine releases the subscription; the reader joins before it is closed.
        time.pass(5)
        let actions = pool.state.withLock { $0.machine.timePassed(at: time.moment) }
        let again = try pool.joinImplicit(Self.key).resource
        #expect(actions.count == 1)
        pool.closeShared(try #require(carrier.id))
        #expect(again === resource && again.status.isActive)
        #expect(again.carrier != nil && again.carrier !== carrier)
        #expect(sink.present.faults.isEmpty)
    }

    @Test func readersThatComeAndGoAtOnceLeaveNothingBehind() async throws {
        let pool = pool { $0.subscriptionLinger = .zero }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<500 {
                        guard let resource = try? pool.joinImplicit(Self.key).resource else { continue }
                        await Task.yield()
                        pool.leaveImplicit(resource)
                    }
                }
            }
            group.addTask {
                for _ in 0..<500 {
                    pool.timePassed()
                    await Task.yield()
                }
            }
        }
        pass(1, in: pool)
        #expect(pool.resources().isEmpty && sink.present.resources.isEmpty)
        #expect(pool.users == 0 && pool.figures(of: "demo").subscriptions == 0)
        #expect(sink.present.faults.isEmpty)
    }

    // MARK: - Sessions of other processes

    private static let grouped = SharedKey.demo(group: 1)

    private static var adoption: SessionAdoption {
        var table = ValueTable(properties: key.properties)
        table.apply(.subscribed(itemCount: 1, fieldCount: 1, keyPosition: nil, commandPosition: nil))
        return SessionAdoption(
            client: ClientID("c1"),
            key: grouped.session,
            session: OfferedSession(id: "S1", address: "http://127.0.0.1:1", processed: 7),
            subscriptions: [SessionAdoption.Subscription(id: SubscriptionID("s1"), number: 3, table: table)]
        )
    }

    @Test func adoptedSessionHasItsClientAndSubscriptions() throws {
        let pool = pool()
        let resource = try #require(try pool.adopt(Self.adoption).first)
        #expect(resource.status.isActive && resource.status.isSubscribed && resource.status.itemCount == 1)
        #expect(resource.client?.id == ClientID("c1") && pool.clients().map(\.id) == [ClientID("c1")])
        #expect(try pool.joinImplicit(Self.grouped).resource === resource)
        // The sink knows the state already.
        #expect(sink.present.carried.isEmpty && sink.present.faults.isEmpty)
        #expect(throws: PoolError.self) { try pool.adopt(Self.adoption) }
        #expect(pool.figures(of: "demo") == UpstreamCredits(sessions: 1, subscriptions: 1, items: 1) && pool.users == 1)
        // The other process has reported the start of the session.
        let client = try #require(resource.client)
        client.client(client.core, emitted: .status(.connectedWSStreaming))
        #expect(!sink.present.ofClients.contains(.client(client.id, .event(.sessionStarted(polling: false)))))
    }

    /// Each restart of a replica was logged and counted as a lost connection of the upstream.
    @Test func recoveryOfAnAdoptedSessionIsNoFailure() throws {
        let client = try #require(try pool().adopt(Self.adoption).first?.client)
        client.client(client.core, emitted: .status(.disconnectedTryingRecovery))
        let failures = sink.present.ofClients.compactMap { change -> LastFailure?? in
            if case .client(_, .event(.status(_, let failure))) = change { failure } else { nil }
        }
        #expect(failures.first == .some(nil))
    }

    @Test func abandonedSessionsLeaveNothingButOtherResources() throws {
        let pool = pool { $0.upstreams[0].maxSessions = 1 }
        let implicit = try pool.joinImplicit(Self.grouped, as: SubscriptionID("s1")).resource
        let posted = try pool.createResource(home: .pooled(Self.key.session), properties: Self.key.properties)
        try pool.activate(posted)
        let client = try #require(implicit.client)
        #expect(posted.client === client && pool.transferableClients == [client.id])
        pool.abandonTransferable()
        #expect(!implicit.status.isActive && posted.status.isActive && posted.client !== client)
        pool.discardImplicit(implicit)
        #expect(pool.transferableClients.isEmpty && pool.resources().map(\.id) == [posted.id])
        #expect(pool.figures(of: "demo") == UpstreamCredits(sessions: 1, subscriptions: 1, items: 1) && pool.users == 1)
        #expect(sink.present.faults.isEmpty)
    }

    @Test func resourcesAreListedInTheOrderOfTheirMaking() throws {
        let pool = pool()
        let made = try (0..<20).map { index in
            let key = SharedKey.demo("item\(index)")
            return try pool.createResource(home: .pooled(key.session), properties: key.properties).id
        }
        try pool.delete(made[7])
        #expect(pool.resources().map(\.id) == made.filter { $0 != made[7] })
    }

    @Test func resourcesOfRequestsAndOfStreamsAreCounted() throws {
        let pool = pool()
        for _ in 0..<2 {
            _ = try pool.createResource(home: .pooled(Self.key.session), properties: Self.key.properties)
            _ = try pool.joinImplicit(Self.key)
        }
        let counts = pool.resourceCounts
        #expect(counts.posted == 2 && counts.joined == 1 && pool.resourceCount == 3)
    }

    @Test func tooManyResourcesAreOverQuota() throws {
        let pool = pool { $0.maxSubscriptionResources = 1 }
        _ = try pool.joinImplicit(Self.key)
        #expect(throws: PoolError.overQuota(.subscriptionResources(limit: 1))) {
            try pool.createResource(home: .pooled(Self.key.session), properties: Self.key.properties)
        }
    }

    // MARK: - What goes wrong

    private func error(_ body: () throws -> Void) -> PoolError? {
        do {
            try body()
            return nil
        } catch {
            return error as? PoolError
        }
    }

    @Test func closedClientUnsubscribesNothingFromItsServer() throws {
        let pool = pool()
        let resource = try pool.createResource(home: .pooled(Self.key.session), properties: Self.key.properties)
        try pool.activate(resource)
        let carrier = try #require(resource.carrier)
        pool.closeClient(carrier.client)
        #expect(!resource.status.isActive && resource.carrier == nil)
        // The subscription ends with the session: the client was not asked to unsubscribe.
        #expect(carrier.subscription.isActive)
    }

    @Test func failedCreationOfAClientLeavesNothing() throws {
        let pool = pool { $0.upstreams[0].serverAddress = "no address" }
        let resource = try pool.createResource(home: .pooled(Self.key.session), properties: Self.key.properties)
        for _ in 0..<3 {
            let error = error { try pool.activate(resource) }
            guard case .invalidValue = error else { throw try #require(error) }
            #expect(pool.figures(of: "demo") == .none && pool.clients().isEmpty)
        }
        var corrected = pool.settings.configuration
        corrected.upstreams[0].serverAddress = "http://127.0.0.1:1"
        pool.reload(corrected)
        try pool.activate(resource)
        #expect(pool.figures(of: "demo") == UpstreamCredits(sessions: 1, subscriptions: 1, items: 1) && pool.users == 1)
        #expect(resource.status.isActive && pool.clients().count == 1)
    }

    @Test func subscriptionThatCannotBeCreatedLeavesTheSessionAsItWas() throws {
        let pool = pool()
        _ = try pool.joinImplicit(Self.key)
        let before = pool.figures(of: "demo")
        let impossible = SubscriptionProperties(mode: .merge, items: .list([]), fields: .list(["last_price"]))
        let resource = try pool.createResource(home: .pooled(Self.key.session), properties: impossible)
        let error = error { try pool.activate(resource) }
        guard case .invalidValue = error else { throw try #require(error) }
        #expect(pool.figures(of: "demo") == before)
        #expect(!resource.status.isActive)
    }

    @Test func upstreamThatIsRemovedDuringAnActivationRefusesIt() throws {
        let pool = pool()
        let resource = try pool.createResource(home: .pooled(Self.key.session), properties: Self.key.properties)
        var without = pool.settings.configuration
        without.upstreams = []
        pool.reload(without)
        #expect(error { try pool.activate(resource) } == .unknownUpstream("demo"))
        #expect(!resource.status.isActive && pool.figures(of: "demo") == .none)
    }

    @Test func aLastingRefusalOfTheSessionEndsItsSubscriptionsAndIsRepeatedForAMinute() throws {
        let pool = pool()
        let resource = try pool.createResource(home: .pooled(Self.key.session), properties: Self.key.properties)
        try pool.activate(resource)
        let client = try #require(resource.client)
        client.client(client.core, emitted: .serverError(code: 1, message: "wrong password"))
        #expect(resource.status.lastError == UpstreamRefusal(code: 1, message: "wrong password"))
        #expect(!resource.status.isActive && pool.clients().isEmpty)
        time.pass(59)
        try pool.activate(resource)
        #expect(resource.status.lastError?.code == 1 && !resource.status.isActive && pool.clients().isEmpty)
        time.pass(1)
        try pool.activate(resource)
        #expect(resource.status.lastError == nil && resource.status.isActive && pool.clients().count == 1)
        #expect(pool.figures(of: "demo").sessions == 1 && pool.figures(of: "demo").subscriptions == 1)
        #expect(sink.present.faults.isEmpty)
    }

    @Test func anErrorThatMayHealKeepsTheSubscriptions() throws {
        let pool = pool()
        let resource = try pool.createResource(home: .pooled(Self.key.session), properties: Self.key.properties)
        try pool.activate(resource)
        let client = try #require(resource.client)
        client.client(client.core, emitted: .serverError(code: 10, message: "blocked"))
        #expect(resource.status.isActive && pool.clients().count == 1)
    }

    @Test func countsAndPositionsStayReadableUntilItemsOrFieldsChange() throws {
        let pool = pool()
        let resource = try pool.createResource(home: .pooled(Self.key.session), properties: Self.key.properties)
        try pool.activate(resource)
        let carrier = try #require(resource.carrier)
        carrier.subscription(
            carrier.subscription,
            emitted: .subscribed(itemCount: 1, fieldCount: 1, keyPosition: nil, commandPosition: nil)
        )
        pool.deactivate(resource)
        #expect(resource.status.itemCount == 1 && !resource.status.isSubscribed)
        var properties = Self.key.properties
        properties.requestedMaxFrequency = .limited(1)
        try pool.change(resource, to: properties)
        #expect(resource.status.itemCount == 1)
        properties.items = .list(["item2"])
        try pool.change(resource, to: properties)
        #expect(resource.status.itemCount == nil)
    }

    @Test func removalByTheServerIsTheLastError() throws {
        let pool = pool()
        let resource = try pool.createResource(home: .pooled(Self.key.session), properties: Self.key.properties)
        try pool.activate(resource)
        let carrier = try #require(resource.carrier)
        let subscribed = SubscriptionEvent.subscribed(
            itemCount: 1,
            fieldCount: 1,
            keyPosition: nil,
            commandPosition: nil
        )
        carrier.subscription(carrier.subscription, emitted: subscribed)
        carrier.subscription(carrier.subscription, emitted: .unsubscribed(isFinal: true))
        #expect(!resource.status.isActive && resource.carrier == nil)
        #expect(resource.status.lastError?.isRemoval == true)
        #expect(resource.status.itemCount == 1 && resource.status.fieldCount == 1)
        try pool.activate(resource)
        #expect(resource.status.lastError == nil)
        pool.deactivate(resource)
        #expect(resource.status.lastError == nil)
    }
}

internal import Changes
internal import SessionCore
internal import Synchronization
internal import TestSupport
internal import Testing

@testable import LightstreamerClient
@testable import SessionPool

/// Sessions whose upstream has another configuration since a reload.
@Suite struct OutdatedSessionsTests: PoolSuite {
    let sink = RecordingSink()
    let time = ManualTime()

    private static func other(_ frequency: RequestedMaxFrequency? = nil) -> SharedKey {
        var properties = SharedKey.demo("item2").properties
        properties.requestedMaxFrequency = frequency
        return SharedKey(session: key.session, properties: properties)
    }

    private func posted(_ pool: SessionPool, _ key: SharedKey = Self.key) throws -> SubscriptionResource {
        let resource = try pool.createResource(home: .pooled(key.session), properties: key.properties)
        try pool.activate(resource)
        return resource
    }

    private func reload(_ pool: SessionPool, _ change: (inout UpstreamConfiguration) -> Void) {
        var configuration = pool.settings.configuration
        change(&configuration.upstreams[0])
        pool.reload(configuration)
    }

    private static func correct(_ upstream: inout UpstreamConfiguration) {
        upstream.serverAddress = "http://127.0.0.1:2"
    }

    private func address(of resource: SubscriptionResource) -> String? {
        resource.client?.core.connectionDetails.serverAddress
    }

    /// The session of the client delivers; the client makes no attempt by itself any more.
    private func connect(_ client: PooledClient) async {
        await client.core.shutdown()
        client.client(client.core, emitted: .status(.connectedWSStreaming))
    }

    private static let confirmation = SubscriptionEvent.subscribed(
        itemCount: 1,
        fieldCount: 1,
        keyPosition: nil,
        commandPosition: nil
    )

    /// The server confirms the subscription.
    private func confirm(_ resource: SubscriptionResource) throws {
        let carrier = try #require(resource.carrier)
        carrier.subscription(carrier.subscription, emitted: Self.confirmation)
    }

    @Test func subscriptionsOfASessionThatIsNotConnectedContinueAtTheCorrectedAddress() throws {
        let pool = pool()
        let implicit = try pool.joinImplicit(Self.key).resource
        let posted = try posted(pool)
        let unread = try pool.joinImplicit(Self.other()).resource
        pool.leaveImplicit(unread)
        let former = try #require(posted.client)
        let isSeenInactive = Mutex(false)
        let handle = posted.watchers.add {
            if !posted.status.isActive { isSeenInactive.withLock { $0 = true } }
            return false
        }
        reload(pool, Self.correct)
        posted.watchers.cancel(try #require(handle))
        #expect(pool.client(former.id) == nil && implicit.client === posted.client)
        #expect(address(of: posted)?.hasPrefix("http://127.0.0.1:2") == true)
        #expect(posted.status.isActive && implicit.status.isActive && unread.isDeleted)
        #expect(!isSeenInactive.withLock { $0 })
        #expect(try pool.joinImplicit(Self.key).resource === implicit)
        #expect(pool.figures(of: "demo") == UpstreamCredits(sessions: 1, subscriptions: 1, items: 1) && pool.users == 2)
        pool.leaveImplicit(implicit)
        pool.leaveImplicit(implicit)
        try pool.delete(posted.id)
        pass(5, in: pool)
        #expect(pool.resources().isEmpty && pool.figures(of: "demo").subscriptions == 0)
        #expect(sink.present.faults.isEmpty)
    }

    @Test func subscriptionsOfASessionThatDeliversContinueElsewhereWhenItsConnectionBreaks() async throws {
        let pool = pool()
        let resource = try posted(pool)
        let former = try #require(resource.client)
        await connect(former)
        try confirm(resource)
        reload(pool, Self.correct)
        #expect(resource.client === former && resource.status.isSubscribed)
        let reader = try pool.joinImplicit(Self.other()).resource
        #expect(address(of: reader)?.hasPrefix("http://127.0.0.1:2") == true)
        former.client(former.core, emitted: .status(.disconnectedTryingRecovery))
        #expect(pool.client(former.id) == nil && resource.client === reader.client)
        #expect(resource.status.isActive && !resource.status.isSubscribed)
        #expect(sink.present.events[resource.id] == [Self.confirmation, .unsubscribed(isFinal: false)])
        #expect(pool.figures(of: "demo") == UpstreamCredits(sessions: 1, subscriptions: 2, items: 2) && pool.users == 2)
        #expect(sink.present.faults.isEmpty)
    }

    @Test func theRefusalOfAnOutdatedSessionDoesNotConcernItsSubscriptions() throws {
        let pool = pool()
        let resource = try posted(pool)
        let former = try #require(resource.client)
        reload(pool, Self.correct)
        former.client(former.core, emitted: .serverError(code: 1, message: "wrong password"))
        #expect(resource.status.isActive && pool.refusedClient(of: "demo") == nil)
    }

    /// The move has another frequency than the subscription that serves the resource until its end.
    @Test func aMoveToAnOutdatedSessionContinuesElsewhere() async throws {
        let pool = pool { $0.upstreams[0].maxSubscriptionsPerSession = 1 }
        let resource = try posted(pool, Self.other(.limited(1)))
        let sharer = try posted(pool, Self.other(.limited(1)))
        let client = try #require(resource.client)
        await connect(client)
        try confirm(resource)
        try pool.change(resource, to: Self.other(.limited(2)).properties)
        #expect(resource.client === client && resource.moveTarget != nil)
        reload(pool, Self.correct)
        #expect(resource.moveTarget == nil && resource.client !== client && sharer.client === client)
        #expect(resource.carrier?.subscription.requestedMaxFrequency == .limited(2))
        #expect(pool.figures(of: "demo") == UpstreamCredits(sessions: 2, subscriptions: 2, items: 2) && pool.users == 2)
    }

    @Test func subscriptionsKeepTheCreditsOfAnAdoptedSession() throws {
        let pool = pool()
        let resource = try posted(pool)
        pool.requireCredits()
        pool.changeCredits(of: "demo") { credits, used in credits.coverUse(of: "demo", used: used) }
        reload(pool, Self.correct)
        #expect(resource.status.isActive)
        #expect(pool.credits(of: "demo") == UpstreamCredits(sessions: 1, subscriptions: 1, items: 1))
    }

    @Test func withoutItsUpstreamASessionKeepsItsSubscriptions() throws {
        let pool = pool()
        let resource = try posted(pool)
        let former = try #require(resource.client)
        var without = pool.settings.configuration
        without.upstreams = []
        pool.reload(without)
        #expect(resource.client === former && resource.status.isActive)
    }

    @Test func aSubscriptionThatThePresentConfigurationDoesNotAdmitWaits() throws {
        let pool = pool()
        let resource = try posted(pool)
        reload(pool) { upstream in
            Self.correct(&upstream)
            upstream.maxItems = 0
        }
        #expect(!resource.status.isActive && pool.figures(of: "demo") == .none)
        pass(1, in: pool)
        #expect(!resource.status.isActive)
        reload(pool) { $0.maxItems = 1 }
        pass(1, in: pool)
        #expect(resource.status.isActive)
    }

    @Test func aSubscriptionThatWaitsAndIsDeletedStaysDeleted() throws {
        let pool = pool()
        let resource = try posted(pool)
        reload(pool) { upstream in
            Self.correct(&upstream)
            upstream.maxItems = 0
        }
        try pool.delete(resource.id)
        reload(pool) { $0.maxItems = 1 }
        pass(1, in: pool)
        #expect(!resource.status.isActive && pool.figures(of: "demo") == .none)
    }

    @Test func subscriptionsOfASessionThatIsNotConnectedContinueWithTheChangedOptions() throws {
        let pool = pool()
        let resource = try posted(pool)
        let former = try #require(resource.client)
        reload(pool) { $0.maxItems = 7 }
        #expect(resource.client === former)
        reload(pool) { $0.options.httpExtraHeaders = ["X-Tenant": "b"] }
        let client = try #require(resource.client)
        #expect(client !== former && pool.client(former.id) == nil)
        #expect(client.core.connectionOptions.httpExtraHeaders == ["X-Tenant": "b"])
    }

    // MARK: - Credentials

    private static func account(_ password: String) -> SessionKey {
        SessionKey(upstream: "demo", user: "u", password: password)
    }

    private func poolWithPassword() -> SessionPool {
        pool { configuration in
            configuration.upstreams[0].user = "u"
            configuration.upstreams[0].password = "former"
        }
    }

    @Test func aSubscriptionIsActivatedWithThePresentCredentials() throws {
        let pool = poolWithPassword()
        let key = SharedKey(session: Self.account("former"), properties: Self.key.properties)
        let resource = try posted(pool, key)
        let former = try #require(resource.client)
        former.client(former.core, emitted: .serverError(code: 1, message: "wrong password"))
        #expect(resource.status.lastError?.code == 1)
        reload(pool) { $0.password = "present" }
        try pool.activate(resource)
        let client = try #require(resource.client)
        #expect(pool.state.withLock { $0.machine.session(of: client.id) } == Self.account("present"))
        #expect(client.core.connectionDetails.user == "u")
        let reader = try pool.joinImplicit(SharedKey(session: Self.account("present"), properties: key.properties))
        #expect(reader.resource.carrier === resource.carrier)
        #expect(try pool.messenger(Self.account("former"), for: .zero) === client)
    }

    @Test func aSubscriptionThatMovesUsesThePresentCredentials() async throws {
        let pool = poolWithPassword()
        let key = SharedKey(session: Self.account("former"), properties: Self.other(.limited(1)).properties)
        let (resource, sharer) = (try posted(pool, key), try posted(pool, key))
        let former = try #require(resource.client)
        await connect(former)
        try confirm(resource)
        reload(pool) { $0.password = "present" }
        try pool.change(resource, to: Self.other(.limited(2)).properties)
        let target = try #require(resource.moveTarget?.client)
        #expect(pool.state.withLock { $0.machine.session(of: target.id) } == Self.account("present"))
        // The only user of the former subscription changes it in place; readers with the present credentials do not share it.
        try pool.delete(resource.id)
        try pool.change(sharer, to: Self.other(.limited(3)).properties)
        #expect(sharer.client === former && sharer.carrier?.subscription.requestedMaxFrequency == .limited(3))
        let present = SharedKey(session: Self.account("present"), properties: sharer.properties)
        #expect(try pool.joinImplicit(present).resource.client === target)
    }

    @Test func theRefusalOfFormerCredentialsConcernsNoSubscription() async throws {
        let pool = poolWithPassword()
        let key = SharedKey(session: Self.account("former"), properties: Self.key.properties)
        let resource = try posted(pool, key)
        let former = try #require(resource.client)
        await connect(former)
        reload(pool) { $0.password = "present" }
        #expect(resource.client === former)
        former.client(former.core, emitted: .status(.disconnected))
        former.client(former.core, emitted: .serverError(code: 1, message: "wrong password"))
        let client = try #require(resource.client)
        #expect(pool.state.withLock { $0.machine.session(of: client.id) } == Self.account("present"))
        #expect(resource.status.isActive && pool.refusedClient(of: "demo") == nil)
    }
}

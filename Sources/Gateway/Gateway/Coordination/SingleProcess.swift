package import Changes
package import EventHub
package import SessionCore
package import SessionPool

/// The coordination of a gateway that runs alone.
final class SingleProcess: Coordination {
    let tickets: any Tickets = TicketStore()
    private let hub: EventHub
    private let clock: @Sendable () -> Moment
    private let idempotency = IdempotencyStore()
    private let rates = TokenBuckets()

    /// A coordination that publishes to the hub itself.
    init(hub: EventHub, clock: @escaping @Sendable () -> Moment) {
        self.hub = hub
        self.clock = clock
    }

    // MARK: - Place

    func perform(_ call: Call, _ operation: Operation) throws -> OperationResult {
        guard operation.method == .post, let header = call.header("Idempotency-Key") else {
            return try operation.handler(call)
        }
        let key = try IdempotencyStore.key(header, of: call)
        return .later { [self] in try await idempotency.perform(call, key, operation, now: clock()) }
    }

    var contact: Contact { .all }

    func resourceElsewhere(_ id: String) -> ResourceElsewhere? { nil }

    func hasMoved(_ id: String) -> Bool { false }

    func makeStreamID() -> String { RandomID.make(prefix: "t") }

    func catchUp() async {}

    // MARK: - Admission

    func take(_ name: String, rate: Double, burst: Double) -> TokenBucket.Decision {
        rates.take(name, rate: rate, burst: burst, now: clock())
    }

    // The pool and `SubscriptionUsage` have the limits.
    func admit<Result>(
        _ use: ResourceUse,
        for call: Call,
        _ perform: () async throws -> Result
    ) async throws -> Result {
        try await perform()
    }

    // MARK: - Changes

    func made(_ change: ResourceChange) {}

    var publisher: any PoolSink { hub }

    // MARK: - Shared subscriptions

    func join(_ key: SharedKey, in pool: SessionPool) throws(PoolError) -> JoinedSubscription {
        let (resource, isOpened) = try pool.joinImplicit(key)
        return JoinedSubscription(
            id: resource.id.rawValue,
            upstream: key.session.upstream,
            // Those of the first reader: the streams of a subscription share the memory of its names.
            properties: resource.properties,
            resource: resource,
            isOpened: isOpened
        )
    }

    func renew(_ subscription: JoinedSubscription, in pool: SessionPool) {
        if let resource = subscription.resource { _ = try? pool.activateIfInactive(resource) }
    }

    func leave(_ subscription: JoinedSubscription, in pool: SessionPool) {
        if let resource = subscription.resource { pool.leaveImplicit(resource) }
    }

    func wait(of request: StreamRequest, topics: Set<String>) -> (@Sendable (_ stream: String) -> Void)? { nil }

    // MARK: - Life

    var uses: [String: CallerUse] { [:] }

    var held: [String: Set<String>] { [:] }

    var figures: (any CoordinationFigures)? { nil }

    func attach(_ pool: SessionPool) {}

    func attach(_ host: HTTPHost) {}

    func run() async {}

    func leave(within time: Duration) async {}

    func reload(_ configuration: GatewayConfiguration) {}
}

extension EventHub: PoolSink {
    package func take(_ change: Change, number: UInt64) { take(change) }

    package func take(_ change: SessionChange) {}

    package var ownsSessions: Bool { true }

    package func lastReads(of topics: [TopicID], _ done: @escaping @Sendable ([TopicID: Moment]) -> Void) {
        done(lastReads(of: topics))
    }
}

internal import Changes
internal import Gateway
internal import JSONText
internal import Primitives
internal import Replication
internal import SessionCore
internal import SessionPool

/// The answers of a member of a cluster.
extension ClusterNode: Coordination {
    // MARK: - Place

    func perform(_ call: Call, _ operation: Operation) throws -> OperationResult {
        guard let host else { throw Problem.notInContact }
        var limited = call
        limited.open = { [self] in open($0, $1, for: call) }
        let perform: @Sendable () throws -> OperationResult = { [self, limited] in
            let result = try route(limited, operation, host.services)
            guard case .stream(let head, let stream) = result, call.streamLimit != nil else { return result }
            open(head, stream, for: call)
            return .deferred
        }
        guard let ticket = call.ticket else { return try perform() }
        return try use(ticket, for: call, perform)
    }

    /// Performs a request here, or has the member perform it that has its resource.
    private func route(_ call: Call, _ operation: Operation, _ services: Services) throws -> OperationResult {
        let routing = ClusterRouting(cluster: self, services: services) { [self] in try performHere($0, $1) }
        switch operation.placement {
        case .receiver: return try performHere(call, operation)
        case .creator:
            try checkNotAlone()
            return try performHere(call, operation)
        case .carrier:
            try checkNotAlone()
            // The handler checks the body.
            let body = (try? JSONValue(parsing: call.body))?.object
            if let client = body?["client"]?.string { return try routing.perform(call, operation, onOwnerOf: client) }
            guard let upstream = body?["upstream"]?.string, let carrier = carrier(of: upstream, for: call)
            else { return try performHere(call, operation) }
            try checkServing()
            // This member can have no session.
            forward(call, to: carrier) { [self] in call.complete { try performHere(call, operation) } }
            return .deferred
        case .owner: return try routing.perform(call, operation, onOwnerOf: call.parameter("id"))
        case .opener: return try routing.open(call, operation)
        case .list(let resource): return try routing.list(resource, call, operation)
        }
    }

    /// Throws while this member serves alone: resources that it creates would be lost when the engine returns.
    private func checkNotAlone() throws(Problem) {
        if isAlone { throw Problem.notInContact }
    }

    /// Throws while this member does not serve the resources of the cluster.
    func checkServing() throws(Problem) {
        guard servesResources else { throw Problem.notInContact }
    }

    /// The process of a member that can carry a subscription of an upstream for a request, if this member cannot because
    /// other members have all sessions; else nil.
    func carrier(of upstream: String, for call: Call) -> UInt64? {
        guard !call.isForwarded else { return nil }
        let hash = FNV1a(of: call.requestID).value
        return state.withLock { state in
            guard state.machine.isMember, let ledger = state.machine.ledger else { return nil }
            let carriers = ledger.carriers(of: upstream, insteadOf: state.machine.member, for: hash)
            return carriers.first.flatMap { ledger.members[$0]?.info.process }
        }
    }

    /// Performs a request on this member. A request with an `Idempotency-Key` is performed once.
    func performHere(_ call: Call, _ operation: Operation) throws -> OperationResult {
        guard call.header("Idempotency-Key") != nil, let key = try IdempotencyStore.key(of: call, operation.method)
        else {
            return try confirming(call, operation, nil)
        }
        let isConfirmed = operation.changesResources
        return ClusterIdempotency(cluster: self, isConfirmed: isConfirmed).perform(call, key) { [self] call, begun in
            try confirming(call, operation, begun)
        }
    }

    private func confirming(_ call: Call, _ operation: Operation, _ begun: BegunRequest?) throws -> OperationResult {
        guard operation.changesResources, let services = host?.services else { return try operation.handler(call) }
        return try ClusterResources(cluster: self, services: services).perform(call, operation, begun)
    }

    /// Whether this member serves its own readers alone, because the engine is away.
    var isAlone: Bool { state.withLock { $0.machine.isLocal } }

    /// Whether this member serves resources, which belong to the whole cluster.
    var servesResources: Bool { isServing && !isAlone }

    /// The host of this process; nil after this node has stopped.
    var host: HTTPHost? { shared.withLock { $0.host } }

    /// The pool of this process.
    var pool: SessionPool? { shared.withLock { $0.pool } }

    /// The resources of this process that other members may take over.
    var resources: ClusterResources? { host.map { ClusterResources(cluster: self, services: $0.services) } }

    /// The prepared streams of this member.
    var streams: ClusterStreams? { host.map { ClusterStreams(cluster: self, services: $0.services) } }

    var contact: Contact { isAlone ? .ownStreams : isServing ? .all : .none }

    func makeStreamID() -> String {
        ClusterStreamID.prefix(of: process) + RandomID.make(prefix: "t").dropFirst()
    }

    // MARK: - Admission

    func admit(
        _ use: ResourceUse,
        for call: Call,
        _ perform: @escaping @Sendable (any Admission) throws -> OperationResult
    ) throws -> OperationResult {
        switch use {
        case .sources(let selectors, let owner):
            return try self.perform(call, reserving: demands(of: selectors, for: owner), perform)
        case .newSubscription(let id, let properties):
            let created = QuotaDemand(.createdSubscription(id.rawValue), limits: limits(\.maxSubscriptionResources))
            let ofCaller = call.caller.demand(id.rawValue, properties)
            return try self.perform(call, creating: created, and: [ofCaller].compactMap(\.self), perform)
        case .newClient(let id):
            let created = QuotaDemand(.dedicatedClient(id.rawValue), limits: limits(\.maxDedicatedClients))
            return try self.perform(call, creating: created, perform)
        case .changedSubscription(let id, let properties, let owner):
            let demands = [owner.demand(id.rawValue, properties)].compactMap(\.self)
            return try self.perform(call, reserving: demands) { [self] admission in
                // Without credits, the reservation lasts until there is a decision about them.
                try self.perform(call) {
                    let result = try perform(admission)
                    admission.end()
                    return result
                } otherwise: {
                    admission.end()
                }
            }
        case .activation:
            return try self.perform(call, reserving: []) { [self] admission in
                try self.perform(call) { try perform(admission) }
            }
        }
    }

    private func limits(_ limit: KeyPath<PoolConfiguration, Int>) -> QuotaLimits {
        QuotaLimits(count: host?.services.pool.configuration[keyPath: limit])
    }

    /// The quota units of the shared subscriptions among the sources of a stream.
    private func demands(of selectors: [SourceSelector], for owner: Caller) -> [QuotaDemand] {
        var known: Set<String> = []
        return selectors.compactMap { selector -> QuotaDemand? in
            guard case .join(let upstream, let properties, _) = selector else { return nil }
            let id = ids.id(of: SharedTopicKey(upstream: upstream, properties: properties))
            return known.insert(id).inserted ? owner.demand(id, properties) : nil
        }
    }

    // MARK: - Changes

    func made(_ change: ResourceChange) {
        switch change {
        case .streamClosed(let id):
            write(.stream(.close(id: id)))
            resourceChanged(id)
        case .streamExpired(let id): write(.stream(.remove(id: id, evenIfOpen: false)))
        case .streamDeleted(let id): write(.stream(.remove(id: id, evenIfOpen: true)))
        case .streamRemoved(let id):
            releaseClaims(of: id)
            resourceChanged(id)
        case .resourceRemoved(let id): resourceRemoved(id)
        case .subscriptionUsed(let id, let identity, let items): subscription(id, of: identity, uses: items)
        }
    }

    var publisher: any PoolSink { self }

    // MARK: - Shared subscriptions

    func join(_ key: SharedKey, in pool: SessionPool) throws(PoolError) -> JoinedSubscription {
        let (upstream, properties) = (key.session.upstream, key.properties)
        let (id, isNew) = addReader(of: SharedTopicKey(upstream: upstream, properties: properties))
        return JoinedSubscription(
            id: id,
            upstream: upstream,
            properties: properties,
            resource: nil,
            isOpened: isNew
        )
    }

    func leave(_ subscription: JoinedSubscription, in pool: SessionPool) { removeReader(of: subscription.id) }
}

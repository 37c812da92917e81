internal import Changes
internal import Gateway
internal import JSONText
internal import Primitives
internal import Replication
internal import SessionCore
internal import SessionPool

/// The answers of a member of a cluster.
extension ClusterNode: Coordination {
    // MARK: - Gateway

    func attach(_ pool: SessionPool) {
        pool.requireCredits()
        shared.withLock { $0.pool = pool }
    }

    func attach(_ host: HTTPHost) {
        shared.withLock { $0.host = host }
        host.services.access.owners.usage.observe { [weak self] in
            self?.made(.subscriptionUsed($0, identity: $1, items: $2))
        }
        host.services.access.owners.observeRemovals { [weak self] in self?.made(.resourceRemoved($0)) }
    }

    /// Leaves the cluster, so that others take over what this member owns; returns when it has left, or after `time`. Requests that
    /// change resources, and those of other members, get the same time before.
    func leave(within time: Duration) async {
        await endChanges(within: time)
        offer(.left)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.hasLeft.wait() }
            group.addTask { try? await Task.sleep(for: time) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Waits for the requests that change resources, which do not wait for anything but the log any more, and for the requests of
    /// other members, which take the removal of this one for a failure. Their changes would be made, and not be in the log. Refuses
    /// further requests once there are none, or from half of the time on.
    private func endChanges(within time: Duration) async {
        let now = clock()
        reports.withLock { $0.awaitsChanges = true }
        for end in [now + time / 2, now + time] {
            repeat {
                if isIdle() { return }
            } while await changes(of: Self.ownChanges, since: nil, until: end, unless: isIdle)
            reports.withLock { $0.isLeaving = true }
        }
    }

    /// Whether there are no such requests; refuses further ones then.
    private func isIdle() -> Bool {
        let haveCalls = shared.withLock { !$0.calls.isEmpty }
        return reports.withLock { reports in
            if haveCalls || reports.changing > 0 { return false }
            reports.isLeaving = true
            return true
        }
    }

    func reload(_ configuration: GatewayConfiguration) {
        let (digest, pool) = (configuration.clusterDigest, configuration.pool)
        let upstreams = pool.upstreams.map(\.name)
        state.withLock {
            $0.machine.configurationChanged(digest, upstreams: upstreams, linger: pool.subscriptionLinger)
        }
    }

    var figures: (any CoordinationFigures)? { clusterFigures }

    var uses: [String: CallerUse] {
        state.withLock { state in
            guard let quotas = state.machine.ledger?.quotas else { return [:] }
            return quotas.callers.reduce(into: [:]) { uses, identity in
                var use = CallerUse()
                use.streams = quotas.used(of: QuotaUnit.stream("", of: identity).quota).count
                (use.subscriptions, use.items) = quotas.used(of: QuotaUnit.subscription("", of: identity).quota)
                uses[identity] = use
            }
        }
    }

    var held: [String: Set<String>] { state.withLock { $0.machine.ledger?.quotas.heldSubscriptions ?? [:] } }

    var clusterFigures: ClusterFigures {
        let now = clock()
        let (member, number) = state.withLock { ($0.machine.figures(at: now), $0.link?.number ?? 0) }
        let (counters, failures) = shared.withLock { ($0.counters, $0.failures.reasons(since: number, at: now)) }
        return ClusterFigures(
            member: member,
            outboxBytes: reports.withLock { $0.outbox.count },
            counters: counters,
            credits: heldCredits,
            failures: failures
        )
    }

    // MARK: - Place

    func perform(_ call: Call, _ operation: Operation) throws -> OperationResult {
        guard let services = host?.services else { throw Problem.notInContact }
        return .later { [self] in
            if let ticket = call.ticket {
                // A use cannot be taken back from the log: a ticket whose stream is refused is not used.
                let result = try await route(call.forHead, operation, services)
                guard case .stream = result else { return result }
                if operation.placement == .opener {
                    try await ClusterStreams(cluster: self, services: services).checkNotInUse(call)
                }
                try await use(ticket, for: call)
            }
            var opened: String?
            defer { if call.ticket != nil { endUse(by: call, of: opened) } }
            let result = try await route(call, operation, services)
            if case .stream(_, let stream) = result {
                try await claim(stream, for: call)
                opened = stream.id
            }
            return result
        }
    }

    /// Performs a request here, or on the member that has the resource of the request.
    private func route(_ call: Call, _ operation: Operation, _ services: Services) async throws -> OperationResult {
        let routing = ClusterRouting(cluster: self, services: services)
        switch operation.placement {
        case .receiver: return try await performHere(call, operation)
        case .creator:
            try checkNotAlone()
            return try await performHere(call, operation)
        case .carrier:
            try checkNotAlone()
            // The handler checks the body.
            let body = (try? JSONValue(parsing: call.body))?.object
            if let client = body?["client"]?.string {
                return try await routing.perform(call, operation, onOwnerOf: client)
            }
            if let upstream = body?["upstream"]?.string, services.pool.figures(of: upstream).sessions == 0,
                let carrier = carrier(of: upstream, for: call)
            {
                try checkServing()
                // This member can have no session.
                if let response = try await response(of: carrier, to: call) { return .response(response) }
            }
            return try await performHere(call, operation)
        case .owner: return try await routing.perform(call, operation, onOwnerOf: call.parameter("id"))
        case .opener:
            guard servesResources else { throw StreamOpener.closing("behind", .notInContact, call) }
            return try await ClusterStreams(cluster: self, services: services).open(call, operation)
        case .list(let resource): return .response(try await routing.page(resource, call, operation))
        }
    }

    /// Throws while this member serves alone: resources that it creates would be lost when the engine returns.
    private func checkNotAlone() throws(Problem) { if isAlone { throw Problem.notInContact } }

    /// Throws while this member does not serve the resources of the cluster.
    func checkServing() throws(Problem) { guard servesResources else { throw Problem.notInContact } }

    /// The process of a member that can carry a subscription of an upstream for a request, if this member cannot because
    /// other members have all sessions; else nil.
    func carrier(of upstream: String, for call: Call) -> UInt64? {
        guard !call.isForwarded else { return nil }
        let hash = FNV1a.hash(of: call.requestID)
        return state.withLock { state in
            guard state.machine.isMember, let ledger = state.machine.ledger else { return nil }
            let carriers = ledger.carriers(of: upstream, insteadOf: state.machine.member, for: hash)
            return carriers.first.flatMap { ledger.members[$0]?.info.process }
        }
    }

    /// Performs a request on this member; the result is `misdirected` if the resource of the request has got another owner since
    /// the caller looked. A request with an `Idempotency-Key` is performed once.
    func performHere(_ call: Call, _ operation: Operation) async throws -> OperationResult {
        guard operation.method == .post, let header = call.header("Idempotency-Key") else {
            return try await performIfOwner(call, operation, nil)
        }
        let key = try IdempotencyStore.key(header, of: call)
        return try await performOnce(call, key) { [self] in try await performIfOwner($0, operation, $1) }
    }

    private func performIfOwner(
        _ call: Call,
        _ operation: Operation,
        _ begun: BegunRequest?
    ) async throws -> OperationResult {
        do {
            return try await performWithSources(call, operation, begun)
        } catch is OvertakenChange {
            return .misdirected
        } catch let error where ProblemDetails.isUnknownResource(error) {
            // A resource that this process keeps is not visible to the caller.
            guard let id = operation.resource(of: call), !has(id), place(of: id).isKnown else { throw error }
            return .misdirected
        }
    }

    /// Performs a request that may name sources of a stream; again if this member does not know one of them: another member may have
    /// created the source just now, or has not reported the source yet in a new epoch.
    private func performWithSources(
        _ call: Call,
        _ operation: Operation,
        _ begun: BegunRequest?
    ) async throws -> OperationResult {
        do {
            return try await confirming(call, operation, begun)
        } catch let error where operation.namesSources && ProblemDetails.isUnknownResource(error) {
            guard await appliesEnd(isComplete: true) else { throw StreamOpener.closing("behind", .notInContact, call) }
            return try await confirming(call, operation, begun)
        }
    }

    private func confirming(
        _ call: Call,
        _ operation: Operation,
        _ begun: BegunRequest?
    ) async throws -> OperationResult {
        if operation.changesResources, let resources { return try await resources.perform(call, operation, begun) }
        let result = try await operation.handler(call).last
        if operation.placement == .owner { try await changesAreWritten() }
        return result
    }

    /// Waits until the log has the changes of requests that a response may show; throws if the log may lack some: a caller that
    /// has read a change must not read the state before that change from the next owner.
    private func changesAreWritten() async throws(Problem) {
        guard let generation = reports.withLock({ $0.lackChanges ? $0.outbox.generation : nil }) else { return }
        let confirmation = await withCheckedContinuation { continuation in
            confirm(generation, creating: nil) { continuation.resume(returning: $0) }
        }
        if confirmation != .written { throw Problem.notInContact }
    }

    /// Whether this member serves its own readers alone, because the engine is away.
    var isAlone: Bool { state.withLock { $0.machine.isLocal } }

    /// Whether this member serves resources, which belong to the whole cluster.
    var servesResources: Bool { state.withLock { $0.machine.servesResources(at: clock()) } }

    /// The host of this process; nil after this node has stopped.
    var host: HTTPHost? { shared.withLock { $0.host } }

    var pool: SessionPool? { shared.withLock { $0.pool } }

    /// The resources of this process that other members may take over.
    var resources: ClusterResources? { host.map { ClusterResources(cluster: self, services: $0.services) } }

    var streams: ClusterStreams? { host.map { ClusterStreams(cluster: self, services: $0.services) } }

    var contact: Contact { isAlone ? .ownStreams : isServing ? .all : .none }

    func hasMoved(_ id: String) -> Bool {
        switch holder(of: id) {
        case .process, .none: true
        case .own, .unknown: false
        }
    }

    func makeStreamID() -> String { Self.streamPrefix(of: process) + RandomID.make(prefix: "t").dropFirst() }

    // MARK: - Admission

    func admit<Result>(
        _ use: ResourceUse,
        for call: Call,
        _ perform: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await reserving(use, for: call, perform)
        } catch let refusal as CreditRefusal {
            // This member can have no session for a new subscription: a member with a session performs the request. A resource
            // that exists stays with its owner.
            guard refusal.shortage.missing.sessions > 0, call.parameters["id"] == nil,
                let carrier = carrier(of: refusal.shortage.upstream, for: call),
                let response = try await response(of: carrier, to: call)
            else { throw refusal.error }
            throw AnsweredRequest(response)
        }
    }

    /// The units that a request begins to use: the unit of the resource that the request creates, and all units.
    func demands(of use: ResourceUse, by caller: Caller) -> (created: QuotaUnit?, all: [QuotaDemand]) {
        switch use {
        case .sources(let selectors, let owner): return (nil, demands(of: selectors, for: owner))
        case .newSubscription(let id, let properties):
            let created = QuotaDemand(.createdSubscription(id.rawValue), limits: limits(\.maxSubscriptionResources))
            return (created.unit, [created, caller.demand(id.rawValue, properties)].compactMap(\.self))
        case .newClient(let id):
            let created = QuotaDemand(.dedicatedClient(id.rawValue), limits: limits(\.maxDedicatedClients))
            return (created.unit, [created])
        case .changedSubscription(let id, let properties, let owner):
            return (nil, [owner.demand(id.rawValue, properties)].compactMap(\.self))
        case .activation: return (nil, [])
        }
    }

    private func limits(_ limit: KeyPath<PoolConfiguration, Int>) -> QuotaLimits {
        QuotaLimits(count: host?.services.pool.settings.configuration[keyPath: limit])
    }

    /// The quota units of the shared subscriptions among the sources of a stream.
    private func demands(of selectors: [SourceSelector], for owner: Caller) -> [QuotaDemand] {
        var known: Set<String> = []
        return selectors.compactMap { selector -> QuotaDemand? in
            guard case .join(let upstream, let properties, _) = selector else { return nil }
            let id = self.id(of: SharedTopicKey(upstream: upstream, properties: properties))
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
            changeClaims { $0.endUses(of: id) }
            resourceChanged(id)
        case .resourceRemoved(let id): resourceRemoved(id)
        case .subscriptionUsed(let id, let identity, let items):
            let unit = QuotaUnit.subscription(id, of: identity)
            changeClaims { claims in items.map { claims.use(unit, size: $0) } ?? claims.endUse(unit) }
        }
    }

    var publisher: any PoolSink { self }

    // MARK: - Shared subscriptions

    func join(_ key: SharedKey, in pool: SessionPool) throws(PoolError) -> JoinedSubscription {
        let (upstream, properties) = (key.session.upstream, key.properties)
        let (id, isNew) = addReader(of: SharedTopicKey(upstream: upstream, properties: properties))
        return JoinedSubscription(id: id, upstream: upstream, properties: properties, resource: nil, isOpened: isNew)
    }

    func renew(_ subscription: JoinedSubscription, in pool: SessionPool) {
        // A reader that comes when the subscription is inactive writes to the log that the owner has to try again.
        _ = addReader(of: SharedTopicKey(upstream: subscription.upstream, properties: subscription.properties))
        removeReader(of: subscription.id)
    }

    func leave(_ subscription: JoinedSubscription, in pool: SessionPool) { removeReader(of: subscription.id) }
}

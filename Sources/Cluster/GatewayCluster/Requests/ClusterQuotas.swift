internal import Gateway
internal import Replication
internal import SessionCore
internal import SessionPool
internal import StreamIO
internal import Synchronization

/// The upstreams have no credits for what a request opens.
struct CreditRefusal: Error {
    let shortage: CreditShortage
    let error: PoolError
}

/// Limits on all members together. The log decides about each unit, which counts as long as a member has it.
extension ClusterNode {
    /// Performs the part of a request that begins to use resources, once the log has accepted their units. The log does not
    /// free them before the end of `perform`; a resource that `perform` creates counts until `resourceRemoved`.
    func reserving<Result>(
        _ use: ResourceUse,
        for call: Call,
        _ perform: () async throws -> Result
    ) async throws -> Result {
        let (created, demands) = demands(of: use, by: call.caller)
        let (missing, number) = reports.withLock { $0.claims.reserve(demands) }
        defer { if !demands.isEmpty { changeClaims { $0.endReservation(demands.map(\.unit)) } } }
        if !missing.isEmpty {
            switch await claim(missing, number) {
            case .accepted: break
            case .refused: throw excess(of: missing).error
            default: throw StreamOpener.closing("behind", .notInContact, call)
            }
        }
        do {
            return try await obtainingCredits {
                // The resource does not exist after a failed attempt.
                if let created { changeClaims { $0.use(created) } }
                return try await perform()
            }
        } catch {
            if let created { changeClaims { $0.endUse(created) } }
            throw error
        }
    }

    /// Performs the part of a request that opens sessions and subscriptions, again once there are credits for them.
    private func obtainingCredits<Result>(_ perform: () async throws -> Result) async throws -> Result {
        do {
            return try await perform()
        } catch PoolError.creditsNeeded(let shortage) {
            let decision = await withCheckedContinuation { continuation in
                obtain(shortage) { continuation.resume(returning: $0) }
            }
            switch decision {
            case .given(let ended):
                defer { ended() }
                return try await obtainingCredits(perform)
            case .refused(let error): throw CreditRefusal(shortage: shortage, error: error)
            case .unknown: throw Problem.notInContact
            }
        }
    }

    /// This member no longer has a client or subscription.
    func resourceRemoved(_ id: String) {
        changeClaims { $0.endUse(.createdSubscription(id)) + $0.endUse(.dedicatedClient(id)) }
    }

    /// The decision of the log about units: accepted, or refused because they exceed a limit; nil if it is not known in time.
    private func claim(_ demands: [QuotaDemand], _ number: UInt64) async -> RecordOutcome? {
        // In a new epoch, the other members declare the units that they have before new ones are decided.
        guard await isComplete() else { return nil }
        return await withCheckedContinuation { continuation in
            decide(.quota(number), by: .quota(.claim(demands, number: number))) { [self] outcome in
                // Before the next record of the log is applied.
                reports.withLock { $0.claims.decided(demands, outcome) }
                continuation.resume(returning: outcome)
            }
        }
    }

    /// The limit because of which the log has refused units.
    private func excess(of demands: [QuotaDemand]) -> QuotaExcess {
        state.withLock { $0.machine.ledger?.quotas.excess(of: demands) } ?? demands[0].excess
    }

    /// Changes the units of this member, and writes what the other members have to know.
    func changeClaims(_ change: (inout QuotaClaims) -> [QuotaRecord]) {
        // Inside the lock, so that records about a unit are in the order of its changes.
        let isWritten = reports.withLock { reports in
            change(&reports.claims).map { reports.outbox.append(request: .quota($0)) }.contains(true)
        }
        if isWritten { wake() }
    }

    // MARK: - Streams

    /// Claims a stream that a request opens. Throws, and ends the stream, if its caller has reached the limit of streams.
    func claim(_ stream: AdmittedStream, for call: Call) async throws {
        guard let (identity, limit) = call.streamLimit else { return }
        // The stream that a ticket opens again counts until it has ended.
        let former = call.reopensStream ? 1 : 0
        let decision = await claim(stream: stream.id, of: identity, limit: limit + former)
        if decision == .accepted { return }
        stream.onEnd(.neverOpened)
        guard decision == .refused else { throw StreamOpener.closing("behind", .notInContact, call) }
        throw StreamOpener.overLimit(limit, "for these credentials", call)
    }

    /// Claims a stream of this member, which counts until it is removed if the log accepts the claim.
    func claim(stream id: String, of identity: String, limit: Int) async -> RecordOutcome? {
        let demand = QuotaDemand(.stream(id, of: identity), limits: QuotaLimits(count: limit))
        let (missing, number) = reports.withLock { $0.claims.reserve([demand]) }
        defer { changeClaims { $0.endReservation([demand.unit]) } }
        if missing.isEmpty { return .accepted }
        let decision = await claim(missing, number)
        guard decision == .accepted else { return decision }
        return reports.withLock { $0.claims.useUnlessEnded(demand.unit) } ? .accepted : nil
    }

    /// This member has taken over a prepared stream, which counts for its owner if it did before.
    func takeOver(_ unit: QuotaUnit) {
        let isInUse = state.withLock { $0.machine.ledger?.quotas.contains(unit, of: $0.machine.member) ?? false }
        if isInUse { changeClaims { $0.inherit(unit) } }
    }
}

extension Caller {
    /// The demand of a subscription; nil if the caller has no quotas.
    func demand(_ id: String, _ properties: SubscriptionProperties) -> QuotaDemand? {
        let limits = QuotaLimits(count: rights.maxSubscriptions, size: rights.maxItems)
        guard let identity, !limits.isUnlimited else { return nil }
        return QuotaDemand(.subscription(id, of: identity), size: properties.countedItems, limits: limits)
    }
}

extension QuotaExcess {
    /// The error of a request that needs more, as without a cluster.
    fileprivate var error: any Error {
        switch unit.quota {
        case QuotaUnit.createdSubscriptions: PoolError.overQuota(.subscriptionResources(limit: limit))
        case QuotaUnit.dedicatedClients: PoolError.overQuota(.dedicatedClients(limit: limit))
        case let name:
            SubscriptionUsage.overQuota(
                isSize ? "items" : "subscriptions",
                limit,
                Caller.setting(isSize ? "maxItems" : "maxSubscriptions", of: QuotaUnit.caller(ofQuota: name))
            )
        }
    }
}

extension Call {
    /// The caller and its limit of open and prepared streams; nil if it has no limit, or if the request opens no stream.
    var streamLimit: (identity: String, limit: Int)? {
        guard !isHead, let identity = caller.identity, let limit = caller.rights.streams else { return nil }
        return (identity, limit)
    }
}

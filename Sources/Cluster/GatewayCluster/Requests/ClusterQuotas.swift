internal import Changes
internal import Gateway
internal import MicroHTTPD
internal import Replication
internal import SessionCore
internal import SessionPool
internal import StreamIO
internal import Synchronization

/// Units of quotas that a request may begin to use. The log does not free them before `end`.
final class QuotaReservation: Admission {
    private let cluster: ClusterNode
    private let units: [QuotaUnit]
    private let hasEnded = Atomic(false)

    fileprivate init(_ demands: [QuotaDemand], in cluster: ClusterNode) {
        self.cluster = cluster
        units = demands.map(\.unit)
    }

    /// The request does not begin to use further units. May be called again.
    func end() {
        if !hasEnded.exchange(true, ordering: .relaxed), !units.isEmpty {
            cluster.changeClaims { $0.endReservation(units) }
        }
    }

    // A request that is not performed after all, for instance because a queue is full, does not call `end`.
    deinit { end() }
}

/// Limits on all members together. The log decides about each unit, so that they are not exceeded; a unit counts as long
/// as a member has it.
extension ClusterNode {
    /// The decision of the log about units of quotas.
    enum QuotaDecision: Sendable {
        /// The units are within the limits.
        case accepted
        /// The units exceed a limit.
        case refused(QuotaExcess)
        /// The decision is not known in time.
        case unknown
    }

    /// Performs a request once the log has accepted the units that it may begin to use. They remain accepted until
    /// `perform`, or an action that it has started, ends the reservation.
    func perform(
        _ call: Call,
        reserving demands: [QuotaDemand],
        _ perform: @escaping @Sendable (any Admission) throws -> OperationResult
    ) throws -> OperationResult {
        let (missing, number) = reports.withLock { $0.claims.reserve(demands) }
        let reservation = QuotaReservation(demands, in: self)
        guard !missing.isEmpty else { return try perform(reservation) }
        claim(missing, number, reservation) { [self] decision in
            // A job of its own, because a handler takes too long for the node's task.
            addJob {
                call.complete {
                    switch decision {
                    case .accepted: return try perform(reservation)
                    case .refused(let excess): throw excess.error
                    case .unknown: return .response(try StreamOpener.closing("behind", .notInContact, call))
                    }
                }
            }
        }
        return .deferred
    }

    /// Performs a request that creates a resource, which counts until `resourceRemoved`.
    func perform(
        _ call: Call,
        creating created: QuotaDemand,
        and others: [QuotaDemand] = [],
        _ perform: @escaping @Sendable (any Admission) throws -> OperationResult
    ) throws -> OperationResult {
        try self.perform(call, reserving: [created] + others) { [self] reservation in
            try self.perform(call) { [self] in
                // The resource does not exist after a failed attempt.
                changeClaims { $0.use(created.unit) }
                let result = try perform(reservation)
                reservation.end()
                return result
            } otherwise: { [self] in
                changeClaims { $0.endUse(created.unit) }
                reservation.end()
            }
        }
    }

    /// Performs a request, once there are credits for the subscription that the request opens. A new subscription for which this member can have no
    /// session is created by a member that has one.
    ///
    /// - Parameter undo: Called before an error is thrown or sent.
    func perform(
        _ call: Call,
        obtainingCredits perform: @escaping @Sendable () throws -> OperationResult,
        otherwise undo: @escaping @Sendable () -> Void = {}
    ) throws -> OperationResult {
        do {
            return try perform()
        } catch PoolError.creditsNeeded(let shortage) {
            obtain(shortage) { [self] decision in
                // A job of its own, because a handler takes too long for the node's task.
                addJob { [self] in
                    call.complete {
                        switch decision {
                        case .given(let ended):
                            defer { ended() }
                            return try self.perform(call, obtainingCredits: perform, otherwise: undo)
                        case .refused(let error):
                            undo()
                            if shortage.missing.sessions > 0, forwardToCarrier(call, of: shortage.upstream, error) {
                                return .deferred
                            }
                            throw error
                        case .unknown:
                            undo()
                            throw Problem.notInContact
                        }
                    }
                }
            }
            return .deferred
        } catch {
            undo()
            throw error
        }
    }

    /// Lets a member with a session perform a request for a new subscription; false if there is none.
    private func forwardToCarrier(_ call: Call, of upstream: String, _ error: PoolError) -> Bool {
        // A resource that exists stays with its owner.
        guard call.parameters["id"] == nil, let carrier = carrier(of: upstream, for: call) else { return false }
        forward(call, to: carrier) { call.respond(ProblemDetails.response(to: call, for: error)) }
        return true
    }

    /// This member is about to create a resource that it has inherited, which counts until `resourceRemoved`.
    func resourceInherited(_ unit: QuotaUnit) { changeClaims { $0.use(unit) } }

    /// This member no longer has a client or subscription.
    func resourceRemoved(_ id: String) {
        changeClaims { $0.endUse(.createdSubscription(id)) + $0.endUse(.dedicatedClient(id)) }
    }

    /// Writes a claim, and calls back with the decision of the log. Unless it is accepted, the reservation ends.
    private func claim(
        _ demands: [QuotaDemand],
        _ number: UInt64,
        _ reservation: QuotaReservation,
        _ done: @escaping @Sendable (QuotaDecision) -> Void
    ) {
        // In a new epoch, the other members declare the units that they have before new ones are decided.
        whenComplete { [self] isComplete in
            guard isComplete else {
                reservation.end()
                return done(.unknown)
            }
            decide(.quota(number), by: .quota(.claim(demands, number: number))) { [self] outcome in
                let isAccepted: Bool? =
                    switch outcome {
                    case .accepted: true
                    case .refused: false
                    default: nil
                    }
                reports.withLock { $0.claims.decided(demands, isAccepted: isAccepted) }
                if isAccepted == true { return done(.accepted) }
                reservation.end()
                done(isAccepted == nil ? .unknown : .refused(excess(of: demands)))
            }
        }
    }

    /// The limit because of which the log has refused units.
    private func excess(of demands: [QuotaDemand]) -> QuotaExcess {
        if let excess = state.withLock({ $0.machine.ledger?.excess(of: demands) }) { return excess }
        // Other units were freed after the decision.
        let limits = demands[0].limits
        return QuotaExcess(
            unit: demands[0].unit,
            limit: limits.count ?? limits.size ?? 0,
            isSize: limits.count == nil
        )
    }

    /// Changes the units of this member, and writes what the other members have to know.
    func changeClaims(_ change: (inout QuotaClaims) -> [QuotaRecord]) {
        // Inside the lock, so that records about a unit are in the order of its changes.
        let isWritten = reports.withLock { reports in
            change(&reports.claims).map { reports.outbox.append(request: .quota($0)) }.contains(true)
        }
        if isWritten { wake() }
    }

    /// Declares all units again, after this member has joined under another number.
    func declareClaims() { changeClaims { $0.declarations() } }

    // MARK: - Streams

    /// Opens a stream, unless its caller has reached the limit of open and prepared streams.
    func open(_ head: HTTPStreamHead, _ stream: AdmittedStream, for call: Call) {
        guard let (identity, limit) = call.streamLimit else { return call.open(head, stream) }
        claim(stream: stream.id, of: identity, limit: limit) { decision in
            if case .accepted = decision { return call.open(head, stream) }
            stream.onEnd(.neverOpened)
            call.complete {
                guard case .refused = decision else {
                    return .response(try StreamOpener.closing("behind", .notInContact, call))
                }
                return .response(try StreamOpener.overLimit(limit, "for these credentials", call))
            }
        }
    }

    /// Claims a stream of this member, and calls back with the decision of the log. The stream counts until
    /// `releaseClaims`.
    func claim(
        stream id: String,
        of identity: String,
        limit: Int,
        _ done: @escaping @Sendable (QuotaDecision) -> Void
    ) {
        let demand = QuotaDemand(.stream(id, of: identity), limits: QuotaLimits(count: limit))
        let (missing, number) = reports.withLock { $0.claims.reserve([demand]) }
        let reservation = QuotaReservation([demand], in: self)
        guard !missing.isEmpty else {
            reservation.end()
            return done(.accepted)
        }
        claim(missing, number, reservation) { [self] decision in
            guard case .accepted = decision else { return done(decision) }
            let isUsed = reports.withLock { $0.claims.useUnlessEnded(demand.unit) }
            reservation.end()
            done(isUsed ? .accepted : .unknown)
        }
    }

    /// This member has taken over a prepared stream, which counts for its owner if it did before.
    func takeOver(_ unit: QuotaUnit) {
        let isInUse = state.withLock { $0.machine.ledger?.isInUse(unit, by: $0.machine.member) ?? false }
        if isInUse { changeClaims { $0.inherit(unit) } }
    }

    /// This member no longer has a stream.
    func releaseClaims(of stream: String) { changeClaims { $0.endUses(of: stream) } }

    /// This member cannot create a resource that it has inherited: frees the units that the log has moved to this member.
    func releaseInherited(_ units: [QuotaUnit]) { changeClaims { $0.releaseInherited(units) } }

    // MARK: - Subscriptions

    /// A caller uses a subscription with a number of items on this member; nil: the caller no longer uses it.
    func subscription(_ id: String, of identity: String, uses items: Int?) {
        let unit = QuotaUnit.subscription(id, of: identity)
        changeClaims { claims in items.map { claims.use(unit, size: $0) } ?? claims.endUse(unit) }
    }
}

extension Caller {
    /// The demand of a subscription; nil if the caller has no quotas.
    func demand(_ id: String, _ properties: SubscriptionProperties) -> QuotaDemand? {
        let limits = QuotaLimits(count: rights.maxSubscriptions, size: rights.maxItems)
        guard let identity, !limits.isUnlimited else { return nil }
        return QuotaDemand(
            .subscription(id, of: identity),
            size: SubscriptionUsage.items(of: properties),
            limits: limits
        )
    }
}

extension QuotaExcess {
    /// The error of a request that needs more, as without a cluster.
    fileprivate var error: any Error {
        switch unit.quota {
        case QuotaUnit.createdSubscriptions: PoolError.overQuota(.subscriptionResources(limit: limit))
        case QuotaUnit.dedicatedClients: PoolError.overQuota(.dedicatedClients(limit: limit))
        default: SubscriptionUsage.overQuota(isSize ? "items" : "subscriptions", limit)
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

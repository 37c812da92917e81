package import Changes
package import SessionCore
package import Synchronization

/// The sessions that a resource's subscription uses.
package enum SubscriptionHome: Sendable, Hashable {
    /// Pooled sessions of an upstream; equal subscriptions are shared.
    case pooled(SessionKey)
    /// The session of one dedicated client.
    case dedicated(ClientID)
}

/// The values of a resource at a moment.
package struct SubscriptionReading: Sendable {
    /// The values, by item, field and key, and when each item last changed.
    package let table: ValueTable
    /// Whether the values may be out of date, since the connection that brings them is interrupted.
    package let isStale: Bool
    /// The status that goes with the values.
    package let status: SubscriptionStatus
}

/// One subscription as REST shows it: its properties, state and values.
package final class SubscriptionResource: Sendable {
    private struct State {
        var properties: SubscriptionProperties
        var status = SubscriptionStatus()
        var carrier: SharedSubscription?
        var isDeleted = false
        /// The upstream subscription that it moves to, and what its readers have.
        var move: (target: SharedSubscription, table: ValueTable)?
        var lastUsed: Moment
        var ttl: Duration?
    }

    /// The id that REST shows.
    package let id: SubscriptionID
    /// The sessions that its subscription uses.
    package let home: SubscriptionHome
    /// Whether the resource was created for streams that name properties, not by a POST. It exists while it has
    /// readers.
    package let isImplicit: Bool
    /// Its place among all resources, in order of creation.
    let ordinal: UInt64
    /// Waiters for a status.
    package let watchers = Watchers<SubscriptionStatus>()
    /// Held by a request from the first look at the properties, or at their tag, to the end of its change.
    package let changes = Mutex(())

    /// The updates since the resource was made: each is also a version of the status.
    let updates = Atomic<UInt64>(0)
    /// Whether the resource moves to another upstream subscription.
    let isMoving = Atomic(false)
    private let state: RankedMutex<State>

    init(
        id: SubscriptionID,
        home: SubscriptionHome,
        isImplicit: Bool,
        ordinal: UInt64,
        version: UInt64 = 0,
        properties: SubscriptionProperties,
        now: Moment = .zero
    ) {
        self.id = id
        self.home = home
        self.isImplicit = isImplicit
        self.ordinal = ordinal
        var status = SubscriptionStatus()
        status.version = version
        state = RankedMutex(
            State(properties: properties, status: status, lastUsed: now),
            rank: .subscriptionResource
        )
    }

    /// How long it is kept unused; nil: as long as the configuration says.
    package var ttl: Duration? {
        get { state.withLock { $0.ttl } }
        set { state.withLock { $0.ttl = newValue } }
    }

    /// Records that a request or stream uses it.
    func touch(at now: Moment) { state.withLock { $0.lastUsed = max($0.lastUsed, now) } }

    /// The end of its life if it is not used from now on; `limit` is the configured time.
    func expiry(_ limit: Duration) -> Moment { state.withLock { $0.lastUsed + min($0.ttl ?? limit, limit) } }

    /// The properties as they are now.
    package var properties: SubscriptionProperties { state.withLock { $0.properties } }

    /// The status as it is now.
    package var status: SubscriptionStatus { counted(state.withLock { $0.status }) }

    private func counted(_ status: SubscriptionStatus) -> SubscriptionStatus {
        let updates = updates.load(ordering: .sequentiallyConsistent)
        var status = status
        status.version &+= updates
        status.updates &+= updates
        return status
    }

    /// The client that carries the resource now; nil while it is not active.
    package var client: PooledClient? { carrier?.client }

    /// Values and status, read together.
    package var reading: SubscriptionReading {
        let (carrier, present, properties) = state.withLock { ($0.carrier, $0.status, $0.properties) }
        // Before the values, which are then not older than the version.
        let status = counted(present)
        guard let carrier else {
            return SubscriptionReading(
                table: ValueTable(properties: properties),
                isStale: false,
                status: status
            )
        }
        return SubscriptionReading(
            table: carrier.subscription.valueTable ?? carrier.empty,
            isStale: !carrier.client.core.status.delivers,
            status: status
        )
    }

    var carrier: SharedSubscription? { state.withLock { $0.carrier } }

    func setProperties(_ properties: SubscriptionProperties) {
        state.withLock { state in
            if state.properties.items != properties.items || state.properties.fields != properties.fields {
                state.status.clearShape()
            }
            state.properties = properties
            state.status.version &+= 1
        }
    }

    /// Starts an activation; false if the resource is active already, or deleted.
    func startActivation() -> Bool {
        state.withLock { state in
            if state.status.isActive || state.isDeleted { return false }
            state.status.isActive = true
            state.status.lastError = nil
            state.status.version &+= 1
            return true
        }
    }

    func activationFailed() {
        state.withLock { $0.status.isActive = false }
    }

    func joined(_ carrier: SharedSubscription, _ table: ValueTable) {
        state.withLock { state in
            state.carrier = carrier
            state.status.joined(table)
        }
    }

    func left() {
        state.withLock { state in
            state.carrier = nil
            state.status.isActive = false
            state.status.clearSubscribed()
            state.status.version &+= 1
        }
    }

    /// Whether the resource is being deleted or was deleted.
    package var isDeleted: Bool { state.withLock { $0.isDeleted } }

    /// Marks the resource as deleted; false if it was already.
    func startDeletion() -> Bool {
        state.withLock { state in
            defer { state.isDeleted = true }
            return !state.isDeleted
        }
    }

    /// An event has occurred.
    func apply(_ event: SubscriptionEvent) {
        if case .update = event {
            updates.wrappingAdd(1, ordering: .sequentiallyConsistent)
            return applyToMove(event)
        }
        state.withLock { state in
            state.status.apply(event)
            state.move?.table.apply(event)
        }
    }

    // MARK: - Moving to another upstream subscription

    /// An event has occurred that changes only what the readers have.
    func applyToMove(_ event: SubscriptionEvent) {
        state.withLock { $0.move?.table.apply(event) }
    }

    /// The upstream subscription that it moves to; nil: it does not move.
    var moveTarget: SharedSubscription? { state.withLock { $0.move?.target } }

    /// What its readers have; nil if it does not move.
    var movingTable: ValueTable? { state.withLock { $0.move?.table } }

    /// Starts a move from a subscription with these values; its events are applied to them until the move ends.
    func startMove(to target: SharedSubscription, from table: ValueTable) {
        isMoving.store(true, ordering: .relaxed)
        state.withLock { $0.move = (target, table) }
    }

    /// Ends the move without an effect; returns its target.
    func cancelMove() -> SharedSubscription? {
        isMoving.store(false, ordering: .relaxed)
        return state.withLock { state in
            defer { state.move = nil }
            return state.move?.target
        }
    }

    /// Ends the move: another upstream subscription carries the resource. Its state stays as it is.
    func moved(to target: SharedSubscription) {
        isMoving.store(false, ordering: .relaxed)
        state.withLock { state in
            state.move = nil
            state.carrier = target
            state.status.version &+= 1
        }
    }

    func notifyWatchers() {
        if !watchers.isEmpty { watchers.notify(status) }
    }
}

extension ClientStatus {
    /// Whether updates can arrive in this status.
    fileprivate var delivers: Bool {
        switch self {
        case .connectedWSStreaming, .connectedHTTPStreaming, .connectedWSPolling, .connectedHTTPPolling: true
        case .connecting, .connectedStreamSensing, .stalled, .disconnectedWillRetry, .disconnectedTryingRecovery,
            .disconnected:
            false
        }
    }
}

package import Changes
package import Primitives
package import SessionCore
internal import Synchronization

/// The sessions that a resource's subscription uses.
package enum SubscriptionHome: Sendable, Hashable {
    /// Pooled sessions of an upstream; equal subscriptions are shared.
    case pooled(SessionKey)
    case dedicated(ClientID)
}

/// One subscription as REST shows it: its properties, state and values.
package final class SubscriptionResource: Sendable {
    package struct State: Sendable {
        package internal(set) var properties: SubscriptionProperties
        package internal(set) var status: SubscriptionStatus
        /// The upstream subscription that serves the resource; nil while it is not active.
        var carrier: SharedSubscription?
        var isDeleted = false
        var lastUsed: Moment
        var ttl: Duration?
        /// The move to another upstream subscription; nil: the resource does not move.
        var move: SubscriptionMove?

        /// The client that carries the subscription; nil while it is not active.
        package var client: PooledClient? { carrier?.client }

        /// The present values, by item, field and key, which are not older than the state.
        package var table: ValueTable { carrier?.table ?? ValueTable(properties: properties) }

        /// Whether the values may be out of date, since the connection that brings them is interrupted.
        package var isStale: Bool { carrier?.client.isDelivering.load(ordering: .sequentiallyConsistent) == false }

        /// How long the resource is kept unused; `limit` is the configured time.
        package func lifetime(_ limit: Duration) -> Duration {
            guard let ttl else { return limit }
            return min(ttl, limit)
        }
    }

    package let id: SubscriptionID
    package let home: SubscriptionHome
    /// Whether streams that name properties share the resource, which exists while it has readers.
    package let isImplicit: Bool
    /// The place among all resources, in order of creation.
    let ordinal: UInt64
    package let watchers = Watchers()
    /// Held by a request from the first look at the properties, or at their tag, to the end of its change.
    package let changes = RankedMutex((), rank: .resourceChange)

    /// The updates since the resource was made: each is also a version of the status.
    private let updates = Atomic<UInt64>(0)
    /// Whether the resource moves to another upstream subscription: asked for each event, without a lock.
    private let isMoving = Atomic(false)
    private let state: RankedMutex<State>

    init(
        id: SubscriptionID,
        home: SubscriptionHome,
        isImplicit: Bool,
        ordinal: UInt64,
        version: UInt64 = 0,
        properties: SubscriptionProperties,
        ttl: Duration? = nil,
        now: Moment = .zero
    ) {
        self.id = id
        self.home = home
        self.isImplicit = isImplicit
        self.ordinal = ordinal
        let status = SubscriptionStatus(version: version)
        state = RankedMutex(
            State(properties: properties, status: status, lastUsed: now, ttl: ttl),
            rank: .subscriptionResource
        )
    }

    /// How long the resource is kept unused; nil: as long as the configuration says.
    package var ttl: Duration? {
        get { state.withLock { $0.ttl } }
        set { state.withLock { $0.ttl = newValue } }
    }

    /// Takes over why the server last refused or removed the subscription in another process.
    package func takeOver(_ lastError: UpstreamRefusal?) { state.withLock { $0.status.lastError = lastError } }

    /// Records that a request or stream uses the resource.
    func touch(at now: Moment) { state.withLock { $0.lastUsed = max($0.lastUsed, now) } }

    /// All parts of the state, read together.
    package var present: State {
        var present = state.withLock { $0 }
        let updates = updates.load(ordering: .sequentiallyConsistent)
        present.status.version &+= updates
        present.status.updates &+= updates
        return present
    }

    package var properties: SubscriptionProperties { present.properties }

    package var status: SubscriptionStatus { present.status }

    /// The client that carries the resource now; nil while it is not active.
    package var client: PooledClient? { present.client }

    /// Why the server has refused the session of the dedicated client that carries the subscription, which waits for another
    /// one; nil: it has not.
    package var sessionRefusal: UpstreamRefusal? {
        guard case .dedicated = home else { return nil }
        return client?.situation.refusal
    }

    package var isStale: Bool { present.isStale }

    var carrier: SharedSubscription? { present.carrier }

    func setProperties(_ properties: SubscriptionProperties) {
        state.withLock { state in
            if state.properties.items != properties.items || state.properties.fields != properties.fields {
                state.status.clearShape()
            }
            state.properties = properties
            state.status.version &+= 1
        }
    }

    /// The resource joins an upstream subscription with these values; nil: none yet. Before the server confirms the subscription,
    /// counts and positions stay as they are.
    func joined(_ carrier: SharedSubscription, _ table: ValueTable?) {
        state.withLock { state in
            state.carrier = carrier
            state.status.version &+= 1
            state.status.isActive = true
            state.status.lastError = nil
            state.status.clearSubscribed()
            if let table { for event in table.firstEvents { state.status.apply(event) } }
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
    package var isDeleted: Bool { present.isDeleted }

    /// Marks the resource as deleted; false if it was already.
    func startDeletion() -> Bool {
        state.withLock { state in
            defer { state.isDeleted = true }
            return !state.isDeleted
        }
    }

    func apply(_ event: SubscriptionEvent) {
        if case .update = event {
            updates.wrappingAdd(1, ordering: .sequentiallyConsistent)
        } else {
            state.withLock { $0.status.apply(event) }
        }
        if isMoving.load(ordering: .relaxed) { applyToMove(event) }
    }

    // MARK: - Moves

    /// The upstream subscription that the resource moves to; nil: the resource does not move.
    var moveTarget: SharedSubscription? { state.withLock { $0.move?.target } }

    /// The values that the readers of the resource have; nil: the resource does not move.
    var movingTable: ValueTable? { state.withLock { $0.move?.table } }

    /// Starts a move from a subscription with these values; its events are applied to them until the end of the move. The
    /// former subscription delivers no event meanwhile.
    func startMove(to target: SharedSubscription, from table: ValueTable) {
        isMoving.store(true, ordering: .relaxed)
        state.withLock { $0.move = SubscriptionMove(target: target, table: table) }
    }

    /// Applies an event of the former subscription to the values of the readers.
    private func applyToMove(_ event: SubscriptionEvent) { state.withLock { $0.move?.table.apply(event) } }

    /// Ends the move; returns its target, nil if the resource did not move.
    func endMove() -> SharedSubscription? {
        isMoving.store(false, ordering: .relaxed)
        return state.withLock { $0.move.take()?.target }
    }

    /// Ends the move: its target carries the resource; nil: none does. False if the resource is deleted: its deletion ends the move.
    /// Values and status stay as they are.
    func moved(to target: SharedSubscription?) -> Bool {
        state.withLock { state in
            if state.isDeleted { return false }
            isMoving.store(false, ordering: .relaxed)
            state.move = nil
            state.carrier = target
            state.status.version &+= 1
            return true
        }
    }
}

package struct SubscriptionStatus: Sendable, Equatable {
    /// Between subscribe and unsubscribe, refusal or removal.
    package var isActive = false
    /// Between the server's confirmation and the end of the session or subscription.
    package var isSubscribed = false
    /// Why the server last refused or removed the subscription.
    package var lastError: UpstreamRefusal?
    /// The number of items; nil before the first confirmation of these items and fields.
    package var itemCount: Int?
    /// The number of first-level fields; nil before the first confirmation of these items and fields.
    package var fieldCount: Int?
    /// The position of the key field; nil before the first confirmation and in other modes than COMMAND.
    package var keyPosition: Int?
    /// The position of the command field; nil before the first confirmation and in other modes than COMMAND.
    package var commandPosition: Int?
    /// The frequency in force; nil while unknown.
    package var realMaxFrequency: RealMaxFrequency?
    /// Counts every event of the resource: equal versions mean equal values.
    package var version: UInt64 = 0
    /// The updates received since the resource was made.
    package var updates: UInt64 = 0
    /// The updates that the server reported as lost since then.
    package var lostUpdates: UInt64 = 0
    /// How often the resource became subscribed since then.
    package var confirmations: UInt64 = 0

    /// Resets what only a subscribed resource has. Counts and positions stay readable.
    mutating func clearSubscribed() {
        isSubscribed = false
        realMaxFrequency = nil
    }

    /// Resets counts and positions: those of other items and fields are not known yet.
    mutating func clearShape() {
        itemCount = nil
        fieldCount = nil
        keyPosition = nil
        commandPosition = nil
    }

    /// Applies an event other than an update: the resource counts the updates.
    mutating func apply(_ event: SubscriptionEvent) {
        version &+= 1
        switch event {
        case .subscribed(let items, let fields, let key, let command):
            // A resource that joined between the confirmation and this event has counted the confirmation.
            if !isSubscribed { confirmations &+= 1 }
            isSubscribed = true
            lastError = nil
            itemCount = items
            fieldCount = fields
            keyPosition = key
            commandPosition = command
        case .unsubscribed(let isFinal):
            clearSubscribed()
            if isFinal { isActive = false }
        case .failed:
            clearSubscribed()
            isActive = false
            lastError = UpstreamRefusal(event)
        case .lostUpdates(let count, _), .secondLevelLostUpdates(let count, _):
            lostUpdates &+= UInt64(max(0, count))
        case .realMaxFrequency(let frequency): realMaxFrequency = frequency
        case .update, .endOfSnapshot, .clearSnapshot, .secondLevelFailed: break
        }
    }
}

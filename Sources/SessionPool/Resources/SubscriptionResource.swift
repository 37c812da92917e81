package import SessionCore
internal import Synchronization

/// Where a resource's upstream subscription comes from.
package enum SubscriptionHome: Sendable, Hashable {
    /// From the pool's sessions of an upstream; equal ones are shared.
    case pooled(SessionKey)
    /// From one dedicated client.
    case dedicated(ClientID)
}

/// The values of a resource at a moment.
package struct SubscriptionReading: Sendable {
    /// The values, by item, field and key, and when each item last changed.
    package let table: ValueTable
    /// Whether the values may be out of date, since the connection that brings them is interrupted.
    package let isStale: Bool
    /// The state that goes with the values.
    package let state: SubscriptionState
}

/// One subscription as REST shows it: its properties, state and values.
package final class SubscriptionResource: Sendable {
    private struct Body {
        var properties: SubscriptionProperties
        var state = SubscriptionState()
        var carrier: SharedSubscription?
        var isDeleted = false
    }

    /// The id that REST shows.
    package let id: ResourceID
    /// Where the data come from.
    package let home: SubscriptionHome
    /// Made by streams that name properties, not by a POST: it lives as long as somebody reads it.
    package let isImplicit: Bool
    /// Its place among all resources, by the time of their making.
    let ordinal: UInt64
    /// Those who wait for a state.
    package let watchers = Watchers<SubscriptionState>()

    private let body: Mutex<Body>

    init(
        id: ResourceID,
        home: SubscriptionHome,
        isImplicit: Bool,
        ordinal: UInt64,
        properties: SubscriptionProperties
    ) {
        self.id = id
        self.home = home
        self.isImplicit = isImplicit
        self.ordinal = ordinal
        body = Mutex(Body(properties: properties))
    }

    /// The properties as they are now.
    package var properties: SubscriptionProperties { body.withLock { $0.properties } }

    /// The state as it is now.
    package var state: SubscriptionState { body.withLock { $0.state } }

    /// The client that carries the resource now; nil while it is not active.
    package var client: PooledClient? { carrier?.client }

    /// Properties, values and state, taken together.
    package var reading: SubscriptionReading {
        let (carrier, state, properties) = body.withLock { ($0.carrier, $0.state, $0.properties) }
        guard let carrier else {
            return SubscriptionReading(
                table: ValueTable(properties: properties),
                isStale: false,
                state: state
            )
        }
        return SubscriptionReading(
            table: carrier.table,
            isStale: !carrier.client.core.status.delivers,
            state: state
        )
    }

    var carrier: SharedSubscription? { body.withLock { $0.carrier } }

    func setProperties(_ properties: SubscriptionProperties) {
        body.withLock { body in
            body.properties = properties
            body.state.version &+= 1
        }
    }

    /// Claims the resource for an activation; false if it is active already, or deleted.
    func startActivation() -> Bool {
        body.withLock { body in
            if body.state.isActive || body.isDeleted { return false }
            body.state.isActive = true
            body.state.lastError = nil
            body.state.version &+= 1
            return true
        }
    }

    func activationFailed() {
        body.withLock { $0.state.isActive = false }
    }

    func joined(_ carrier: SharedSubscription, state: SubscriptionState) {
        body.withLock { body in
            body.carrier = carrier
            let version = body.state.version
            let counters = body.state.counters
            body.state = state
            body.state.isActive = true
            body.state.version = version &+ 1
            body.state.counters = counters
        }
    }

    func left() {
        body.withLock { body in
            body.carrier = nil
            body.state.isActive = false
            body.state.clearSubscribed()
            body.state.version &+= 1
        }
    }

    /// Whether the resource is going or gone.
    package var isDeleted: Bool { body.withLock { $0.isDeleted } }

    /// Marks the resource as going; false if it was already.
    func startDeletion() -> Bool {
        body.withLock { body in
            defer { body.isDeleted = true }
            return !body.isDeleted
        }
    }

    func apply(_ event: SubscriptionEvent) {
        body.withLock { $0.state.apply(event) }
    }

    func notifyWatchers() {
        if !watchers.isEmpty { watchers.notify(state) }
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

internal import LightstreamerClient
internal import Primitives

/// Counts the work of clients by upstream, including deleted clients: the counters never decrease.
package final class UpstreamMetrics: Sendable {
    package struct UpstreamCounters: Sendable {
        package fileprivate(set) var sessions: UInt64 = 0
        package fileprivate(set) var reconnects: UInt64 = 0
        package fileprivate(set) var updates: UInt64 = 0
        package fileprivate(set) var messages: UInt64 = 0

        fileprivate mutating func add(_ counters: ClientCounters) {
            sessions &+= counters.sessions
            reconnects &+= counters.reconnects
            updates &+= counters.updates
            messages &+= counters.messages
        }
    }

    package struct ErrorKey: Hashable, Sendable {
        package let upstream: String
        /// The code; `other` after too many different ones.
        package let code: String
    }

    private struct State {
        /// By their identities: a client may be created again under its id before its former session has ended.
        var clients: [ObjectIdentifier: PooledClient] = [:]
        var past: [String: UpstreamCounters] = [:]
        var connectionFailures: [ErrorKey: UInt64] = [:]
        var serverErrors: [ErrorKey: UInt64] = [:]
        var subscriptionErrors: [ErrorKey: UInt64] = [:]
    }

    /// The name for clients that were made for an address.
    static let unnamed = "(address)"
    /// The most different codes that are counted separately; servers may have codes of their own.
    private static let maxCodes = 200

    private let state = RankedMutex(State())

    init() {}

    func added(_ client: PooledClient) { state.withLock { $0.clients[ObjectIdentifier(client)] = client } }

    /// Removes a client and keeps its counts.
    func removed(_ client: PooledClient) {
        let counters = client.counters
        state.withLock { state in
            guard state.clients.removeValue(forKey: ObjectIdentifier(client)) != nil else { return }
            state.past[Self.name(of: client), default: UpstreamCounters()].add(counters)
        }
    }

    /// Counts an attempt to connect that failed, or a connection that was lost.
    func connectionFailed(_ kind: FailureKind, on client: PooledClient) {
        let key = ErrorKey(upstream: Self.name(of: client), code: kind.rawValue)
        state.withLock { $0.connectionFailures[key, default: 0] &+= 1 }
    }

    /// The failures of connections; the code of a key is the kind of the failure.
    package var connectionFailures: [ErrorKey: UInt64] { state.withLock { $0.connectionFailures } }

    /// Counts a session that the server refused or closed.
    func serverError(_ code: Int, on client: PooledClient) {
        state.withLock { Self.count(code, Self.name(of: client), in: &$0.serverErrors) }
    }

    /// Counts a subscription that the server refused.
    func subscriptionError(_ code: Int, on client: PooledClient) {
        state.withLock { Self.count(code, Self.name(of: client), in: &$0.subscriptionErrors) }
    }

    package var totals: [(upstream: String, counters: UpstreamCounters)] {
        let (clients, past) = state.withLock { (Array($0.clients.values), $0.past) }
        var totals = past
        for client in clients {
            totals[Self.name(of: client), default: UpstreamCounters()].add(client.counters)
        }
        return totals.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    package var errors: (sessions: [ErrorKey: UInt64], subscriptions: [ErrorKey: UInt64]) {
        state.withLock { ($0.serverErrors, $0.subscriptionErrors) }
    }

    package static func name(of client: PooledClient) -> String { client.upstream ?? unnamed }

    private static func count(_ code: Int, _ upstream: String, in errors: inout [ErrorKey: UInt64]) {
        var key = ErrorKey(upstream: upstream, code: "\(code)")
        if errors[key] == nil, errors.count >= maxCodes { key = ErrorKey(upstream: upstream, code: "other") }
        errors[key, default: 0] &+= 1
    }
}

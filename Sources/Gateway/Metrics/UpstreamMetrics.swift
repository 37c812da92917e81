internal import SessionCore
internal import SessionPool
internal import Synchronization

/// Counts what clients did, beyond the end of each: figures of an upstream never go back.
final class UpstreamMetrics: Sendable {
    /// The figures of one upstream.
    struct UpstreamCounters: Sendable {
        var sessions: UInt64 = 0
        var reconnects: UInt64 = 0
        var updates: UInt64 = 0
        var messages: UInt64 = 0

        fileprivate mutating func add(_ counters: ClientCounters) {
            sessions &+= counters.sessions
            reconnects &+= counters.reconnects
            updates &+= counters.updates
            messages &+= counters.messages
        }
    }

    /// An error code that some upstream gave.
    struct ErrorKey: Hashable, Sendable {
        /// The upstream.
        let upstream: String
        /// The code; `other` once too many different ones were seen.
        let code: String
    }

    private struct State {
        var clients: [ClientID: PooledClient] = [:]
        var past: [String: UpstreamCounters] = [:]
        var serverErrors: [ErrorKey: UInt64] = [:]
        var subscriptionErrors: [ErrorKey: UInt64] = [:]
    }

    /// What stands for the name of an upstream where a client was made for an address.
    static let unnamed = "(address)"
    /// Servers may give codes of their own; so many are told apart.
    private static let maxCodes = 200

    private let state = Mutex(State())

    /// Nothing counted yet.
    init() {}

    /// A client exists.
    func added(_ client: PooledClient) { state.withLock { $0.clients[client.id] = client } }

    /// A client is gone.
    func removed(_ id: ClientID) {
        state.withLock { state in
            guard let client = state.clients.removeValue(forKey: id) else { return }
            state.past[Self.name(of: client), default: UpstreamCounters()].add(client.counters)
        }
    }

    /// The server refused or closed the session of a client.
    func serverError(_ code: Int, on id: ClientID) {
        state.withLock { state in
            let upstream = state.clients[id].map(Self.name) ?? Self.unnamed
            Self.count(code, upstream, in: &state.serverErrors)
        }
    }

    /// Something happened to a subscription; refusals are counted.
    func happened(_ event: SubscriptionEvent, on id: ClientID) {
        guard case .failed(let code, _) = event else { return }
        state.withLock { state in
            let upstream = state.clients[id].map(Self.name) ?? Self.unnamed
            Self.count(code, upstream, in: &state.subscriptionErrors)
        }
    }

    /// The figures by upstream, sorted by its name.
    var upstreamMetrics: [(upstream: String, tally: UpstreamCounters)] {
        let (clients, past) = state.withLock { (Array($0.clients.values), $0.past) }
        var upstreamMetrics = past
        for client in clients {
            upstreamMetrics[Self.name(of: client), default: UpstreamCounters()].add(client.counters)
        }
        return upstreamMetrics.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// The errors of sessions and those of subscriptions.
    var errors: (sessions: [ErrorKey: UInt64], subscriptions: [ErrorKey: UInt64]) {
        state.withLock { ($0.serverErrors, $0.subscriptionErrors) }
    }

    /// The upstream of a client.
    static func name(of client: PooledClient) -> String { client.upstream ?? unnamed }

    private static func count(_ code: Int, _ upstream: String, in errors: inout [ErrorKey: UInt64]) {
        var key = ErrorKey(upstream: upstream, code: "\(code)")
        if errors[key] == nil, errors.count >= maxCodes { key = ErrorKey(upstream: upstream, code: "other") }
        errors[key, default: 0] &+= 1
    }
}

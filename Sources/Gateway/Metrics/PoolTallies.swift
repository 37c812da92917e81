internal import SessionCore
internal import SessionPool
internal import Synchronization

/// Counts what clients did, beyond the end of each: figures of an upstream never go back.
final class PoolTallies: Sendable {
    /// The figures of one upstream.
    struct Tally: Sendable {
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

    private struct Body {
        var clients: [ClientID: PooledClient] = [:]
        var past: [String: Tally] = [:]
        var serverErrors: [ErrorKey: UInt64] = [:]
        var subscriptionErrors: [ErrorKey: UInt64] = [:]
    }

    /// What stands for the name of an upstream where a client was made for an address.
    static let unnamed = "(address)"
    /// Servers may give codes of their own; so many are told apart.
    private static let maxCodes = 200

    private let body = Mutex(Body())

    /// Nothing counted yet.
    init() {}

    /// A client exists.
    func added(_ client: PooledClient) { body.withLock { $0.clients[client.id] = client } }

    /// A client is gone.
    func removed(_ id: ClientID) {
        body.withLock { body in
            guard let client = body.clients.removeValue(forKey: id) else { return }
            body.past[Self.name(of: client), default: Tally()].add(client.counters)
        }
    }

    /// The server refused or closed the session of a client.
    func serverError(_ code: Int, on id: ClientID) {
        body.withLock { body in
            let upstream = body.clients[id].map(Self.name) ?? Self.unnamed
            Self.count(code, upstream, in: &body.serverErrors)
        }
    }

    /// Something happened to a subscription; refusals are counted.
    func happened(_ event: SubscriptionEvent, on id: ClientID) {
        guard case .failed(let code, _) = event else { return }
        body.withLock { body in
            let upstream = body.clients[id].map(Self.name) ?? Self.unnamed
            Self.count(code, upstream, in: &body.subscriptionErrors)
        }
    }

    /// The figures by upstream, sorted by its name.
    var tallies: [(upstream: String, tally: Tally)] {
        let (clients, past) = body.withLock { (Array($0.clients.values), $0.past) }
        var tallies = past
        for client in clients { tallies[Self.name(of: client), default: Tally()].add(client.counters) }
        return tallies.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// The errors of sessions and those of subscriptions.
    var errors: (sessions: [ErrorKey: UInt64], subscriptions: [ErrorKey: UInt64]) {
        body.withLock { ($0.serverErrors, $0.subscriptionErrors) }
    }

    /// The upstream of a client.
    static func name(of client: PooledClient) -> String { client.upstream ?? unnamed }

    private static func count(_ code: Int, _ upstream: String, in errors: inout [ErrorKey: UInt64]) {
        var key = ErrorKey(upstream: upstream, code: "\(code)")
        if errors[key] == nil, errors.count >= maxCodes { key = ErrorKey(upstream: upstream, code: "other") }
        errors[key, default: 0] &+= 1
    }
}

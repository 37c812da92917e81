internal import Primitives

extension ConnectionOptions {
    /// The behavior of `connect()` when `maxConcurrentSessionsPerServer` is reached.
    public enum SessionLimitPolicy: String, Sendable, Hashable, CaseIterable {
        /// Nothing.
        case none = "NONE"
        /// Connects with HTTP polling, `idleTimeout` 0 and a `pollingInterval` of at least 1 s.
        case usePolling = "USE-POLLING"
        /// Throws.
        case block = "BLOCK"
    }

    /// The highest value that `maxConcurrentSessionsPerServer` can take.
    public static let maxConcurrentSessionsPerServerCeiling = 6

    /// How many HTTP streaming sessions the clients of this process may have open to one host and port; read by
    /// `connect()` only, never notified. Default 3; values are clipped to 0…6.
    public static var maxConcurrentSessionsPerServer: Int {
        get { SessionCensus.shared.limit }
        set { SessionCensus.shared.limit = newValue }
    }

    /// The behavior of `connect()` once the limit is reached; read by `connect()` only, never notified. Default `NONE`.
    public static var maxConcurrentSessionsPerServerExceededPolicy: SessionLimitPolicy {
        get { SessionCensus.shared.policy }
        set { SessionCensus.shared.policy = newValue }
    }
}

/// The HTTP streaming sessions that are open in this process, by host and port, and their limit.
final class SessionCensus: Sendable {
    static let shared = SessionCensus()

    private struct State {
        var limit = 3
        var policy = ConnectionOptions.SessionLimitPolicy.none
        var servers: [ObjectIdentifier: String] = [:]
    }

    private let state = RankedMutex(State())

    var limit: Int {
        get { state.withLock { $0.limit } }
        set {
            state.withLock { $0.limit = min(max(newValue, 0), ConnectionOptions.maxConcurrentSessionsPerServerCeiling) }
        }
    }

    var policy: ConnectionOptions.SessionLimitPolicy {
        get { state.withLock { $0.policy } }
        set { state.withLock { $0.policy = newValue } }
    }

    /// The policy to apply to a new session of a client if the limit for a server is reached; nil if it is not. The former
    /// session of the client does not count: it ends before the new one begins.
    func policyIfExceeded(server: String, client: ObjectIdentifier) -> ConnectionOptions.SessionLimitPolicy? {
        state.withLock { state in
            guard state.policy != .none else { return nil }
            let count = state.servers.count { $0.key != client && $0.value == server }
            return count >= state.limit ? state.policy : nil
        }
    }

    /// The session of a client streams over HTTP from now on.
    func opened(server: String, client: ObjectIdentifier) { state.withLock { $0.servers[client] = server } }

    /// The session of a client no longer streams over HTTP.
    func closed(client: ObjectIdentifier) { state.withLock { $0.servers[client] = nil } }
}

extension ServerAddress {
    /// The key of the server in the count of sessions.
    var censusKey: String { "\(host.lowercased()):\(effectivePort)" }
}

internal import Changes
internal import LightstreamerClient
internal import SessionCore

extension SessionPool {
    /// The pooled client that sends messages with these credentials: the oldest open one, else a new one. A client
    /// without subscriptions is kept for the session linger, and for `time` at least. If the server has refused these credentials
    /// a short time ago, the client does not connect, and ends at the next tick of the pool: its messages are aborted.
    package func messenger(_ session: SessionKey, for time: Duration) throws(PoolError) -> PooledClient {
        let now = clock()
        let end = now + max(time, configuration.sessionLinger)
        let (client, isNew) = try state.withLock { state throws(PoolError) in
            if state.isStopping { throw .stopping }
            let fresh = state.nextClient
            let (id, actions) = try state.machine.messenger(session, freshClient: fresh, until: end)
            if let present = state.clients[id] { return (present, false) }
            do throws(PoolError) {
                guard !actions.isEmpty else { throw .unknownClient(id.rawValue) }
                return (try addPooledClient(id, session, to: &state), true)
            } catch {
                state.machine.clientRemoved(id)
                throw error
            }
        }
        if isNew {
            start(client)
            if let refusal = recentRefusal(of: client) {
                state.withLock { $0.refusedMessengers.append((client, refusal)) }
            } else {
                try connect(client)
            }
        }
        return client
    }
}

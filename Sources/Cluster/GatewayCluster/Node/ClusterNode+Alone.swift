internal import Gateway
internal import Logging
internal import Primitives
internal import Replication

/// The connections of a member: to the engine, and, while that is away, to a log of its own. See the decision record
/// *ServingAlone*.
extension ClusterNode {
    /// The number of connections to `localEngine`.
    private static let localNumber = -1

    /// Whether this member serves its own readers alone, because the engine is away.
    var isAlone: Bool { state.withLock { $0.machine.isLocal } }

    /// Whether this member serves resources, which belong to the whole cluster.
    var servesResources: Bool { isServing && !isAlone }

    /// A member that serves its readers alone continues to do so until the log of the engine can be read.
    func check(_ connection: any EngineConnection) async throws {
        guard isAlone else { return }
        do {
            _ = try await connection.inspectLog()
        } catch {
            connection.close()
            throw error
        }
    }

    /// Uses a connection from now on.
    func connected(
        _ connection: any EngineConnection,
        _ number: Int,
        _ isOver: StopSignal,
        at now: Moment
    ) -> [MemberAction] {
        let isLocal = number == Self.localNumber
        let actions: [MemberAction]? = state.withLock { state in
            guard !isLocal || state.machine.isDetached else { return nil }
            state.isOver?.set()
            state.machine.disconnected()
            (state.connection, state.number, state.isOver) = (connection, number, isOver)
            return state.machine.connected(isLocal: isLocal, at: now)
        }
        if isLocal, actions != nil { streams?.closeStreamsOfResources() }
        return actions ?? []
    }

    /// Connects to the log of this process alone once there was no contact to a log for `patience`.
    func serveAloneIfDetached(at now: Moment) {
        guard configuration.onEngineLoss == .local else { return }
        let isDue = state.withLock { state in
            let isConnecting = state.machine.isLocal && state.connection != nil
            guard state.machine.isDetached, !isConnecting else {
                state.detachedSince = nil
                return false
            }
            guard let since = state.detachedSince else {
                state.detachedSince = now
                return false
            }
            guard now - since >= configuration.patience else { return false }
            state.detachedSince = now
            return true
        }
        guard isDue else { return }
        logger.warning("the cluster's engine is away: this member serves its own readers alone")
        addJob { [localEngine] in
            let connection = try? await localEngine.connect { [weak self] input in
                self?.offer(.engine(input, Self.localNumber))
            }
            if let connection { self.offer(.connected(connection, Self.localNumber, isOver: StopSignal())) }
        }
    }
}

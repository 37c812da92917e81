internal import EventHub
internal import Logging
internal import Replication
internal import SessionCore
internal import SessionPool

/// Performs the actions that `MemberMachine` decides.
extension ClusterNode {
    func perform(_ actions: [MemberAction]) {
        for action in actions {
            switch action {
            case .append(let frame): state.withLock { $0.connection }?.append(frame)
            case .fetch(let range): start { try await $0.fetch(range) }
            case .reconnect:
                logger.warning("the cluster's engine does not respond")
                disconnected()
            case .inspectLog: inspect()
            case .broadcast(let heartbeat): state.withLock { $0.connection }?.broadcast(reporting(heartbeat).bytes)
            case .requestState: requestState()
            case .apply(let changes, let position): applier.withLock { $0.apply(changes, at: position) }
            case .restart(let epoch, let position, let kept, let snapshot):
                logger.notice("entered an epoch of the cluster", metadata: ["position": "\(position)"])
                applier.withLock { $0.restart(epoch: epoch, at: position, keeping: kept, loading: snapshot) }
            case .inherit(let id, let specification): inherit(id, specification)
            case .surrender(let id): surrender(id)
            case .openOutbox:
                outbox.withLock { $0.open() }
                applier.withLock { $0.pool }?.reportAgain()
                outbox.withLock { $0.specifyAgain() }
                streams.withLock { $0 }?.declareAgain()
                declareClaims()
            case .closeOutbox:
                outbox.withLock { $0.close() }
                voidRequests()
            case .report(let subject, let outcome): decided(subject, outcome)
            case .inheritStream(let id, let specification): streams.withLock { $0 }?.inherit(id, specification)
            case .surrenderStream(let id): streams.withLock { $0 }?.surrender(id)
            case .carry(let id, let key, let tenure): carry(id, key, tenure: tenure)
            case .reactivate(let id):
                if let error = applier.withLock({ $0.reactivate(id) }) { failed(id, error) }
            case .adopt(let session): adopt(session)
            case .drop(let id):
                outbox.withLock { $0.end(id) }
                applier.withLock { $0.drop(id) }
            case .dropAll: dropAll()
            case .reportOtherConfiguration(let info):
                logger.warning(
                    "a member of the cluster has other upstreams or access rules",
                    metadata: ["member": "\(info.name)", "version": "\(info.version)"]
                )
            case .left: hasLeft.set()
            }
        }
    }

    func carry(_ id: String, _ key: SharedTopicKey, tenure: UInt64) {
        outbox.withLock { $0.begin(id, tenure: tenure) }
        let group = self.group(of: id, key)
        if let error = applier.withLock({ $0.carry(id, key, group: group) }) { failed(id, error) }
    }

    /// The upstream subscription cannot be opened: streams receive the event of a refused subscription.
    private func failed(_ id: String, _ error: PoolError) {
        logger.warning("cannot open a shared subscription", metadata: ["error": "\(error)"])
        let failure = SubscriptionEvent.failed(code: ClusterApplier.failureCode, message: "\(error)")
        take(.event(.subscription(failure), .subscription(id)))
    }

    private func start(_ fetch: @escaping @Sendable (any EngineConnection) async throws -> [StoredFrame]) {
        guard let (connection, number) = current else { return }
        addJob { [weak self] in
            let frames = try? await fetch(connection)
            self?.offer(.fetched(frames, number))
        }
    }

    private func inspect() {
        guard let (connection, number) = current else { return }
        addJob { [weak self] in
            if let generation = try? await connection.inspectLog() {
                self?.offer(.logInspected(generation, number))
            } else {
                // Without a result the state of the log is unknown: a new connection reads it again.
                connection.close()
            }
        }
    }

    private func requestState() {
        guard let (connection, _) = current else { return }
        addJob { [weak self] in
            guard let bytes = try? await connection.requestFromGroup([], within: .milliseconds(450)) else { return }
            self?.offer(.state(bytes))
        }
    }

    private var current: (any EngineConnection, Int)? {
        state.withLock { state in state.connection.map { ($0, state.number) } }
    }
}

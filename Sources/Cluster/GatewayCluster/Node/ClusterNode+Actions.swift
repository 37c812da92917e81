internal import Changes
internal import EventHub
internal import Gateway
internal import Logging
internal import Primitives
internal import Replication
internal import SessionCore
internal import SessionPool

/// Performs the actions that `MemberMachine` decides.
extension ClusterNode {
    /// How long a joining member waits for the state: until shortly before its next request.
    private static let stateTimeout = Duration.milliseconds(450)

    func perform(_ actions: [MemberAction]) {
        for action in actions {
            switch action {
            case .append(let frame): state.withLock { $0.connection }?.append(frame)
            case .fetch(let range): start { try await $0.fetch(range) }
            case .reconnect: reconnect()
            case .inspectLog: inspect()
            case .broadcast(let heartbeat): state.withLock { $0.connection }?.broadcast(reporting(heartbeat).bytes)
            case .requestState(let formats): requestState(in: formats)
            case .apply(let changes, let position): applier.withLock { $0.apply(changes, at: position) }
            case .beginWindows(let ledger): applier.withLock { $0.beginWindows(from: ledger) }
            case .extendWindows(let changes, let position): extendWindows(changes, at: position)
            case .restart(let epoch, let position, let kept, let snapshot, let withWindows):
                restart(epoch, position, kept, snapshot, withWindows: withWindows)
            case .inherit(let id, let specification): inherit(id, specification)
            case .surrender(let id): surrender(id)
            case .openOutbox: reportAll()
            case .closeOutbox(let uncertain): stopReporting(uncertain: uncertain)
            case .written(let records): written(records)
            case .credit(let upstream, let given): credit(upstream, given)
            case .yieldCredits(let upstream, let claim): yieldCredits(upstream, claim: claim)
            case .forfeitCredits: forfeitCredits()
            case .report(let subject, let outcome): decided(subject, outcome)
            case .inheritStream(let id, let specification): streams?.inherit(id, specification)
            case .surrenderStream(let id): streams?.surrender(id)
            case .closeTicketStream(let key): closeTicketStream(key)
            case .closeTickets(let gone): closeTickets(of: gone)
            case .carry(let id, let key, let tenure): carry(id, key, tenure: tenure)
            case .reactivate(let id): reactivate(id)
            case .adopt(let session): adopt(session)
            case .drop(let id): drop(id)
            case .dropAll: dropAll()
            case .reportOtherConfiguration(let info): warn(about: info)
            case .reportRefusal(let own, let members): refused(own, by: members)
            case .reportOtherFormats(let formats): warn(about: formats)
            case .reportDivergence(let divergence): report(divergence)
            case .left: hasLeft.set()
            }
        }
    }

    private func report(_ divergence: LogDivergence) {
        logger.error(
            "the engine has shown different logs: all streams begin again",
            metadata: [
                "position": "\(divergence.position)",
                "digest": "\(String(divergence.own, radix: 16))",
                "other-digest": "\(String(divergence.other, radix: 16))",
                "other-member": "\(divergence.member.map { String($0, radix: 16) } ?? "-")",
            ]
        )
    }

    private func refused(_ own: Formats, by members: Formats) {
        logger.error(
            "this process cannot join the cluster: its members use other formats between them. Upgrade them through a version that has formats in common with both",
            metadata: ["formats": "\(own)", "members-formats": "\(members)"]
        )
    }

    private func warn(about formats: Formats) {
        logger.warning(
            "a process cannot join the cluster: it uses other formats between members",
            metadata: ["formats": "\(formats)"]
        )
    }

    private func reconnect() {
        logger.warning("the cluster's engine does not respond")
        disconnected()
    }

    private func extendWindows(_ changes: [Change], at position: UInt64) {
        let now = clock()
        applier.withLock { $0.extendWindows(changes, at: position, now: now) }
    }

    private func restart(
        _ epoch: UInt64,
        _ position: UInt64,
        _ kept: Set<String>,
        _ snapshot: ClusterSnapshot?,
        withWindows: Bool
    ) {
        let first = withWindows ? snapshot?.earlier?.ledger.position : nil
        logger.notice(
            "entered an epoch of the cluster",
            metadata: ["position": "\(position)", "windowsAfter": "\(first ?? position)"]
        )
        let isDegraded = isAlone
        applier.withLock { applier in
            applier.restart(
                epoch: epoch,
                at: position,
                keeping: kept,
                loading: snapshot,
                withWindows: withWindows,
                isDegraded: isDegraded
            )
        }
    }

    private func warn(about info: MemberInfo) {
        logger.warning(
            "a member of the cluster has other upstreams or access rules",
            metadata: ["member": "\(info.name)", "version": "\(info.version)"]
        )
    }

    // MARK: - Reports

    /// This member has joined: it reports all that it has.
    private func reportAll() {
        reports.withLock { $0.outbox.open() }
        applier.withLock { $0.pool }?.reportAgain()
        reports.withLock { $0.outbox.specifyAgain() }
        streams?.declareAgain()
        declareClaims()
        declareCredits()
    }

    private func stopReporting(uncertain: UInt64) {
        let due = reports.withLock { reports in
            reports.outbox.close()
            let records = reports.outbox.recordsAppended
            return reports.waiters.discarded(records, uncertain: uncertain) + reports.waiters.removeUndecided()
        }
        for action in due { action() }
    }

    // MARK: - Upstream subscriptions

    private func reactivate(_ id: String) {
        guard let tenure = reports.withLock({ $0.outbox.tenure(of: id) }) else { return }
        open(id, tenure: tenure) { $0.reactivate(id) }
    }

    private func drop(_ id: String) {
        reports.withLock { $0.outbox.end(id) }
        applier.withLock { $0.drop(id) }
    }

    func carry(_ id: String, _ key: SharedTopicKey, tenure: UInt64) {
        reports.withLock { $0.outbox.begin(id, tenure: tenure) }
        let group = self.group(of: id, key)
        open(id, tenure: tenure) { $0.carry(id, key, group: group) }
    }

    /// The upstream subscription cannot be opened: streams receive the event of a refused subscription.
    func failed(_ id: String, _ error: PoolError) {
        logger.warning("cannot open a shared subscription", metadata: ["error": "\(error)"])
        let failure = SubscriptionEvent.failed(code: ClusterApplier.failureCode, message: "\(error)")
        take(.subscription(SubscriptionID(id), .event(failure)))
    }

    // MARK: - Requests to the engine

    private func start(_ fetch: @escaping @Sendable (any EngineConnection) async throws -> [StoredFrame]) {
        guard let (connection, number) = current else { return }
        addJob { [weak self] in
            let result: Result<[StoredFrame], any Error>
            do { result = .success(try await fetch(connection)) } catch { result = .failure(error) }
            self?.offer(.fetched(result, number))
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

    private func requestState(in formats: Formats) {
        guard let (connection, _) = current else { return }
        addJob { [weak self] in
            guard let bytes = try? await connection.requestFromGroup(formats.bytes, within: Self.stateTimeout) else {
                return
            }
            self?.offer(.state(bytes))
        }
    }

    private var current: (any EngineConnection, Int)? {
        state.withLock { state in state.connection.map { ($0, state.number) } }
    }
}

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

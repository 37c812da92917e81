internal import Gateway
internal import Logging
internal import Primitives
internal import Replication

/// A connection of a member to a log.
struct EngineLink: Sendable {
    let connection: any EngineConnection
    /// The number of the connection; inputs of earlier connections are ignored.
    let number: Int
    /// Set when the connection is closed, or of no more use.
    let isOver: StopSignal
}

/// Limits the time that a member spends on states for joining members to half of its time. A request beyond the limit has no
/// reply: the joining member repeats it, and other members may reply.
struct StatePace: Sendable {
    /// The time that may be spent at once.
    private static let burst = Duration.milliseconds(250)

    /// The time that was spent, less half of the time since then.
    private var debt = Duration.zero
    private var checkedAt = Moment.zero

    /// Whether a request may be replied to.
    mutating func admits(at now: Moment) -> Bool {
        debt = max(.zero, debt - (now - checkedAt) / 2)
        checkedAt = now
        return debt < Self.burst
    }

    mutating func add(_ time: Duration) { debt += time }
}

/// The connections of a member to the engine, or to a log of its own: see the decision record *ServingAlone*.
extension ClusterNode {
    /// How long a joining member waits for the state: a large one takes longer than the time between two requests.
    private static let stateTimeout = Duration.seconds(5)
    /// The number of connections to `localEngine`.
    private static let localNumber = -1

    /// Connects to an engine; the inputs have the number of the connection.
    private func connect(to engine: any ClusterEngine, _ number: Int) async throws -> EngineLink {
        let isOver = StopSignal()
        let connection = try await engine.connect { [weak self] input in
            if case .closed = input { isOver.set() }
            self?.offer(.engine(input, number))
        }
        return EngineLink(connection: connection, number: number, isOver: isOver)
    }

    func connected(_ link: EngineLink, at now: Moment) -> [MemberAction] {
        let isLocal = link.number == Self.localNumber
        let actions: [MemberAction]? = state.withLock { state in
            guard !isLocal || state.machine.isDetached else { return nil }
            state.link?.isOver.set()
            state.machine.disconnected()
            state.link = link
            return state.machine.connected(isLocal: isLocal, at: now)
        }
        if isLocal, actions != nil { streams?.closeStreamsOfResources() }
        return actions ?? []
    }

    /// Connects to the log of this process alone once there was no contact to a log for `patience`.
    func serveAloneIfDetached(at now: Moment) {
        guard configuration.onEngineLoss == .local else { return }
        let isDue = state.withLock { state in
            let isConnecting = state.machine.isLocal && state.link != nil
            guard state.machine.isDetached, !isConnecting else {
                state.detachedSince = nil
                return false
            }
            let isDue = state.detachedSince.map { now - $0 >= configuration.patience } ?? false
            if isDue || state.detachedSince == nil { state.detachedSince = now }
            return isDue
        }
        guard isDue else { return }
        logger.warning("the cluster's engine is away: this member serves its own readers alone")
        addJob { [self] in
            if let link = try? await connect(to: localEngine, Self.localNumber) { offer(.connected(link)) }
        }
    }

    /// Keeps a connection to the engine until cancelled.
    func stayConnected() async {
        var number = 0
        var warnings: [String] = []
        while !Task.isCancelled {
            number += 1
            do {
                let link = try await connect(to: engine, number)
                // A member that serves its readers alone continues to do so until the log of the engine can be read.
                if isAlone {
                    do { _ = try await link.connection.inspectLog() } catch {
                        link.connection.close()
                        throw error
                    }
                }
                shared.withLock { $0.failures.connected() }
                logger.info("connected to the cluster's engine")
                offer(.connected(link))
                let present = await link.connection.warnings()
                for warning in present where !warnings.contains(warning) { logger.warning("\(warning)") }
                warnings = present
                await link.isOver.wait()
                link.connection.close()
                logger.warning("the connection to the cluster's engine is closed")
            } catch {
                // Repeated several times a second while the engine is away.
                let failure = "\(error)"
                let isNew = shared.withLock { $0.failures.notConnected(failure) }
                logger.log(
                    level: isNew ? .warning : .debug,
                    "cannot connect to the cluster's engine",
                    metadata: ["error": "\(failure)"]
                )
            }
            try? await Task.sleep(for: .milliseconds(Int.random(in: 100...500)))
        }
    }

    /// Ignores the present connection from now on. `stayConnected` closes it and opens another one.
    func disconnected() {
        state.withLock { state in
            state.link.take()?.isOver.set()
            state.machine.disconnected()
        }
        shared.withLock { $0.rates.disconnected() }
    }

    /// Asks the engine beside the member's task, and passes the result on as an input.
    func ask<Reply: Sendable>(
        _ request: @escaping @Sendable (any EngineConnection) async throws -> Reply,
        _ input: @escaping @Sendable (Result<Reply, any Error>, Int) -> Input
    ) {
        guard let link = state.withLock({ $0.link }) else { return }
        addJob { [weak self] in
            let result: Result<Reply, any Error>
            do { result = .success(try await request(link.connection)) } catch { result = .failure(error) }
            self?.offer(input(result, link.number))
        }
    }

    func requestState(in formats: Formats) {
        guard let connection = state.withLock({ $0.link?.connection }) else { return }
        addJob { [weak self] in
            let request = Formats.wire.bytes(formats)
            let reply = try? await connection.requestFromGroup(request, within: Self.stateTimeout)
            if let reply { self?.offer(.state(reply)) }
        }
    }

    /// Sends the state to a joining member, in a format that both read.
    func sendState(asRequested bytes: [UInt8], _ applier: ClusterApplier, _ reply: EngineReply, at now: Moment) {
        guard let formats = try? Formats.wire.value(bytes) else { return }
        let began = clock()
        let answer = state.withLock { state in
            state.statePace.admits(at: began) ? state.machine.state(for: formats, at: now) : nil
        }
        guard var snapshot = answer?.snapshot, let format = answer?.format else { return }
        snapshot.tables = applier.tables(of: snapshot.ledger)
        let lastEvents = applier.lastEvents(of: snapshot.start)
        snapshot.past?.lastEvents = lastEvents
        reply(snapshot.bytes(in: format))
        let spent = clock() - began
        state.withLock { $0.statePace.add(spent) }
    }
}

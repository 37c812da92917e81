internal import Gateway
internal import Logging
internal import Primitives
internal import Replication

/// The connections of a member to the engine, or to a log of its own: see the decision record *ServingAlone*.
extension ClusterNode {
    /// How long a joining member waits for the state: a large one takes longer than the time between two requests.
    private static let stateTimeout = Duration.seconds(5)
    /// The number of connections to `localEngine`.
    private static let localNumber = -1

    /// Leaves the cluster, so that others take over what this member owns; returns when it has left, or after `time`. Requests that
    /// change resources, and those of other members, get the same time before.
    func leave(within time: Duration) async {
        await endChanges(within: time)
        offer(.left)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.hasLeft.wait() }
            group.addTask { try? await Task.sleep(for: time) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Waits for the requests that change resources, which do not wait for anything but the log any more, and for the requests of
    /// other members, which take the removal of this one for a failure. Their changes would be made, and not be in the log. Refuses
    /// further requests once there are none, or from half of the time on.
    private func endChanges(within time: Duration) async {
        let now = clock()
        reports.withLock { $0.awaitsChanges = true }
        for end in [now + time / 2, now + time] {
            repeat {
                if isIdle() { return }
            } while await changes(of: Self.ownChanges, since: nil, until: end, unless: isIdle)
            reports.withLock { $0.isLeaving = true }
        }
    }

    /// Whether there are no such requests; refuses further ones then.
    private func isIdle() -> Bool {
        let haveCalls = shared.withLock { !$0.calls.isEmpty }
        return reports.withLock { reports in
            if haveCalls || reports.changing > 0 { return false }
            reports.isLeaving = true
            return true
        }
    }

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
                try await check(link.connection)
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
            guard let bytes = try? await connection.requestFromGroup(formats.bytes, within: Self.stateTimeout) else {
                return
            }
            self?.offer(.state(bytes))
        }
    }

    /// Sends the state to a joining member, in a format that both read.
    func sendState(asRequested bytes: [UInt8], _ applier: ClusterApplier, _ reply: EngineReply, at now: Moment) {
        guard let formats = Formats(bytes) else { return }
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

    func reconnect() {
        logger.warning("the cluster's engine does not respond, or has no log")
        disconnected()
    }
}

/// The reports of a member to operators.
extension ClusterNode {
    func report(epochAt position: UInt64, windowsAfter first: UInt64) {
        logger.notice(
            "entered an epoch of the cluster",
            metadata: ["position": "\(position)", "windowsAfter": "\(first)"]
        )
    }

    /// Logs once that the engine refuses a subject, and keeps that for the health.
    func report(_ reason: String, refusedOn number: Int) {
        guard shared.withLock({ $0.failures.refused(reason, on: number) }) else { return }
        logger.error(
            "the cluster's engine refuses a subject: its user needs more permissions",
            metadata: ["error": "\(reason)"]
        )
    }

    /// Logs that the engine does not store frames, and why.
    func report(notStored reason: String, at now: Moment) {
        guard shared.withLock({ $0.failures.notStored(reason, at: now) }) else { return }
        logger.error("the cluster's engine does not store what this gateway writes", metadata: ["error": "\(reason)"])
    }

    /// Logs that the member has left because of what waited for the engine.
    func reportOverflow() {
        logger.warning("more than cluster.outbox waited for the cluster's engine: this member leaves, and joins again")
    }

    func report(_ divergence: LogDivergence) {
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

    func report(_ own: Formats, refusedBy members: Formats) {
        logger.error(
            "this process cannot join the cluster: its members use other formats between them. Upgrade them through a version that has formats in common with both",
            metadata: ["formats": "\(own)", "members-formats": "\(members)"]
        )
    }

    func report(_ formats: Formats) {
        logger.warning(
            "a process cannot join the cluster: it uses other formats between members",
            metadata: ["formats": "\(formats)"]
        )
    }

    func report(_ info: MemberInfo) {
        logger.warning(
            "a member of the cluster has other upstreams or access rules",
            metadata: ["member": "\(info.name)", "version": "\(info.version)"]
        )
    }
}

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

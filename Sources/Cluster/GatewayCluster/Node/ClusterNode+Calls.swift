internal import Gateway
internal import Primitives
internal import Replication

/// Calls between members, and waiting for the log.
extension ClusterNode {
    /// How long a request waits for a new owner of its resource, or for the log.
    static let logTimeout = Duration.seconds(2)
    /// NATS limits a message to 1 MiB.
    private static let callLimit = 1_000_000

    /// The member that has a client, subscription or stream.
    func holder(of id: String) -> ResourceHolder {
        let holder = state.withLock { $0.machine.holder(of: id) }
        guard holder == .unknown, let process = opener(ofStream: id), process != self.process else { return holder }
        return .process(process)
    }

    /// Whether the log has a client, subscription or prepared stream.
    func isInLog(_ id: String) -> Bool { state.withLock { $0.machine.holder(of: id) } != .unknown }

    /// Counts how many times the reports of this member were discarded; nil while it does not belong to the cluster.
    var generation: Int? { reports.withLock { $0.outbox.isOpen ? $0.outbox.generation : nil } }

    /// Calls back once it is known what became of all changes reported so far; `void` if reports were discarded since
    /// `generation`.
    func confirm(_ generation: Int, _ done: @escaping @Sendable (ClusterWaiters.Confirmation) -> Void) {
        // Inside the lock, so that the records are neither read back nor discarded before the request waits.
        let known: ClusterWaiters.Confirmation? = reports.withLock { reports in
            guard reports.outbox.isOpen, reports.outbox.generation == generation else { return .void }
            let request = ClusterWaiters.Unconfirmed(records: reports.outbox.recordsAppended, done: done)
            return reports.waiters.add(request)
        }
        if let known { done(known) }
    }

    /// The log has the records of this member up to a number.
    func written(_ records: UInt64) {
        for action in reports.withLock({ $0.waiters.written(records) }) { action() }
    }

    /// Waits until the log is applied up to its end at the time of the call, and members have reported their resources
    /// after the beginning of an epoch; false after `logTimeout`.
    func caughtUp() async -> Bool { await catchUp(isComplete: true) }

    /// Waits until the log is applied up to its end at the time of the call; false after `logTimeout`.
    func appliesEnd() async -> Bool { await catchUp(isComplete: false) }

    private func catchUp(isComplete: Bool) async -> Bool {
        guard let connection = state.withLock({ $0.connection }), let last = try? await connection.inspectLog().last
        else { return false }
        let deadline = clock() + Self.logTimeout
        return await withCheckedContinuation { continuation in
            let request = ClusterWaiters.CatchUp(position: last, isComplete: isComplete, deadline: deadline) {
                continuation.resume(returning: $0)
            }
            guard reports.withLock({ $0.waiters.add(request) }) else { return continuation.resume(returning: false) }
            wake()
        }
    }

    /// Calls back with true once members have reported their resources after the beginning of an epoch; with false after
    /// `logTimeout`.
    func whenComplete(_ done: @escaping @Sendable (Bool) -> Void) {
        let now = clock()
        if state.withLock({ $0.machine.isComplete(at: now) }) { return done(true) }
        let request = ClusterWaiters.CatchUp(position: 0, isComplete: true, deadline: now + Self.logTimeout, done: done)
        if !reports.withLock({ $0.waiters.add(request) }) { done(false) }
    }

    /// Completes the requests whose condition holds. Called by the node's task before it takes a frame from the outbox.
    func settleWaiters(at now: Moment) {
        guard reports.withLock({ $0.waiters.haveDeadlines }) else { return }
        let (position, isComplete) = state.withLock { state in
            // A member that loads a state may start behind its present position.
            (state.machine.isServing(at: now) ? state.machine.position : 0, state.machine.isComplete(at: now))
        }
        let due = reports.withLock { reports in
            reports.waiters.reached(position, isComplete: isComplete, at: now) + reports.waiters.late(at: now)
        }
        for action in due { action() }
    }

    // MARK: - Decisions

    /// Writes a record, and calls back with what the log decides about its subject; nil if that is not known in time.
    func decide(
        _ subject: RecordSubject,
        by record: ClusterRecord,
        _ done: @escaping @Sendable (RecordOutcome?) -> Void
    ) {
        let request = ClusterWaiters.Undecided(deadline: clock() + Self.logTimeout, done: done)
        // Inside the lock, so that the decision does not precede the request.
        let isWritten = reports.withLock { reports in
            reports.outbox.append(request: record) && reports.waiters.add(request, on: subject)
        }
        if isWritten { wake() } else { done(nil) }
    }

    /// Writes a record, and returns what the log decides about its subject; nil if that is not known in time.
    func decision(on subject: RecordSubject, by record: ClusterRecord) async -> RecordOutcome? {
        await withCheckedContinuation { continuation in
            decide(subject, by: record) { continuation.resume(returning: $0) }
        }
    }

    /// Calls back the oldest request of this member that waits for a decision about a subject.
    func decided(_ subject: RecordSubject, _ outcome: RecordOutcome) {
        if let request = reports.withLock({ $0.waiters.removeFirst(on: subject) }) { return request.done(outcome) }
        // The decision is late.
        switch (subject, outcome) {
        case (.stream(let id), .accepted): streams?.opened(id)
        // Its caller was told that it is not performed, and may repeat it.
        case (.request(let name), .accepted): write(.request(.abandon(name)))
        default: break
        }
    }

    /// The member has stopped: no request waits any more.
    func endWaiting() {
        for action in reports.withLock({ $0.waiters.end() }) { action() }
    }

    // MARK: - Calls

    /// Sends requests to a member and returns its responses, in the same order.
    ///
    /// - Parameter abandonment: When the client has left, the member stops waiting, and the call throws.
    func call(
        _ process: UInt64,
        _ requests: [ForwardedRequest],
        within time: Duration,
        abandonment: CallAbandonment? = nil
    ) async throws -> [ForwardedResponse] {
        do {
            let responses = try await send(requests, to: process, within: time, abandonment)
            shared.withLock { $0.counters.called(.answered) }
            return responses
        } catch {
            let isAbandoned = abandonment?.isAbandoned ?? false
            shared.withLock { $0.counters.called(ClusterCounters.CallOutcome(error, isAbandoned: isAbandoned)) }
            throw error
        }
    }

    private func send(
        _ requests: [ForwardedRequest],
        to process: UInt64,
        within time: Duration,
        _ abandonment: CallAbandonment?
    ) async throws -> [ForwardedResponse] {
        let number = UInt64.random(in: .min ... .max)
        let (member, position, present) = state.withLock {
            ($0.machine.member, $0.machine.position, $0.connection)
        }
        let bytes = MemberCall.perform(requests, number: number, member: member, position: position).bytes
        guard bytes.count <= Self.callLimit else {
            throw EngineError.refused("the request is too large to be forwarded")
        }
        guard let connection = present else { throw EngineError.notConnected("offline") }
        let reply = try await connection.call(process, bytes, within: time) {
            abandonment?.add { connection.notify(process, MemberCall.cancel(number).bytes) }
        }
        guard let responses = try? ForwardedResponse.decoded(reply), responses.count == requests.count
        else { throw EngineError.refused("a reply cannot be read") }
        return responses
    }

    /// Handles a message of another member.
    func answer(_ bytes: [UInt8], replyTo address: String?) {
        guard let connection = state.withLock({ $0.connection }), let call = try? MemberCall(bytes) else { return }
        switch call {
        case .perform(let requests, let number, let member, let position):
            guard let address else { return }
            perform(requests, number, of: member, at: position) {
                connection.reply(ForwardedResponse.encoded($0), to: address)
            }
        case .cancel(let number):
            // Calls that were answered have no entry.
            shared.withLock { $0.served.removeValue(forKey: number) }?.abandon()
        }
    }

    private func perform(
        _ requests: [ForwardedRequest],
        _ number: UInt64,
        of member: UInt64,
        at position: UInt64,
        _ reply: @escaping @Sendable ([ForwardedResponse]) -> Void
    ) {
        guard let host else { return }
        guard servesResources, state.withLock({ $0.machine.ledger?.members[member] != nil }) else {
            // Without the engine, another member may have become the owner in the meantime. The call of a removed
            // member is late: later changes may have been confirmed since.
            return reply(requests.map { _ in ForwardedResponse(status: ForwardedResponse.misdirected) })
        }
        let abandonment = CallAbandonment()
        shared.withLock { $0.served[number] = abandonment }
        let isBehind = state.withLock { $0.machine.position } < position
        host.serve(requests, abandonment, for: self, isBehind: isBehind) { [weak self] responses in
            _ = self?.shared.withLock { $0.served.removeValue(forKey: number) }
            reply(responses)
        }
        // The reply without responses ends the call on the other member.
        abandonment.add { reply([]) }
    }
}

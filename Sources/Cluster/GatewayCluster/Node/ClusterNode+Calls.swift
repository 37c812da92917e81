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

    /// Counts how many times the reports of this member were discarded; nil while it does not belong to the cluster.
    var generation: Int? { outbox.withLock { $0.isOpen ? $0.generation : nil } }

    /// Calls back with true once all changes reported so far were read from the log; with false if reports were discarded
    /// since `generation`, because this member was removed.
    func confirm(_ generation: Int, _ done: @escaping @Sendable (Bool) -> Void) {
        let entry: ClusterWaiters.Confirmation? = outbox.withLock { outbox in
            guard outbox.isOpen, outbox.generation == generation else { return nil }
            return ClusterWaiters.Confirmation(generation: generation, records: outbox.recordsAppended, done: done)
        }
        guard let entry, waiters.withLock({ $0.add(entry) }) else { return done(false) }
        wake()
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
            guard waiters.withLock({ $0.add(request) }) else { return continuation.resume(returning: false) }
            wake()
        }
    }

    /// Calls back with true once members have reported their resources after the beginning of an epoch; with false after
    /// `logTimeout`.
    func whenComplete(_ done: @escaping @Sendable (Bool) -> Void) {
        let now = clock()
        if state.withLock({ $0.machine.isComplete(at: now) }) { return done(true) }
        let request = ClusterWaiters.CatchUp(position: 0, isComplete: true, deadline: now + Self.logTimeout, done: done)
        if !waiters.withLock({ $0.add(request) }) { done(false) }
    }

    /// Completes the requests whose condition holds. Called by the node's task before it takes a frame from the outbox.
    func settleWaiters(at now: Moment) {
        let (isWriting, position, isComplete) = state.withLock { state in
            // A member that loads a state may start behind its present position.
            let position = state.machine.isServing(at: now) ? state.machine.position : 0
            return (state.machine.isWriting, position, state.machine.isComplete(at: now))
        }
        let (generation, framed) = outbox.withLock { ($0.generation, $0.recordsFramed) }
        let due = waiters.withLock { waiters in
            let confirmed = waiters.settled(generation: generation, records: isWriting ? 0 : framed)
            return confirmed + waiters.reached(position, isComplete: isComplete, at: now) + waiters.late(at: now)
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
        let isWritten = waiters.withLock { waiters in
            outbox.withLock { $0.append(request: record) } && waiters.add(request, on: subject)
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
        if let request = waiters.withLock({ $0.removeFirst(on: subject) }) { return request.done(outcome) }
        // The decision is late: nothing has opened the stream.
        if case .stream(let id) = subject, outcome == .accepted { streams?.closeUnused(id) }
    }

    /// Calls back all undecided requests with nil: their records were not read back and are void.
    func voidRequests() {
        for action in waiters.withLock({ $0.removeUndecided() }) { action() }
    }

    /// The member has stopped: no request waits any more.
    func endWaiting() {
        for action in waiters.withLock({ $0.end() }) { action() }
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
            counters.withLock { $0.called(.answered) }
            return responses
        } catch {
            let isAbandoned = abandonment?.isAbandoned ?? false
            counters.withLock { $0.called(ClusterCounters.CallOutcome(error, isAbandoned: isAbandoned)) }
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
        let (member, present) = state.withLock { ($0.machine.member, $0.connection) }
        let bytes = MemberCall.perform(requests, number: number, member: member).bytes
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
        case .perform(let requests, let number, let member):
            guard let address else { return }
            perform(requests, number, of: member) {
                connection.reply(ForwardedResponse.encoded($0), to: address)
            }
        case .cancel(let number):
            // Calls that were answered have no entry.
            served.withLock { $0.removeValue(forKey: number) }?.abandon()
        }
    }

    private func perform(
        _ requests: [ForwardedRequest],
        _ number: UInt64,
        of member: UInt64,
        _ reply: @escaping @Sendable ([ForwardedResponse]) -> Void
    ) {
        guard let host else { return }
        guard servesResources, state.withLock({ $0.machine.ledger?.members[member] != nil }) else {
            // Without the engine, another member may have become the owner in the meantime. The call of a removed
            // member is late: later changes may have been confirmed since.
            return reply(requests.map { _ in ForwardedResponse(status: ForwardedResponse.misdirected) })
        }
        let abandonment = CallAbandonment()
        served.withLock { $0[number] = abandonment }
        host.serve(requests, abandonment, for: self) { [weak self] responses in
            _ = self?.served.withLock { $0.removeValue(forKey: number) }
            reply(responses)
        }
        // The reply without responses ends the call on the other member.
        abandonment.add { reply([]) }
    }
}

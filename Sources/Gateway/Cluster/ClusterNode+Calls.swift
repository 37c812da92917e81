internal import Crypto
internal import Foundation
internal import Replication
internal import StreamIO

/// The requests of this member that wait for the log, as callbacks: see the decision record *WaitingByCallbacks*.
struct ClusterWaiters: Sendable {
    /// A request whose change was not read back from the log yet.
    struct Confirmation: Sendable {
        let generation: Int
        let records: UInt64
        let done: @Sendable (Bool) -> Void
    }

    /// A request that waits until the log is applied up to a position.
    struct Catching: Sendable {
        let position: UInt64
        /// Whether it also waits until members have reported their resources after the beginning of an epoch.
        let isComplete: Bool
        let deadline: Moment
        let done: @Sendable (Bool) -> Void
    }

    /// A request that waits for a decision of the log.
    struct Undecided: Sendable {
        let deadline: Moment
        /// Called with the decision; nil if it is not known in time.
        let done: @Sendable (RecordOutcome?) -> Void
    }

    private var undecided: [RecordSubject: [Undecided]] = [:]
    private var confirmations: [Confirmation] = []
    private var catching: [Catching] = []
    /// Whether the member has stopped: no request waits any more.
    private var hasEnded = false

    /// Adds a request that waits for its confirmation; false if the member has stopped.
    mutating func add(_ request: Confirmation) -> Bool {
        if !hasEnded { confirmations.append(request) }
        return !hasEnded
    }

    /// Adds a request that waits for a position; false if the member has stopped.
    mutating func add(_ request: Catching) -> Bool {
        if !hasEnded { catching.append(request) }
        return !hasEnded
    }

    /// Adds a request that waits for a decision; false if the member has stopped.
    mutating func add(_ request: Undecided, on subject: RecordSubject) -> Bool {
        if !hasEnded { undecided[subject, default: []].append(request) }
        return !hasEnded
    }

    /// Removes and returns the oldest request that waits for a decision on a subject.
    mutating func removeFirst(on subject: RecordSubject) -> Undecided? {
        guard var requests = undecided.removeValue(forKey: subject) else { return nil }
        let first = requests.removeFirst()
        if !requests.isEmpty { undecided[subject] = requests }
        return first
    }

    /// Removes and returns the callbacks of all requests that wait for a decision.
    mutating func removeUndecided() -> [@Sendable () -> Void] {
        defer { undecided = [:] }
        return undecided.values.joined().map { request in { request.done(nil) } }
    }

    /// The member has stopped: removes and returns all callbacks.
    mutating func end() -> [@Sendable () -> Void] {
        hasEnded = true
        defer { (confirmations, catching) = ([], []) }
        return confirmations.map { entry in { entry.done(false) } } + catching.map { entry in { entry.done(false) } }
            + removeUndecided()
    }

    /// Removes and returns the callbacks for records that were read back, or that were discarded with their generation.
    mutating func settled(generation: Int, records: UInt64) -> [@Sendable () -> Void] {
        let due = confirmations.filter { $0.generation != generation || $0.records <= records }
        confirmations.removeAll { $0.generation != generation || $0.records <= records }
        return due.map { entry in { entry.done(entry.generation == generation) } }
    }

    /// Removes and returns the callbacks of the requests whose deadline for a decision has passed.
    mutating func late(at now: Moment) -> [@Sendable () -> Void] {
        let late = undecided.values.joined().filter { $0.deadline <= now }
        guard !late.isEmpty else { return [] }
        undecided = undecided.mapValues { $0.filter { $0.deadline > now } }.filter { !$0.value.isEmpty }
        return late.map { request in { request.done(nil) } }
    }

    /// Removes and returns the callbacks for a position that was reached, and those whose deadline has passed.
    mutating func reached(_ position: UInt64, isComplete: Bool, at now: Moment) -> [@Sendable () -> Void] {
        func hasReached(_ entry: Catching) -> Bool { entry.position <= position && (isComplete || !entry.isComplete) }
        let due = catching.filter { hasReached($0) || $0.deadline <= now }
        catching.removeAll { hasReached($0) || $0.deadline <= now }
        return due.map { entry in
            let hasReached = hasReached(entry)
            return { entry.done(hasReached) }
        }
    }
}

/// Calls between members, and waiting for the log.
extension ClusterNode {
    /// How long a request waits for a new owner of its resource, or for the log.
    static let patience = Duration.seconds(2)
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
            return ClusterWaiters.Confirmation(generation: generation, records: outbox.recordsTaken, done: done)
        }
        guard let entry, waiters.withLock({ $0.add(entry) }) else { return done(false) }
        wake()
    }

    /// Waits until the log is applied up to its end at the time of the call, and members have reported their resources
    /// after the beginning of an epoch; false after `patience`.
    func caughtUp() async -> Bool { await catchUp(isComplete: true) }

    /// Waits until the log is applied up to its end at the time of the call; false after `patience`.
    func appliesEnd() async -> Bool { await catchUp(isComplete: false) }

    private func catchUp(isComplete: Bool) async -> Bool {
        guard let connection = state.withLock({ $0.connection }), let last = try? await connection.inspectLog().last
        else { return false }
        let deadline = clock() + Self.patience
        return await withCheckedContinuation { continuation in
            let request = ClusterWaiters.Catching(position: last, isComplete: isComplete, deadline: deadline) {
                continuation.resume(returning: $0)
            }
            guard waiters.withLock({ $0.add(request) }) else { return continuation.resume(returning: false) }
            wake()
        }
    }

    /// Calls back with true once members have reported their resources after the beginning of an epoch; with false after
    /// `patience`.
    func whenComplete(_ done: @escaping @Sendable (Bool) -> Void) {
        let now = clock()
        if state.withLock({ $0.machine.isComplete(at: now) }) { return done(true) }
        let request = ClusterWaiters.Catching(position: 0, isComplete: true, deadline: now + Self.patience, done: done)
        if !waiters.withLock({ $0.add(request) }) { done(false) }
    }

    /// Completes the requests whose condition holds. Called by the node's task before it takes a frame from the outbox.
    func settleWaiters(at now: Moment) {
        let (isWriting, position, isComplete) = state.withLock { state in
            // A member that loads a state may start behind its present position.
            let position = state.machine.isServing(at: now) ? state.machine.position : 0
            return (state.machine.isWriting, position, state.machine.isComplete(at: now))
        }
        let (generation, cut) = outbox.withLock { ($0.generation, $0.recordsCut) }
        let due = waiters.withLock { waiters in
            let confirmed = waiters.settled(generation: generation, records: isWriting ? 0 : cut)
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
        let request = ClusterWaiters.Undecided(deadline: clock() + Self.patience, done: done)
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
        waiters.withLock { $0.removeFirst(on: subject) }?.done(outcome)
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
        let number = UInt64.random(in: .min ... .max)
        let bytes = seal.close(MemberCall.perform(requests, number: number).bytes)
        guard bytes.count <= Self.callLimit else {
            throw EngineError.refused("the request is too large to be forwarded")
        }
        guard let connection = state.withLock({ $0.connection }) else { throw EngineError.notConnected("offline") }
        let reply = try await connection.call(process, bytes, within: time) { [seal] in
            abandonment?.add { connection.notify(process, seal.close(MemberCall.cancel(number).bytes)) }
        }
        guard let opened = seal.open(reply), let responses = try? ForwardedResponse.decoded(opened),
            responses.count == requests.count
        else { throw EngineError.refused("a reply cannot be read") }
        return responses
    }

    /// Handles a message of another member.
    func answer(_ bytes: [UInt8], replyTo address: String?) {
        guard let connection = state.withLock({ $0.connection }), let opened = seal.open(bytes),
            let call = try? MemberCall(opened)
        else { return }
        switch call {
        case .perform(let requests, let number):
            guard let address else { return }
            perform(requests, number) { [seal] in
                connection.reply(seal.close(ForwardedResponse.encoded($0)), to: address)
            }
        case .cancel(let number):
            // Calls that were answered have no entry.
            served.withLock { $0.removeValue(forKey: number) }?.abandon()
        }
    }

    private func perform(
        _ requests: [ForwardedRequest],
        _ number: UInt64,
        _ reply: @escaping @Sendable ([ForwardedResponse]) -> Void
    ) {
        guard let serve = server.withLock({ $0 }) else { return }
        guard isServing else {
            // Without the engine, another member may have become the owner in the meantime.
            return reply(requests.map { _ in ForwardedResponse(status: ForwardedResponse.misdirected) })
        }
        let abandonment = CallAbandonment()
        served.withLock { $0[number] = abandonment }
        serve(requests, abandonment) { [weak self] responses in
            _ = self?.served.withLock { $0.removeValue(forKey: number) }
            reply(responses)
        }
        // The reply without responses ends the call on the other member.
        abandonment.add { reply([]) }
    }
}

/// Encrypts messages between members, and tickets, with a key from the cluster's secret, because they carry credentials
/// and rights.
struct ClusterSeal: Sendable {
    private let key: SymmetricKey

    /// A key for one purpose: it cannot open what is sealed for another purpose.
    init(secret: String, purpose: String) {
        let code = HMAC<SHA256>.authenticationCode(
            for: Array(purpose.utf8),
            using: SymmetricKey(data: Array(secret.utf8))
        )
        key = SymmetricKey(data: Array(code))
    }

    /// A name that only holders of the secret can derive from bytes.
    func name(of bytes: [UInt8]) -> RecordKey {
        let code = Array(HMAC<SHA256>.authenticationCode(for: bytes, using: key))
        let numbers = [code[0..<8], code[8..<16]].map { $0.reduce(0) { $0 << 8 | UInt64($1) } }
        return RecordKey(high: numbers[0], low: numbers[1])
    }

    /// The encrypted bytes.
    func close(_ bytes: [UInt8]) -> [UInt8] {
        // Sealing fails for a nonce or key of another size only.
        guard let box = try? AES.GCM.seal(bytes, using: key).combined else { return [] }
        return Array(box)
    }

    /// The decrypted bytes; nil if they were encrypted with another key, or changed.
    func open(_ bytes: [UInt8]) -> [UInt8]? {
        guard let box = try? AES.GCM.SealedBox(combined: bytes), let opened = try? AES.GCM.open(box, using: key)
        else { return nil }
        return Array(opened)
    }
}

extension Problem {
    /// The log cannot decide, because this member has no contact to the cluster.
    static let notInTouch = Problem(.unavailable, detail: "The gateway is not in touch with its cluster.")
}

internal import Changes
internal import Gateway
internal import Primitives
internal import Replication
internal import SessionPool

/// The reports of a member to the log, and the requests of this member that wait for the log, as callbacks: see the decision
/// record *WaitingByCallbacks*.
struct MemberReports: Sendable {
    /// The fate of the records of a request.
    enum Confirmation: Sendable {
        /// The log has them.
        case written
        /// The records have no effect, because this member was removed.
        case void
        /// The log has them without effect: another member had opened the stream before.
        case overtaken
        /// The log may have them, or get them later: this member has lost contact to it, or has not read them back in time.
        case uncertain
    }

    /// A request whose records were not read back from the log yet.
    struct Unconfirmed: Sendable {
        /// The number of its last record.
        let records: UInt64
        /// Moves while the log takes records: those of the request may be behind many others.
        var deadline: Moment
        /// The resource that a request with an `Idempotency-Key` has created; nil: none.
        let made: String?
        let done: @Sendable (Confirmation) -> Void
    }

    /// A fact that follows from the log up to a position.
    typealias Condition = @Sendable (_ machine: MemberMachine, _ now: Moment) -> Bool

    struct Conditional: Sendable {
        let condition: Condition
        /// A resource whose change in this process ends the wait as well.
        let resource: String?
        let deadline: Moment
        var isChanged = false
        /// Called with whether the condition holds.
        let done: @Sendable (Bool) -> Void
    }

    /// What continues a request that waits for a decision of the log; nil if the decision is not known in time.
    typealias Decided = @Sendable (RecordOutcome?) -> Void

    var outbox: Outbox
    /// The units of this member that count against limits on all members together.
    var claims = QuotaClaims()
    /// The number of requests that change resources and are not answered yet.
    var changing = 0
    /// Whether the member waits for the end of these requests.
    var awaitsChanges = false
    /// Whether no further request changes resources: the member leaves, and the log takes nothing of it after that.
    var isLeaving = false
    /// The number of the last record of such a request.
    var changed: UInt64 = 0
    private var undecided: [RecordSubject: [(deadline: Moment, done: Decided)]] = [:]
    private var unconfirmed: [Unconfirmed] = []
    /// The resources whose creation is uncertain, with the numbers of its records.
    private var uncertainCreations: [(id: String, records: UInt64)] = []
    /// No request waits for the records up to this number: they were read back or discarded.
    private var written: UInt64 = 0
    private var conditional: [Conditional] = []
    /// What ends the calls to other members, by member and number.
    private var calls: [UInt64: [Int: @Sendable () -> Void]] = [:]
    private var callCount = 0
    /// Whether the member has stopped: no request waits any more.
    private var hasEnded = false

    /// - Parameter limit: The greatest number of bytes that wait for the log.
    init(limit: Int) { outbox = Outbox(limit: limit) }

    /// Whether requests wait: for a condition, for a decision, or for their records.
    var haveDeadlines: Bool {
        guard conditional.isEmpty, undecided.isEmpty, unconfirmed.isEmpty else { return true }
        return false
    }

    var haveCalls: Bool { !calls.isEmpty }

    /// Whether the log may lack changes of requests, also of those that were answered because of their deadline.
    var lackChanges: Bool { changing > 0 || changed > written }

    /// Adds a request that waits for its records. Returns the confirmation of the records if it is known already.
    mutating func add(_ request: Unconfirmed) -> Confirmation? {
        if hasEnded { return .uncertain }
        if request.records <= written { return .written }
        unconfirmed.append(request)
        return nil
    }

    /// Adds a request that waits for a condition; false if the member has stopped.
    mutating func add(_ request: Conditional) -> Bool {
        if !hasEnded { conditional.append(request) }
        return !hasEnded
    }

    /// A resource has changed; false if no request waits for that.
    mutating func resourceChanged(_ id: String) -> Bool {
        let places = conditional.indices.filter { conditional[$0].resource == id }
        for place in places { conditional[place].isChanged = true }
        return !places.isEmpty
    }

    /// Adds a call, which ends with the removal of its member; returns the number of the call.
    mutating func addCall(to member: UInt64, _ end: @escaping @Sendable () -> Void) -> Int {
        callCount += 1
        calls[member, default: [:]][callCount] = end
        return callCount
    }

    /// Removes a call; false if the removal of its member has ended it.
    mutating func removeCall(_ number: Int, to member: UInt64) -> Bool {
        guard calls[member]?.removeValue(forKey: number) != nil else { return false }
        if calls[member]?.isEmpty == true { calls[member] = nil }
        return true
    }

    /// Adds a request that waits for a decision; false if the member has stopped.
    mutating func add(until deadline: Moment, on subject: RecordSubject, _ done: @escaping Decided) -> Bool {
        if !hasEnded { undecided[subject, default: []].append((deadline, done)) }
        return !hasEnded
    }

    /// Removes and returns the oldest request that waits for a decision on a subject.
    mutating func removeFirst(on subject: RecordSubject) -> Decided? {
        guard var requests = undecided.removeValue(forKey: subject) else { return nil }
        let first = requests.removeFirst()
        if !requests.isEmpty { undecided[subject] = requests }
        return first.done
    }

    /// Removes and returns the callbacks of all requests that wait for a decision.
    mutating func removeUndecided() -> [@Sendable () -> Void] {
        defer { undecided = [:] }
        return undecided.values.joined().map { request in { request.done(nil) } }
    }

    /// The member has stopped: removes and returns all callbacks.
    mutating func end() -> [@Sendable () -> Void] {
        hasEnded = true
        defer { (unconfirmed, conditional) = ([], []) }
        return unconfirmed.map { entry in { entry.done(.uncertain) } }
            + conditional.map { entry in { entry.done(false) } }
            + removeUndecided()
    }

    /// The records up to a number were read back: removes and returns the callbacks of their requests. The others wait until a
    /// new deadline.
    mutating func written(_ records: UInt64, until deadline: Moment) -> [@Sendable () -> Void] {
        written = max(written, records)
        if !uncertainCreations.isEmpty { uncertainCreations.removeAll { $0.records <= records } }
        let due = unconfirmed.filter { $0.records <= records }
        unconfirmed.removeAll { $0.records <= records }
        for index in unconfirmed.indices { unconfirmed[index].deadline = deadline }
        return due.map { entry in { entry.done(.written) } }
    }

    /// The records up to a number were discarded, because the member was removed or has lost contact to the log: removes and
    /// returns the callbacks of their requests.
    ///
    /// - Parameter uncertain: The records up to this number may be in the log.
    mutating func discarded(_ records: UInt64, uncertain: UInt64) -> [@Sendable () -> Void] {
        let requests = unconfirmed
        (written, unconfirmed) = (max(written, records), [])
        return requests.map { end($0, $0.records <= uncertain ? .uncertain : .void) }
    }

    /// Returns what continues a request, and remembers what the request has created if the fate of its records is uncertain.
    private mutating func end(_ request: Unconfirmed, _ fate: Confirmation) -> @Sendable () -> Void {
        if fate == .uncertain, let id = request.made { uncertainCreations.append((id, request.records)) }
        return { request.done(fate) }
    }

    /// Removes and returns the resources whose creation is uncertain.
    mutating func takeUncertainCreations() -> [String] {
        defer { uncertainCreations = [] }
        return uncertainCreations.map(\.id)
    }

    /// Removes and returns the callbacks of requests that are due, by condition or deadline, and of calls to removed members.
    mutating func due(_ machine: MemberMachine, at now: Moment) -> [@Sendable () -> Void] {
        var due: [@Sendable () -> Void] = []
        for member in calls.keys where machine.isRemoved(member) {
            due += calls.removeValue(forKey: member).map { Array($0.values) } ?? []
        }
        var rest: [Conditional] = []
        for request in conditional {
            let holds = request.isChanged || request.condition(machine, now)
            if holds || request.deadline <= now { due.append { request.done(holds) } } else { rest.append(request) }
        }
        conditional = rest
        let late = undecided.values.joined().filter { $0.deadline <= now }
        if !late.isEmpty {
            undecided = undecided.mapValues { $0.filter { $0.deadline > now } }.filter { !$0.value.isEmpty }
        }
        var overdue = 0
        while overdue < unconfirmed.count, unconfirmed[overdue].deadline <= now { overdue += 1 }
        let requests = unconfirmed[..<overdue]
        unconfirmed.removeFirst(overdue)
        due += requests.map { end($0, .uncertain) }
        return due + late.map { request in { request.done(nil) } }
    }
}

extension ClusterNode: PoolSink {
    package func take(_ change: Change) { take([change]) }

    package func take(_ changes: [Change]) {
        countAdoptions(changes)
        let isFirst = reports.withLock { reports in
            var isFirst = false
            for change in changes {
                // A resource can be read on this member as soon as it is created.
                if reports.outbox.concernsOwnTopic(change) { hub.take(change) }
                if reports.outbox.append(change) { isFirst = true }
            }
            return isFirst
        }
        if isFirst { wake() }
    }

    func lastRead(subscription id: SubscriptionID) -> Moment? { hub.lastRead(subscription: id) }

    func take(_ change: Change, number: UInt64) {
        if reports.withLock({ $0.outbox.append(change, number: number) }) { wake() }
    }

    func take(_ change: SessionChange) {
        switch change {
        case .offered(let session, let client):
            let offered = session.map { OfferedUpstreamSession($0, sessionCipher) }
            reports.withLock { $0.outbox.offer(offered, of: client.rawValue) }
            wake()
        case .numbered(let subscription, let number):
            reports.withLock { $0.outbox.number(subscription.rawValue, number) }
        }
    }

    var ownsSessions: Bool { state.withLock { $0.machine.ownsSessions(at: clock()) } }

    /// Writes a record, unless this member does not belong to the cluster at the moment.
    func write(_ record: ClusterRecord) { if reports.withLock({ $0.outbox.append(request: record) }) { wake() } }

    private func countAdoptions(_ changes: [Change]) {
        for case .client(let id, let change) in changes {
            switch change {
            case .removed: shared.withLock { $0.counters.adoptionEnded(id.rawValue, .abandoned) }
            case .event(.status(let status, _)): shared.withLock { $0.counters.changed(status, of: id.rawValue) }
            case .added, .event: break
            }
        }
    }
}

/// Waiting for the log.
extension ClusterNode {
    /// How long a request waits for a new owner of its resource, or for the log.
    static let logTimeout = Duration.seconds(2)

    /// Counts how many times the reports of this member were discarded; nil while it does not belong to the cluster.
    var generation: Int? { reports.withLock { $0.outbox.isOpen ? $0.outbox.generation : nil } }

    /// Writes records, and calls back once it is known what became of all changes reported so far, or when the log has taken no
    /// records for `logTimeout`; `void`, and writes nothing, if reports were discarded since `generation`.
    ///
    /// - Parameters:
    ///   - made: The resource that a request with an `Idempotency-Key` has created; nil: none.
    ///   - write: Appends the records of a request that changes resources; returns whether the node's task has to be woken.
    func confirm(
        _ generation: Int,
        creating made: String? = nil,
        writing write: ((inout Outbox) -> Bool)? = nil,
        _ done: @escaping @Sendable (MemberReports.Confirmation) -> Void
    ) {
        let deadline = clock() + Self.logTimeout
        // Inside the lock, so that the records are neither read back nor discarded before the request waits.
        let (known, isFirst): (MemberReports.Confirmation?, Bool) = reports.withLock { reports in
            guard reports.outbox.isOpen, reports.outbox.generation == generation else { return (.void, false) }
            let isFirst = write?(&reports.outbox) ?? false
            let records = reports.outbox.recordsAppended
            if write != nil { reports.changed = records }
            let request = MemberReports.Unconfirmed(records: records, deadline: deadline, made: made, done: done)
            return (reports.add(request), isFirst)
        }
        if isFirst { wake() }
        if let known { done(known) }
    }

    func written(_ records: UInt64) {
        let deadline = clock() + Self.logTimeout
        for action in reports.withLock({ $0.written(records, until: deadline) }) { action() }
    }

    /// Calls back with true once a condition holds, or a resource of this process has changed; with false at the deadline, or
    /// when this member stops.
    func when(
        _ condition: @escaping MemberReports.Condition,
        orChangeOf resource: String? = nil,
        until deadline: Moment,
        _ done: @escaping @Sendable (Bool) -> Void
    ) {
        let isAdded = reports.withLock {
            $0.add(.init(condition: condition, resource: resource, deadline: deadline, done: done))
        }
        if !isAdded { done(false) }
    }

    /// Calls back with true once members have reported their resources in a new epoch; with false after `logTimeout`.
    func whenComplete(_ done: @escaping @Sendable (Bool) -> Void) {
        let now = clock()
        if state.withLock({ $0.machine.isComplete(at: now) }) { return done(true) }
        when({ $0.isComplete(at: $1) }, until: now + Self.logTimeout, done)
    }

    /// Waits until members have reported their resources after the beginning of an epoch; false after `logTimeout`.
    func isComplete() async -> Bool {
        await withCheckedContinuation { continuation in whenComplete { continuation.resume(returning: $0) } }
    }

    /// Completes the requests whose condition holds or whose deadline has passed, and ends the calls to removed members. Called
    /// by the node's task before it takes a frame from the outbox.
    func settleWaiters(at now: Moment) {
        guard reports.withLock({ $0.haveDeadlines ? true : $0.haveCalls }) else { return }
        let due = state.withLock { state in reports.withLock { $0.due(state.machine, at: now) } }
        for action in due { action() }
    }

    // MARK: - Decisions

    /// Writes a record, and calls back with what the log decides about its subject; nil if no decision is known in time, or
    /// if this member was removed.
    ///
    /// - Parameter deadline: The end of the time; nil: after `logTimeout`. The wait of a report of this member has no end, so
    ///   that no request takes the decision on the report for a decision on the request.
    func decide(
        _ subject: RecordSubject,
        by record: ClusterRecord,
        until deadline: Moment? = nil,
        _ done: @escaping MemberReports.Decided
    ) {
        let deadline = deadline ?? clock() + Self.logTimeout
        // Inside the lock, so that the decision does not precede the request.
        let isWritten = reports.withLock { reports in
            reports.outbox.append(request: record) && reports.add(until: deadline, on: subject, done)
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
        if let done = reports.withLock({ $0.removeFirst(on: subject) }) { return done(outcome) }
        // The decision is late.
        switch (subject, outcome) {
        case (.stream(let id), .accepted): streams?.opened(id)
        // Its caller was told that it is not performed, and may repeat it.
        case (.request(let name, _), .accepted): write(.request(.abandon(name)))
        case (.ticket(let ticket), .accepted): acceptedLate(ticket)
        default: break
        }
    }
}

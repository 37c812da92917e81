package import Changes
package import SessionCore

/// The reports of a member's own pool that are not in the log yet, encoded and in order.
///
/// The outbox knows which shared subscriptions the member owns in which term, and drops reports on all other subscriptions.
/// While the member does not belong to the cluster, the outbox keeps no reports: after the member has joined, its clients and
/// its own subscriptions are reported again.
package struct Outbox: Sendable {
    /// A record with more bytes is divided into parts.
    static let partSize = 256 << 10

    /// The framed records that wait, after those that were taken and not removed yet.
    private var pending: [UInt8] = []
    /// The ends of the records in `pending`.
    private var ends: [Int] = []
    /// The bytes, and the records, at the beginning of `pending` that were taken.
    private var takenBytes = 0
    private var takenRecords = 0
    private let limit: Int
    /// The limit, and the bytes of the report of a member that has joined: its next report would be as large.
    private var bound: Int
    /// The bytes that may exceed the limit after an overflow, until as many were written: what was too much, as the snapshot of a
    /// large table, comes again on the next owner.
    private var allowance = 0
    /// The greatest allowance, in limits.
    private static let mostAllowed = 4
    /// The terms of the shared subscriptions that the member owns.
    private var terms: [String: UInt64] = [:]
    /// The shared subscriptions on which the pool still reports.
    private var sharedIDs: Set<String> = []
    private var clients: [String: ClientStatus] = [:]
    /// The specifications of the member's own resources.
    private var specifications: [String: ResourceSpecification] = [:]
    /// Resources that another member owns, and on which the pool still reports.
    private var released: Set<String> = []
    /// The number of records that were appended, and of those that were taken for frames or discarded.
    package private(set) var recordsAppended: UInt64 = 0
    package private(set) var recordsFramed: UInt64 = 0
    /// Counts how many times the waiting records were discarded.
    package private(set) var generation = 0
    /// Whether the member belongs to the cluster.
    package private(set) var isOpen = false
    /// Whether the waiting records exceeded the limit and were discarded.
    package private(set) var hasOverflowed = false

    /// An outbox that keeps `limit` bytes at most, besides the report of a member that has joined. A member that joins again after
    /// an overflow may keep twice the limit, and more after further overflows, until the excess is written.
    package init(limit: Int) { (self.limit, bound) = (limit, limit) }

    /// Whether nothing waits.
    package var isEmpty: Bool { takenRecords == ends.count }

    /// The number of bytes that wait.
    package var count: Int { pending.count - takenBytes }

    // MARK: - Membership

    /// The member has joined the cluster: its clients are reported. What it reports until `endReport` is not limited.
    package mutating func open() {
        isOpen = true
        hasOverflowed = false
        bound = .max
        for (id, status) in clients.sorted(by: { $0.key < $1.key }) {
            append(.change(.client(ClientID(id), .added(status)), term: 0))
        }
    }

    /// The member has reported all that it has.
    package mutating func endReport() { bound = limit + allowance + count }

    /// The member no longer belongs to the cluster: the waiting records are discarded, and it owns nothing.
    package mutating func close() {
        isOpen = false
        discardAll()
        terms = [:]
    }

    /// The member owns a shared subscription from now on.
    package mutating func begin(_ id: String, term: UInt64) {
        terms[id] = term
        sharedIDs.insert(id)
    }

    /// The term in which the member owns a shared subscription; nil if it does not own it.
    package func term(of id: String) -> UInt64? { terms[id] }

    /// The member no longer owns a shared subscription.
    ///
    /// - Parameter isOpened: Whether the pool has opened the subscription, so that the pool will report its removal.
    package mutating func end(_ id: String, isOpened: Bool = true) {
        terms[id] = nil
        if !isOpened { sharedIDs.remove(id) }
    }

    // MARK: - Specifications

    /// Appends the first or a changed specification of a resource of the member. True if it is the only waiting record.
    ///
    /// - Parameter answer: A record that goes into the same frame.
    package mutating func specify(
        _ id: String,
        _ specification: ResourceSpecification,
        with answer: ClusterRecord? = nil
    ) -> Bool {
        let isNew = specifications.updateValue(specification, forKey: id) != specification
        guard isOpen else { return false }
        let wasEmpty = isEmpty
        append([isNew ? .specify(id: id, specification) : nil, answer].compactMap(\.self))
        return wasEmpty && !isEmpty
    }

    /// The specification of a resource of the member.
    package func specification(of id: String) -> ResourceSpecification? { specifications[id] }

    /// Appends all specifications again, after the reports on their resources: the member has another number.
    package mutating func specifyAgain() {
        guard isOpen else { return }
        for (id, specification) in specifications.sorted(by: { $0.key < $1.key }) {
            append(.specify(id: id, specification))
        }
    }

    /// The member now owns a resource of a removed member; the log contains its specification.
    package mutating func inherit(_ id: String, _ specification: ResourceSpecification) {
        specifications[id] = specification
        released.remove(id)
    }

    /// Appends the status of a client of the member that the log has with another one.
    package mutating func reportStatus(of client: String, unless known: ClientStatus?) {
        guard isOpen, let status = clients[client], status != known else { return }
        append(.change(.client(ClientID(client), .event(.status(status))), term: 0))
    }

    /// Another member owns a resource: reports of the pool on it are dropped until its removal.
    package mutating func release(_ id: String) {
        specifications[id] = nil
        clients[id] = nil
        released.insert(id)
    }

    // MARK: - Requests

    /// Takes in a record that a request waits for. False while the member does not belong to the cluster.
    ///
    /// - Parameter answer: A record that goes into the same frame.
    package mutating func append(request record: ClusterRecord, with answer: ClusterRecord? = nil) -> Bool {
        guard isOpen else { return false }
        append([record, answer].compactMap(\.self))
        return true
    }

    // MARK: - Changes

    /// Whether the own hub has to apply a change at once: the creation of a resource of this member, or its removal
    /// while this member cannot write to the log.
    package func concernsOwnTopic(_ change: Change) -> Bool {
        switch change {
        case .client(_, .added): true
        case .client(let id, .removed): !isOpen && !released.contains(id.rawValue)
        case .subscription(let id, .added): !sharedIDs.contains(id.rawValue)
        case .subscription(let id, .removed):
            !isOpen && !sharedIDs.contains(id.rawValue) && !released.contains(id.rawValue)
        case .client(_, .event), .subscription: false
        }
    }

    /// Appends a report of the pool. True if it is the only waiting record.
    ///
    /// - Parameter number: The number of the data notification that it comes from, in a session that another member can
    ///   continue; 0: none.
    package mutating func append(_ change: Change, number: UInt64 = 0) -> Bool {
        let wasEmpty = isEmpty
        guard let term = term(of: change), isOpen else { return false }
        append(.change(change, term: term, number: number > 0 && term > 0 ? number : nil))
        return wasEmpty && !isEmpty
    }

    // MARK: - Sessions

    /// Appends the session of a client that a new owner of its subscriptions can continue; nil: not, or no longer.
    package mutating func offer(_ session: OfferedUpstreamSession?, of client: String) {
        guard isOpen, clients[client] != nil else { return }
        append(.session(client: client, session))
    }

    /// Appends the number of a shared subscription in the session of its client.
    package mutating func number(_ id: String, _ number: UInt64) {
        guard isOpen, let term = terms[id] else { return }
        append(.upstreamNumber(id: id, term: term, number: number))
    }

    /// The member continues the session of a removed member, with its client.
    package mutating func adopt(client: String, _ status: ClientStatus) {
        released.remove(client)
        clients[client] = status
    }

    /// The term under which a change is written, 0 for a resource of this member alone; nil if the change is dropped.
    private mutating func term(of change: Change) -> UInt64? {
        switch change {
        case .client(let id, .added(let status)): clients[id.rawValue] = status
        case .client(let id, .removed):
            specifications[id.rawValue] = nil
            if released.remove(id.rawValue) != nil { return nil }
            clients[id.rawValue] = nil
        case .client(let id, .event(let event)):
            if released.contains(id.rawValue) { return nil }
            if case .status(let status, _) = event, clients[id.rawValue] != nil { clients[id.rawValue] = status }
        case .subscription(let id, .added): return sharedIDs.contains(id.rawValue) ? nil : 0
        case .subscription(let id, .removed):
            specifications[id.rawValue] = nil
            if released.remove(id.rawValue) != nil { return nil }
            guard sharedIDs.contains(id.rawValue) else { return 0 }
            // As long as the member owns it, the pool may open it again.
            if terms[id.rawValue] == nil { sharedIDs.remove(id.rawValue) }
            return nil
        case .subscription(let id, _):
            if released.contains(id.rawValue) { return nil }
            return sharedIDs.contains(id.rawValue) ? terms[id.rawValue] : 0
        }
        return 0
    }

    private mutating func append(_ record: ClusterRecord) {
        let body = record.body
        guard count + body.count <= bound else {
            discardAll()
            if !hasOverflowed { allowance = min(max(limit, 2 * allowance), Self.mostAllowed * limit) }
            hasOverflowed = true
            return
        }
        guard body.count > Self.partSize else { return append(framed: ClusterRecord.framed(body)) }
        for start in stride(from: 0, to: body.count, by: Self.partSize) {
            let end = min(start + Self.partSize, body.count)
            append(framed: ClusterRecord.part(body[start..<end], isLast: end == body.count).encoded)
        }
    }

    /// Appends records that go into one frame, unless one of them is too large for a frame.
    private mutating func append(_ records: [ClusterRecord]) {
        let bodies = records.map(\.body)
        let size = bodies.reduce(0) { $0 + $1.count }
        guard bodies.count > 1, size <= Self.partSize, count + size <= bound else {
            for record in records { append(record) }
            return
        }
        append(framed: bodies.flatMap { ClusterRecord.framed($0) })
    }

    private mutating func append(framed bytes: [UInt8]) {
        pending += bytes
        ends.append(pending.count)
        recordsAppended += 1
    }

    private mutating func discardAll() {
        drop()
        bound = limit
        generation += 1
        recordsFramed = recordsAppended
    }

    private mutating func drop() { (pending, ends, takenBytes, takenRecords) = ([], [], 0, 0) }

    // MARK: - Frames

    /// Removes and returns the next records, up to these limits but at least one; empty if none waits.
    mutating func takeRecords(atMost count: Int, bytes: Int) -> ArraySlice<UInt8> {
        guard !isEmpty else { return [] }
        var next = takenRecords
        while next < ends.count, next - takenRecords < count, next == takenRecords || ends[next] - takenBytes <= bytes {
            next += 1
        }
        let frame = pending[takenBytes..<ends[next - 1]]
        bound = max(limit, bound - frame.count)
        if bound == limit, !hasOverflowed { allowance = 0 }
        recordsFramed += UInt64(next - takenRecords)
        takenBytes = ends[next - 1]
        takenRecords = next
        let copy = Array(frame)[...]
        if isEmpty {
            drop()
        } else if takenBytes > pending.count / 2 {
            pending.removeFirst(takenBytes)
            ends.removeFirst(takenRecords)
            for index in ends.indices { ends[index] -= takenBytes }
            (takenBytes, takenRecords) = (0, 0)
        }
        return copy
    }
}

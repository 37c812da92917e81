package import EventHub
internal import SessionCore

/// What a member's own pool reported and the log does not have yet, encoded and in order.
///
/// It knows which subscriptions the member owns in which tenure; what is reported of others is not written. While the
/// member does not belong to the cluster nothing is kept: it reports its clients and its own subscriptions anew when it
/// has joined.
package struct Outbox: Sendable {
    /// A record beyond this size is divided into parts.
    static let partSize = 256 << 10

    private var pending: [UInt8] = []
    private var ends: [Int] = []
    private var taken = 0
    private var takenRecords = 0
    private let limit: Int
    /// The tenures of the shared subscriptions that the member owns.
    private var tenures: [String: UInt64] = [:]
    /// The shared subscriptions that the pool still reports on.
    private var sharedIDs: Set<String> = []
    private var clients: [String: ClientStatus] = [:]
    /// The specifications of the member's own resources.
    private var specifications: [String: ResourceSpecification] = [:]
    /// Resources that the pool still reports on, and that another member owns.
    private var surrendered: Set<String> = []
    /// The number of records that were taken in, and of those that were put into frames.
    package private(set) var recordsTaken: UInt64 = 0
    package private(set) var recordsCut: UInt64 = 0
    /// Counts the times that what waited became void.
    package private(set) var generation = 0
    /// Whether the member belongs to the cluster.
    package private(set) var isOpen = false
    /// Whether more was reported than may wait: what waits was dropped.
    package private(set) var hasOverflowed = false

    /// An outbox that keeps at most so many bytes.
    package init(limit: Int) { self.limit = limit }

    /// Whether nothing waits.
    package var isEmpty: Bool { takenRecords == ends.count }

    /// The number of bytes that wait.
    package var count: Int { pending.count - taken }

    // MARK: - Membership

    /// The member belongs to the cluster: its clients are told to it.
    package mutating func open() {
        isOpen = true
        hasOverflowed = false
        for (id, status) in clients.sorted(by: { $0.key < $1.key }) {
            append(.change(.clientAdded(id, status), tenure: 0))
        }
    }

    /// The member does not belong to the cluster any more: what waits is void, and it owns nothing.
    package mutating func close() {
        isOpen = false
        void()
        tenures = [:]
    }

    /// The member owns a shared subscription from now on.
    package mutating func begin(_ id: String, tenure: UInt64) {
        tenures[id] = tenure
        sharedIDs.insert(id)
    }

    /// The member does not own a shared subscription any more.
    package mutating func end(_ id: String) { tenures[id] = nil }

    // MARK: - Specifications

    /// The member specifies a resource of its own, or specifies it anew. True if the record is the first that waits.
    package mutating func specify(_ id: String, _ specification: ResourceSpecification) -> Bool {
        guard specifications.updateValue(specification, forKey: id) != specification, isOpen else { return false }
        let wasEmpty = isEmpty
        append(.specify(id: id, specification))
        return wasEmpty && !isEmpty
    }

    /// The specification of a resource of the member.
    package func specification(of id: String) -> ResourceSpecification? { specifications[id] }

    /// Specifies all resources again, behind the reports on them: the member has joined under another number.
    package mutating func specifyAgain() {
        guard isOpen else { return }
        for (id, specification) in specifications.sorted(by: { $0.key < $1.key }) {
            append(.specify(id: id, specification))
        }
    }

    /// The member owns a resource that another one had; the log has its specification.
    package mutating func inherit(_ id: String, _ specification: ResourceSpecification) {
        specifications[id] = specification
        surrendered.remove(id)
    }

    /// Another member owns a resource: what the pool reports of it until it is gone is not written.
    package mutating func surrender(_ id: String) {
        specifications[id] = nil
        clients[id] = nil
        surrendered.insert(id)
    }

    // MARK: - Requests

    /// Takes in a record that a request waits for. False while the member does not belong to the cluster.
    package mutating func append(request record: ClusterRecord) -> Bool {
        guard isOpen else { return false }
        append(record)
        return true
    }

    // MARK: - Changes

    /// Whether the own hub has to apply a change at once: a resource of this member alone is made, or goes while no
    /// record can tell it.
    package func concernsOwnTopic(_ change: HubChange) -> Bool {
        switch change {
        case .clientAdded: true
        case .subscriptionAdded(let id, _): !sharedIDs.contains(id)
        case .clientRemoved(let id): !isOpen && !surrendered.contains(id)
        case .subscriptionRemoved(let id): !isOpen && !sharedIDs.contains(id) && !surrendered.contains(id)
        case .propertiesChanged, .carried, .activity, .event: false
        }
    }

    /// Takes in what the pool reports. True if it is the first that waits.
    package mutating func append(_ change: HubChange) -> Bool {
        let wasEmpty = isEmpty
        guard let tenure = tenure(of: change), isOpen else { return false }
        append(.change(change, tenure: tenure))
        return wasEmpty && !isEmpty
    }

    /// The tenure that a change is written under, 0 for what is the member's own; nil if it is not to be written.
    private mutating func tenure(of change: HubChange) -> UInt64? {
        switch change {
        case .clientRemoved(let id), .subscriptionRemoved(let id):
            specifications[id] = nil
            if surrendered.remove(id) != nil { return nil }
        case .event(_, .client(let id)), .event(_, .subscription(let id)), .propertiesChanged(let id, _),
            .carried(let id, _), .activity(let id, _):
            if surrendered.contains(id) { return nil }
        case .clientAdded, .subscriptionAdded: break
        }
        switch change {
        case .clientAdded(let id, let status):
            clients[id] = status
            return 0
        case .clientRemoved(let id):
            clients[id] = nil
            return 0
        case .event(.status(let status), .client(let id)):
            clients[id] = status
            return 0
        case .event(_, .client):
            return 0
        case .subscriptionAdded(let id, _):
            return sharedIDs.contains(id) ? nil : 0
        case .subscriptionRemoved(let id):
            return sharedIDs.remove(id) == nil ? 0 : nil
        case .propertiesChanged(let id, _), .carried(let id, _), .activity(let id, _), .event(_, .subscription(let id)):
            return sharedIDs.contains(id) ? tenures[id] : 0
        }
    }

    private mutating func append(_ record: ClusterRecord) {
        let body = record.body
        guard count + body.count <= limit else {
            void()
            hasOverflowed = true
            return
        }
        guard body.count > Self.partSize else { return append(framed: ClusterRecord.framed(body[...])) }
        for start in stride(from: 0, to: body.count, by: Self.partSize) {
            let end = min(start + Self.partSize, body.count)
            append(framed: ClusterRecord.part(body[start..<end], isLast: end == body.count).encoded)
        }
    }

    private mutating func append(framed bytes: [UInt8]) {
        pending += bytes
        ends.append(pending.count)
        recordsTaken += 1
    }

    private mutating func void() {
        drop()
        generation += 1
        recordsCut = recordsTaken
    }

    private mutating func drop() {
        pending = []
        ends = []
        taken = 0
        takenRecords = 0
    }

    // MARK: - Frames

    /// Takes out what comes next, up to these limits but at least one record; empty if nothing waits.
    mutating func cut(records: Int, bytes: Int) -> ArraySlice<UInt8> {
        guard !isEmpty else { return [] }
        var next = takenRecords
        while next < ends.count, next - takenRecords < records, next == takenRecords || ends[next] - taken <= bytes {
            next += 1
        }
        let frame = pending[taken..<ends[next - 1]]
        recordsCut += UInt64(next - takenRecords)
        taken = ends[next - 1]
        takenRecords = next
        let copy = Array(frame)[...]
        if isEmpty {
            drop()
        } else if taken > pending.count / 2 {
            pending.removeFirst(taken)
            ends.removeFirst(takenRecords)
            for index in ends.indices { ends[index] -= taken }
            taken = 0
            takenRecords = 0
        }
        return copy
    }
}

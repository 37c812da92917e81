import Changes
import Primitives
import Replication
import SessionCore
import TestSupport

extension SeededGenerator {
    /// True in this many of a thousand cases.
    mutating func happens(_ perMille: Int) -> Bool { Int.random(in: 0..<1000, using: &self) < perMille }
}

/// The events that a hub would have delivered.
struct ModelHub {
    struct Told: Equatable {
        let position: UInt64
        let change: Change
    }

    struct Table: Equatable {
        var isSubscribed = false
        var row: [String?]?
    }

    var epoch: UInt64 = 0
    /// Events up to here are known as a snapshot only.
    var base: UInt64 = 0
    var position: UInt64 = 0
    var told: [Told] = []
    var tables: [String: Table] = [:]
    var lastNumbers: [String: Int] = [:]
    /// The positions of the last changes of subscriptions up to `base`, as far as they are known.
    var lastChanges: [String: UInt64] = [:]

    /// Applies a frame's changes; returns the violations.
    mutating func apply(_ changes: [Change], at position: UInt64) -> [String] {
        var problems: [String] = []
        if position != self.position + 1 { problems.append("applied \(position) after \(self.position)") }
        self.position = position
        for change in changes {
            told.append(Told(position: position, change: change))
            guard case .subscription(let subscription, .event(let event)) = change else { continue }
            let id = subscription.rawValue
            switch event {
            case .subscribed:
                tables[id] = Table(isSubscribed: true)
                lastNumbers[id] = nil
            case .unsubscribed, .failed: tables[id] = Table()
            case .update(let update):
                if tables[id]?.isSubscribed != true { problems.append("update of \(id) without a subscription") }
                let number = Int(update.values[0] ?? "") ?? -1
                if let last = lastNumbers[id], number != last + 1 {
                    problems.append("\(id): \(number) follows \(last)")
                }
                lastNumbers[id] = number
                tables[id]?.row = update.values
            default: break
            }
        }
        return problems
    }

    /// The events of the windows that are being rebuilt, and the position at which they begin.
    struct Windows {
        let base: UInt64
        let lastChanges: [String: UInt64]
        var told: [Told] = []

        mutating func apply(_ changes: [Change], at position: UInt64) {
            told += changes.map { Told(position: position, change: $0) }
        }
    }

    var windows: Windows?

    mutating func restart(
        epoch: UInt64,
        at position: UInt64,
        loading snapshot: ClusterSnapshot?,
        withWindows: Bool
    ) {
        let windows = withWindows ? windows : nil
        self = ModelHub(epoch: epoch, base: windows?.base ?? position, position: position, told: windows?.told ?? [])
        lastChanges = windows?.lastChanges ?? [:]
        for (id, events) in snapshot?.tables ?? [:] {
            tables[id] = Table(isSubscribed: true)
            for case .update(let update) in events {
                tables[id]?.row = update.values
                lastNumbers[id] = Int(update.values[0] ?? "")
            }
        }
    }

    /// The position of the last change of each subscription of a ledger up to there.
    func lastChanges(of ledger: ClusterLedger) -> [String: [UInt64]] {
        var changes: [String: [UInt64]] = [:]
        for id in ledger.subscriptions.keys {
            let last = told.last { told in
                told.position <= ledger.position && told.change.topic == .subscription(SubscriptionID(id))
            }
            changes[id] = [min(ledger.position, last?.position ?? lastChanges[id] ?? base)]
        }
        return changes
    }

    func events(of ledger: ClusterLedger) -> [String: [SubscriptionEvent]] {
        var events: [String: [SubscriptionEvent]] = [:]
        for (id, view) in ledger.subscriptions {
            guard let layout = view.layout, let table = tables[id] else { continue }
            let subscribed = SubscriptionEvent.subscribed(
                itemCount: 1,
                fieldCount: 1,
                keyPosition: nil,
                commandPosition: nil
            )
            events[id] = [subscribed]
            if let row = table.row { events[id]?.append(.update(SimulatedNode.update(row[0] ?? "", layout))) }
        }
        return events
    }
}

/// One gateway process of a simulated cluster: its machine, its outbox, its hub, and its upstream subscriptions.
final class SimulatedNode {
    let number: Int
    var machine: MemberMachine
    var outbox = Outbox(limit: 1 << 20)
    var hub = ModelHub()
    var isConnected = false
    /// The earliest time at which it connects again.
    var connectsAfter = Moment.zero
    var isAlive = true
    var isPaused = false
    /// Whether its connection is open and carries nothing.
    var isHeld = false
    /// Whether nothing arrives that it appends, while all other messages do.
    var losesAppends = false
    var receives: Bool { !isPaused && !isHeld }
    /// Counts connections: messages of an earlier one do not arrive.
    var connection = 0
    var carried: [String: SubscriptionLayout] = [:]
    let upstream: SimulatedUpstream
    let now: () -> Moment
    /// The clients by the group of their subscriptions.
    var clients: [UInt64: SimulatedClient] = [:]
    /// The sessions that another node reads, although the member of a number did not know that it was removed; the member must know
    /// that in time.
    var lost: [(session: String, member: UInt64, until: Moment)] = []
    /// The number of sessions that it has adopted.
    var adopted = 0
    /// The violations that it has found.
    var problems: [String] = []
    var hasLeft = false
    /// The resources that requests made here, or that the node inherited.
    private(set) var resources: Set<String> = []
    /// Those whose records were read from the log here.
    private(set) var confirmed: Set<String> = []
    /// The tickets that opened a stream here.
    var opened: Set<RecordKey> = []
    /// The prepared streams that the node has, and those of them that are open.
    var streams: Set<String> = []
    var openStreams: Set<String> = []
    /// The shared subscriptions that have a reader here.
    private var read: Set<String> = []
    /// The number of the last record that was read from the log.
    private(set) var lastWritten: UInt64 = 0
    private var unconfirmed: [(id: String, generation: Int, records: UInt64)] = []

    init(
        number: Int,
        seed: UInt64,
        formats: Formats,
        upstream: SimulatedUpstream,
        now: @escaping () -> Moment
    ) {
        self.number = number
        self.upstream = upstream
        self.now = now
        let info = MemberInfo(name: "node-\(number)", version: "1", upstreams: ["demo"])
        machine = MemberMachine(info: info, seed: seed, groups: 2, formats: formats)
    }

    static func key(_ id: String) -> SharedTopicKey {
        SharedTopicKey(
            upstream: "demo",
            properties: SubscriptionProperties(mode: .raw, items: .list([id]), fields: .list(["number"]))
        )
    }

    static func update(_ number: String, _ layout: SubscriptionLayout) -> SubscriptionEvent.Update {
        ItemUpdate(layout: layout, itemPos: 1, isSnapshot: false, values: [number], changed: FieldSet(all: 1))
    }

    // MARK: - Shared subscriptions

    /// A reader of a shared subscription comes, unless there is one.
    func addInterest(_ id: String) { if read.insert(id).inserted { machine.addReader(id, Self.key(id)) } }

    /// The reader of a shared subscription leaves.
    func removeInterest(_ id: String) { if read.remove(id) != nil { machine.removeReader(id, at: now()) } }

    // MARK: - Resources

    func make(_ id: String) {
        resources.insert(id)
        _ = outbox.append(.subscription(SubscriptionID(id), .added(Self.key(id).properties)))
        _ = outbox.specify(id, ResourceSpecification(group: id, upstream: "demo", content: Array(id.utf8)))
        if outbox.isOpen { unconfirmed.append((id, outbox.generation, outbox.recordsAppended)) }
    }

    /// A request presents a ticket of the present epoch.
    func use(_ key: RecordKey) {
        guard let ledger = machine.ledger else { return }
        let use = TicketUse(key: key, epoch: ledger.epoch, issuedAt: ledger.position)
        let target = RecordKey(high: 0, low: 1)
        _ = outbox.append(request: .ticket(.open(TicketOpening(use: use, target: target, isResumed: false))))
    }

    // MARK: - Prepared streams

    func prepare(_ id: String) {
        streams.insert(id)
        declare(id)
    }

    private func declare(_ id: String) {
        let specification = ResourceSpecification(group: id, upstream: nil, content: Array(id.utf8))
        _ = outbox.append(request: .stream(.prepare(id: id, specification)))
    }

    func open(_ id: String) { _ = outbox.append(request: .stream(.open(id: id))) }

    /// The client of the stream leaves.
    func close(_ id: String) {
        guard openStreams.remove(id) != nil else { return }
        _ = outbox.append(request: .stream(.close(id: id)))
    }

    /// A request deletes a prepared stream.
    func remove(_ id: String) {
        streams.remove(id)
        _ = outbox.append(request: .stream(.remove(id: id, evenIfOpen: true)))
    }

    func inherit(_ id: String, _ specification: ResourceSpecification) {
        resources.insert(id)
        outbox.inherit(id, specification)
        _ = outbox.append(.subscription(SubscriptionID(id), .added(Self.key(id).properties)))
    }

    func release(_ id: String) {
        guard resources.remove(id) != nil else { return }
        outbox.release(id)
        _ = outbox.append(.subscription(SubscriptionID(id), .removed))
    }

    /// A request deletes a resource.
    func delete(_ id: String) {
        resources.remove(id)
        _ = outbox.append(.subscription(SubscriptionID(id), .removed))
    }

    func open() {
        outbox.open()
        for id in resources.sorted() {
            _ = outbox.append(.subscription(SubscriptionID(id), .added(Self.key(id).properties)))
        }
        outbox.specifyAgain()
        for id in streams.sorted() {
            declare(id)
            if openStreams.contains(id) { open(id) }
        }
        outbox.endReport()
    }

    /// The log has the records up to a number.
    func confirm(_ records: UInt64) {
        lastWritten = records
        let landed = unconfirmed.filter { $0.generation == outbox.generation && $0.records <= records }
        confirmed.formUnion(landed.map(\.id))
        unconfirmed.removeAll { entry in landed.contains { $0.id == entry.id } }
    }

    /// Reads what the server has sent. A paused process reads it later.
    func feed() {
        if !isPaused { readSessions() }
    }
}

extension SubscriptionEvent { typealias Update = ItemUpdate }

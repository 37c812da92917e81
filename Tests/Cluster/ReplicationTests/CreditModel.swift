import SessionCore

@testable import Replication

/// Members that open subscriptions of one upstream with credits, and read the same log, each at its own pace.
struct CreditModel {
    struct Member {
        let number: UInt64
        var ledger: ClusterLedger
        var held = UpstreamCredits.none
        var used = 0
        var refused = 0
        /// The requests that were not made yet.
        var planned: Int
        var isAlive = true
        var requests = CreditRequests<Void>(chunk: UpstreamCredits(subscriptions: 1))
    }

    private(set) var log: [(record: ClusterRecord, writer: UInt64)] = []
    private(set) var members: [Member]
    private let limits: UpstreamCredits

    init(limit: Int, requests: [Int]) {
        limits = UpstreamCredits(subscriptions: limit)
        var ledger = ClusterLedger(epoch: 1, position: 1, groups: 1)
        for number in 1...requests.count {
            let join = ClusterRecord.join(MemberInfo(name: "", version: "", upstreams: ["demo"])).encoded
            let frame = ClusterFrame(
                member: UInt64(number),
                epoch: 1,
                previous: 1,
                digest: 0,
                counter: 1,
                payload: join[...]
            )
            _ = ledger.apply(StoredFrame(position: ledger.position + 1, bytes: frame.bytes))
        }
        members = requests.enumerated().map { index, planned in
            Member(number: UInt64(index + 1), ledger: ledger, planned: planned)
        }
    }

    /// What living members have open.
    var used: Int { members.reduce(0) { $0 + ($1.isAlive ? $1.used : 0) } }

    /// Equal for equal states.
    var description: String {
        let states = members.map { member in
            "\(member.ledger.position) \(member.held.subscriptions) \(member.used) \(member.refused) \(member.planned)"
        }
        return "\(log.map { "\($0.writer) \($0.record)" }) \(states)"
    }

    /// The members that can read a record or make a request.
    var readers: [Int] { members.indices.filter { members[$0].isAlive && position(of: $0) < log.count } }
    var callers: [Int] { members.indices.filter { members[$0].isAlive && members[$0].planned > 0 } }

    private func position(of index: Int) -> Int { Int(members[index].ledger.position) - 1 - members.count }

    /// A request for one subscription arrives.
    mutating func call(_ index: Int) {
        members[index].planned -= 1
        open(index)
    }

    /// A subscription is closed.
    mutating func close(_ index: Int) { members[index].used -= 1 }

    /// A member dies, and the others remove it.
    mutating func kill(_ index: Int) {
        members[index].isAlive = false
        let other = members.first { $0.isAlive }?.number ?? 0
        log.append((.remove(members[index].number), other))
    }

    /// Credits that are not used are released.
    mutating func release(_ index: Int) {
        let unused = takeUnused(index)
        if !unused.isNone { write(.release(upstream: "demo", unused), index) }
    }

    /// A member reads the next record.
    mutating func read(_ index: Int) {
        let entry = log[position(of: index)]
        var effects: [LedgerEffect] = []
        members[index].ledger.position += 1
        members[index].ledger.apply(entry.record, by: entry.writer, &effects)
        let number = members[index].number
        for effect in effects {
            switch effect {
            case .order(.credit(_, let given), number): members[index].held += given
            case .creditsSought(let upstream, let claim):
                guard members[index].ledger.awaits(number, for: claim, of: upstream) else { continue }
                write(.release(upstream: upstream, takeUnused(index), claim: claim), index)
            case .order(.report(.credits(let decided), let outcome), number):
                self.decided(decided, outcome, index)
            default: break
            }
        }
    }

    private mutating func decided(_ number: UInt64, _ outcome: RecordOutcome, _ index: Int) {
        let claims = log.compactMap { entry -> CreditClaim? in
            guard entry.writer == members[index].number, case .credit(.claim(let claim)) = entry.record else {
                return nil
            }
            return claim.number == number ? claim : nil
        }
        guard outcome == .accepted else {
            members[index].refused += members[index].requests.refused(claims[0]).count
            return claim(index)
        }
        for waiting in members[index].requests.accepted(claims[0]) {
            open(index)
            members[index].requests.ended(waiting.missing, of: "demo")
        }
    }

    private mutating func open(_ index: Int) {
        let open = UpstreamCredits(subscriptions: members[index].used + 1)
        let missing = open - members[index].held
        guard !missing.isNone else {
            members[index].used += 1
            return
        }
        members[index].requests.add((), missing: missing, isOptional: false, of: "demo")
        claim(index)
    }

    private mutating func claim(_ index: Int) {
        guard let claim = members[index].requests.nextClaim(of: "demo", limits: limits) else { return }
        write(.claim(claim), index)
    }

    private mutating func takeUnused(_ index: Int) -> UpstreamCredits {
        let used = UpstreamCredits(subscriptions: members[index].used)
        let unused = members[index].held - used - members[index].requests.reserved(of: "demo")
        members[index].held -= unused
        return unused
    }

    private mutating func write(_ record: CreditRecord, _ index: Int) {
        log.append((.credit(record), members[index].number))
    }
}

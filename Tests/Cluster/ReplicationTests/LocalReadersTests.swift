import Changes
import Primitives
import SessionCore
import Testing

@testable import Replication

/// The shared subscriptions with local readers.
struct LocalReadersTests {
    private static let start = Moment(nanoseconds: 1_000_000_000)

    @Test func aSubscriptionIsNewOnceHoweverOftenReadersComeBeforeTheLogHasIt() {
        var readers = LocalReaders()
        for _ in 0..<3 {
            _ = readers.added("b", SimulatedNode.key("b"), isOver: false)
            readers.removed("b", at: Self.start)
        }
        _ = readers.added("a", SimulatedNode.key("a"), isOver: false)
        #expect(readers.new.count == 2)
        let records = readers.declareNew()
        #expect(records == ["a", "b"].map { .addInterest(id: $0, SimulatedNode.key($0)) })
        #expect(readers.new.isEmpty && readers.declareNew().isEmpty)
    }

    @Test func theLogAndTheMemberForgetIdleSubscriptions() {
        var readers = LocalReaders()
        for id in ["known", "read", "undeclared"] {
            _ = readers.added(id, SimulatedNode.key(id), isOver: false)
            if id == "known" { _ = readers.declareNew() }
        }
        readers.interestAdded("known")
        for id in ["known", "undeclared"] { readers.removed(id, at: Self.start) }
        let early = readers.dropIdle(after: .seconds(5), at: Self.start + .seconds(4))
        #expect(early.records.isEmpty && early.undeclared.isEmpty)
        let idle = readers.dropIdle(after: .seconds(5), at: Self.start + .seconds(5))
        #expect(idle.records == [.removeInterest(id: "known")] && idle.undeclared == ["undeclared"])
        #expect(readers.ids == ["read"])
    }

    /// The interest of other members has ended, and that of this member is not in the log yet.
    @Test(arguments: [false, true])
    func aSubscriptionThatEndsIsClosedAndOpenedAgainUnderItsLocalReaders(isSubscribed: Bool) throws {
        var log = LogOfTwo()
        let opened = log.subscribe("s", isSubscribed: isSubscribed)
        let term = try #require(opened)
        log.member.addReader("s", SimulatedNode.key("s"))
        let changes = log.append([.removeInterest(id: "s"), .retire(id: "s", term: term)])
        let closed: SubscriptionChange = isSubscribed ? .event(.unsubscribed(isFinal: false)) : .carried(by: nil)
        #expect(changes == [.subscription("s", closed)])
        let (isListed, isReady) = (log.member.ledger?.topics.byID["s"] != nil, log.member.isReady("s"))
        #expect(!isListed && !isReady)
        let reopened = log.write()
        let isReadyNow = log.member.isReady("s")
        #expect(reopened.contains(.subscription("s", .activity(isActive: true))) && isReadyNow)
    }

    /// The stream of the reader begins when the log has asked the owner to subscribe again, and is not told the former refusal.
    @Test(arguments: [false, true])
    func aReaderOfARefusedSubscriptionWaitsUntilItIsOpenedAgain(hasReaders: Bool) throws {
        var log = LogOfTwo()
        let opened = log.subscribe("s", isSubscribed: true)
        let term = try #require(opened)
        if hasReaders {
            log.member.addReader("s", SimulatedNode.key("s"))
            _ = log.write()
        }
        let refusal = SubscriptionEvent.failed(code: 21, message: "Bad Item Group name")
        _ = log.append([.change(.subscription("s", .event(refusal)), term: term)])
        #expect(log.reopened.isEmpty)
        for _ in 0..<2 {
            log.member.addReader("s", SimulatedNode.key("s"))
            let isReady = log.member.isReady("s")
            #expect(!isReady)
        }
        _ = log.write()
        let isReady = log.member.isReady("s")
        #expect(isReady && log.reopened == ["s"])
    }

    @Test func aSubscriptionThatEndsWithoutLocalReadersIsRemoved() throws {
        var log = LogOfTwo()
        let opened = log.subscribe("s", isSubscribed: true)
        let term = try #require(opened)
        let changes = log.append([.removeInterest(id: "s"), .retire(id: "s", term: term)])
        #expect(changes == [.subscription("s", .removed)])
    }
}

/// A log with a member that has no upstream, and another one, which owns all shared subscriptions.
private struct LogOfTwo {
    private static let other: UInt64 = 5
    private static let start = Moment.zero + .seconds(1)

    var member = MemberMachine(info: MemberInfo(name: "a", version: "1", upstreams: []), seed: 1, groups: 1)
    /// The subscriptions that the hub was to show as active again.
    private(set) var reopened: [String] = []
    private var outbox = Outbox(limit: 1 << 20)
    private var counter: UInt64 = 0

    init() {
        _ = member.connected(at: Self.start)
        _ = member.logInspected(LogGeneration(created: "g", first: 1, last: 0), at: Self.start)
        let epoch = ClusterFrame(kind: .epoch, member: 9, epoch: 7, previous: 0, digest: 0, counter: 0, payload: [1])
        _ = member.arrived(StoredFrame(position: 1, bytes: epoch.bytes), at: Self.start)
        _ = write()
        _ = append([.join(MemberInfo(name: "b", version: "1", upstreams: ["demo"]))])
    }

    /// The other member has readers of a subscription, and opens it; returns its term.
    mutating func subscribe(_ id: SubscriptionID, isSubscribed: Bool) -> UInt64? {
        _ = append([.addInterest(id: id.rawValue, SimulatedNode.key(id.rawValue))])
        guard let term = member.ledger?.topics.byID[id.rawValue]?.term else { return nil }
        let subscribed = SubscriptionEvent.subscribed(
            itemCount: 1,
            fieldCount: 1,
            keyPosition: nil,
            commandPosition: nil
        )
        let changes: [Change] = [
            .client("c", .added(.connectedWSStreaming)), .subscription(id, .carried(by: "c")),
            .subscription(id, .event(subscribed)),
        ]
        if isSubscribed { _ = append(changes.map { .change($0, term: term) }) }
        return term
    }

    /// Appends what the member writes; returns the changes of its hub.
    mutating func write() -> [Change] {
        var changes: [Change] = []
        while let bytes = member.nextFrame(from: &outbox, at: Self.start) { changes += arrived(bytes) }
        return changes
    }

    /// Appends a frame of the other member; returns the changes of the hub.
    mutating func append(_ records: [ClusterRecord]) -> [Change] {
        counter += 1
        return arrived(member.frame(of: Self.other, counter: counter, records))
    }

    private mutating func arrived(_ bytes: [UInt8]) -> [Change] {
        let actions = member.arrived(StoredFrame(position: member.position + 1, bytes: bytes), at: Self.start)
        if actions.contains(.openOutbox) { outbox.open() }
        for case .reopened(let id) in actions { reopened.append(id) }
        return actions.flatMap { action in
            if case .apply(let changes, _) = action { changes } else { [Change]() }
        }
    }
}

import Changes
import Primitives
import SessionCore
import Testing

@testable import Replication

/// Upstreams that are removed from the configuration of one member after the other, or added by a reload.
struct LostUpstreamsTests {
    private static let properties = SimulatedNode.key("i").properties

    private static func member(_ upstreams: [String], version: String = "1") -> ClusterLedger.Member {
        let info = MemberInfo(name: "m", version: version, upstreams: upstreams)
        return ClusterLedger.Member(info: info, joinedAt: 1, counter: 1)
    }

    /// What a member with the upstream `u` has, and the removal of the member.
    private static func records(of member: UInt64) -> [ClusterRecord] {
        let specification = ResourceSpecification(group: "c", upstream: "u", content: [])
        return [
            .change(.client("c", .added(.connecting)), term: 0), .specify(id: "c", specification),
            .change(.subscription("s", .added(properties)), term: 0), .specify(id: "s", specification),
            .addInterest(id: "t", SharedTopicKey(upstream: "u", properties: properties)),
            .addInterest(id: "o", SharedTopicKey(upstream: "v", properties: properties)), .remove(member),
        ]
    }

    /// The ledger of the member 2 after the removal of the member 1, which alone had the upstream `u`.
    private static func ledger() -> ClusterLedger {
        var ledger = ClusterLedger(epoch: 7, position: 1, groups: 1)
        ledger.members = [1: member(["u", "v"]), 2: member(["v"])]
        var effects: [LedgerEffect] = []
        for record in records(of: 1) { ledger.apply(record, by: 1, &effects) }
        return ledger
    }

    @Test func resourcesAndSharedSubscriptionsEndWithTheirUpstream() {
        var ledger = Self.ledger()
        #expect(ledger.lostUpstreams == ["u"])
        var effects: [LedgerEffect] = []
        ledger.apply(.endUpstream("v"), by: 2, &effects)
        #expect(effects.isEmpty && ledger == Self.ledger())
        ledger.apply(.endUpstream("u"), by: 2, &effects)
        #expect(
            effects == [
                .hub(.subscription("s", .removed)), .hub(.subscription("t", .removed)), .hub(.client("c", .removed)),
            ]
        )
        #expect(ledger.specified.isEmpty && ledger.clients.isEmpty && ledger.lostUpstreams.isEmpty)
        #expect(Array(ledger.topics.byID.keys) == ["o"] && Array(ledger.subscriptions.keys) == ["o"])
    }

    /// A reload has removed the upstream from the member that owns the client.
    @Test func whatAMemberStillHasStays() {
        var ledger = Self.ledger()
        ledger.specified["c"]?.owner = 2
        ledger.clients["c"]?.owner = 2
        var effects: [LedgerEffect] = []
        ledger.apply(.endUpstream("u"), by: 2, &effects)
        #expect(effects == [.hub(.subscription("s", .removed)), .hub(.subscription("t", .removed))])
        #expect(Array(ledger.specified.keys) == ["c"] && ledger.clients["c"]?.owner == 2)
        #expect(ledger.lostUpstreams.isEmpty)
    }

    @Test func oneMemberEndsAnUpstreamAfterAnHour() {
        var (lost, other) = (LostUpstreams(), LostUpstreams())
        var ledger = Self.ledger()
        func ended(after minutes: Int) -> [ClusterRecord] {
            lost.ended(in: ledger, by: 2, at: .zero + .seconds(60 * minutes))
        }
        #expect(ended(after: 0).isEmpty && ended(after: 59).isEmpty)
        // A reload may add the upstream to a member meanwhile, and no record says so.
        ledger.members[3] = Self.member(["v"], version: "0")
        #expect(ended(after: 60).isEmpty)
        ledger.members[3] = Self.member(["v"])
        #expect(ended(after: 61).isEmpty && ended(after: 120).isEmpty && ended(after: 121) == [.endUpstream("u")])
        for minutes in [0, 61] {
            let records = other.ended(in: ledger, by: 3, at: .zero + .seconds(60 * minutes))
            #expect(records.isEmpty)
        }
        // A member has the upstream for a while.
        ledger.members[3] = Self.member(["u"])
        #expect(ended(after: 122).isEmpty)
        ledger.members[3] = Self.member(["v"])
        #expect(ended(after: 123).isEmpty && ended(after: 182).isEmpty && ended(after: 183) == [.endUpstream("u")])
    }

    /// Appends a frame to the log that a member reads.
    private static func append(_ frame: [UInt8], to member: inout MemberMachine, at now: Moment) {
        _ = member.arrived(StoredFrame(position: member.position + 1, bytes: frame), at: now)
    }

    private static func write(_ member: inout MemberMachine, at now: Moment) {
        var outbox = Outbox(limit: 1 << 20)
        while let bytes = member.nextFrame(from: &outbox, at: now) { append(bytes, to: &member, at: now) }
    }

    /// A member with the upstream `v` that has joined an epoch.
    private static func joined(at start: Moment) -> MemberMachine {
        let info = MemberInfo(name: "a", version: "1", upstreams: ["v"])
        var member = MemberMachine(info: info, seed: 1, groups: 1)
        _ = member.connected(at: start)
        _ = member.logInspected(LogGeneration(created: "g", first: 1, last: 0), at: start)
        let epoch = ClusterFrame(kind: .epoch, member: 9, epoch: 7, previous: 0, digest: 0, counter: 0, payload: [1])
        append(epoch.bytes, to: &member, at: start)
        write(&member, at: start)
        return member
    }

    /// The member 9 writes a frame.
    private static func write(
        _ records: [ClusterRecord],
        _ counter: UInt64,
        to member: inout MemberMachine,
        _ now: Moment
    ) {
        append(member.frame(of: 9, counter: counter, records), to: &member, at: now)
    }

    @Test func aMemberWritesTheEndOfAnUpstream() {
        let start = Moment.zero + .seconds(1)
        var member = Self.joined(at: start)
        let join = ClusterRecord.join(MemberInfo(name: "b", version: "1", upstreams: ["u"]))
        Self.write([join] + Self.records(of: 9), 1, to: &member, start)
        let kept = member.ledger?.specified.count
        #expect(kept == 2)
        for time in [start, start + .seconds(3600)] {
            _ = member.timePassed(at: time)
            Self.write(&member, at: time)
        }
        let left = member.ledger?.specified.count
        #expect(left == 0)
    }

    @Test func whatHasNoOwnerGoesToAMemberThatGetsTheUpstream() {
        var ledger = Self.ledger()
        var effects: [LedgerEffect] = []
        ledger.apply(.upstreams(["u", "v"]), by: 2, &effects)
        #expect(effects == [.assigned("t", to: 2), .inherited("c", by: 2), .inherited("s", by: 2)])
        #expect(ledger.topics.byID["t"]?.owner == 2 && ledger.lostUpstreams.isEmpty)
    }

    @Test func aMemberWritesTheUpstreamsOfAReloadOnceAllMembersHaveOneVersion() {
        let start = Moment.zero + .seconds(1)
        var member = Self.joined(at: start)
        Self.write([.join(MemberInfo(name: "b", version: "2", upstreams: ["v"]))], 1, to: &member, start)
        member.addReader("t", SharedTopicKey(upstream: "u", properties: Self.properties))
        member.configurationChanged(5, upstreams: ["v", "u"])
        _ = member.timePassed(at: start)
        Self.write(&member, at: start)
        let (number, early) = (member.member, member.ledger?.topics.byID["t"])
        #expect(early != nil && early?.owner == nil)
        Self.write([.remove(9)], 2, to: &member, start)
        _ = member.timePassed(at: start)
        Self.write(&member, at: start)
        let (owner, position) = (member.ledger?.topics.byID["t"]?.owner, member.position)
        #expect(owner == number)
        // Once.
        _ = member.timePassed(at: start)
        Self.write(&member, at: start)
        let last = member.position
        #expect(last == position)
    }

    /// The member has not dropped its interest in the subscription that has ended.
    @Test func aReaderOfASubscriptionThatHasEndedWithItsUpstreamAddsItAgain() {
        let start = Moment.zero + .seconds(1)
        var member = Self.joined(at: start)
        let key = SharedTopicKey(upstream: "u", properties: Self.properties)
        member.addReader("t", key)
        Self.write(&member, at: start)
        let join = ClusterRecord.join(MemberInfo(name: "b", version: "1", upstreams: ["v"]))
        Self.write([join, .endUpstream("u")], 1, to: &member, start)
        let ended = member.ledger?.topics.byID["t"]
        #expect(ended == nil)
        member.addReader("t", key)
        Self.write(&member, at: start)
        let (topic, number) = (member.ledger?.topics.byID["t"], member.member)
        #expect(topic?.interested == [number])
    }

    /// A member of an earlier version, which skips the records, may join before they are in the log.
    @Test func recordsHaveNoEffectWhileMembersHaveDifferentVersions() {
        var ledger = Self.ledger()
        ledger.members[3] = Self.member(["w"], version: "0")
        let before = ledger
        var effects: [LedgerEffect] = []
        for record in [ClusterRecord.endUpstream("u"), .upstreams(["u", "v"])] {
            ledger.apply(record, by: 2, &effects)
        }
        #expect(effects.isEmpty && ledger == before)
    }

    @Test func aMemberWritesItsUpstreamsAgainIfTheyHadNoEffect() {
        let start = Moment.zero + .seconds(1)
        var member = Self.joined(at: start)
        let number = member.member
        member.configurationChanged(5, upstreams: ["v", "u"])
        _ = member.timePassed(at: start)
        var outbox = Outbox(limit: 1 << 20)
        let late = member.nextFrame(from: &outbox, at: start)
        #expect(late != nil)
        Self.write([.join(MemberInfo(name: "b", version: "0", upstreams: ["v"]))], 1, to: &member, start)
        // The frame in flight is not written again.
        _ = member.timePassed(at: start)
        if let late { Self.append(late, to: &member, at: start) }
        let early = member.ledger?.members[number]?.info.upstreams
        #expect(early == ["v"])
        Self.write([.remove(9)], 2, to: &member, start)
        _ = member.timePassed(at: start)
        Self.write(&member, at: start)
        let upstreams = member.ledger?.members[number]?.info.upstreams
        #expect(upstreams == ["v", "u"])
    }
}

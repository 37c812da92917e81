import Changes
import Primitives
import SessionCore
import Testing

@testable import Replication

/// The bytes of a format do not change: members of other builds read them.
struct GoldenFormatTests {
    private static let key = RecordKey(high: 1, low: 2)
    private static let layout = SubscriptionLayout(itemNames: ["i"], fieldNames: ["a", "b"], fieldCount: 2)

    private static var properties: SubscriptionProperties {
        var properties = SubscriptionProperties(mode: .merge, items: .list(["i"]), fields: .group("g"))
        properties.dataAdapter = "A"
        properties.requestedSnapshot = .yes
        properties.requestedMaxFrequency = .limited(2.5)
        return properties
    }

    private static var update: ItemUpdate {
        ItemUpdate(
            layout: layout,
            itemPos: 1,
            isSnapshot: true,
            values: ["x", nil],
            changed: FieldSet(all: 2),
            patches: [1: "[]"]
        )
    }

    /// One record of each kind, by name.
    private static var records: [(name: String, record: ClusterRecord)] {
        let topic = SharedTopicKey(upstream: "u", properties: properties)
        let use = TicketUse(key: key, epoch: 3, issuedAt: 4)
        let specification = ResourceSpecification(group: "g", upstream: "u", owner: "o", content: [1])
        let claim = CreditClaim(
            upstream: "u",
            number: 7,
            missing: UpstreamCredits(items: 1),
            requested: UpstreamCredits(sessions: 1, subscriptions: 2, items: 3),
            isOptional: true,
            limits: UpstreamCredits(sessions: 4, subscriptions: 5, items: 6)
        )
        let demand = QuotaDemand(QuotaUnit(quota: "q", id: "i"), size: 2, limits: QuotaLimits(count: 3, size: nil))
        return [
            ("join", .join(MemberInfo(name: "n", version: "1", upstreams: ["u"]))), ("remove", .remove(5)),
            ("want", .addInterest(id: "s", topic)), ("unwant", .removeInterest(id: "s")),
            ("retire", .retire(id: "s", term: 300)),
            ("added", .change(.subscription("s", .added(properties)), term: 0)),
            ("update", .change(.subscription("s", .event(.update(update))), term: 300)),
            ("status", .change(.client("c", .event(.status(.stalled))), term: 0)),
            ("numbered", .change(.subscription("s", .event(.endOfSnapshot(itemPos: 2))), term: 9, number: 8)),
            ("session", .session(client: "c", OfferedUpstreamSession(content: [0, 255], processed: 300))),
            ("number", .upstreamNumber(id: "s", term: 300, number: 7)), ("specify", .specify(id: "s", specification)),
            ("ticket", .ticket(.open(TicketOpening(use: use, target: key, isResumed: true)))),
            ("stream", .stream(.prepare(id: "t", specification))),
            ("begin", .request(.begin(key, body: key, expired: 9))), ("answer", .request(.answer(key, [1, 2]))),
            ("quota", .quota(.claim([demand], number: 6))), ("credit", .credit(.claim(claim))),
            ("end", .endUpstream("u")), ("upstreams", .upstreams(["u"])), ("part", .part([1, 2], isLast: true)),
        ]
    }

    private func hex(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef")
        return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }

    @Test
    func recordsHaveTheBytesOfFormat2() throws {
        for (name, record) in Self.records {
            #expect(GoldenFormat2.records[name] == hex(record.body), "\(name)")
            #expect(try ClusterRecord.read(record.body[...]) { _ in Self.layout } == record, "\(name)")
        }
        #expect(GoldenFormat2.records.count == Self.records.count)
    }

    @Test
    func framesAndMessagesHaveTheBytesOfFormat2() throws {
        let frame = ClusterFrame(
            format: 2,
            member: 1,
            epoch: 2,
            previous: 3,
            digest: 4,
            counter: 5,
            payload: ClusterRecord.removeInterest(id: "s").encoded[...]
        )
        #expect(hex(frame.bytes) == GoldenFormat2.frame)
        #expect(ClusterFrame(frame.bytes) == frame)
        var heartbeat = Heartbeat(
            process: 1,
            member: 2,
            epoch: 3,
            position: 4,
            sentAt: Moment(nanoseconds: 5),
            configuration: 6,
            formats: Formats(2, 2)
        )
        heartbeat.rates = [RateUse(name: "a", rate: 2.5, burst: 4, admitted: 3, attempts: 300)]
        let former = [2] + heartbeat.bytes.dropFirst().dropLast()
        #expect(hex(former) == GoldenFormat2.heartbeat)
        #expect(Heartbeat(former) == heartbeat)
        heartbeat.digest = 7
        #expect(hex(heartbeat.bytes) == GoldenFormat2.heartbeatWithDigest)
        #expect(Heartbeat(heartbeat.bytes) == heartbeat)
        #expect(Heartbeat(heartbeat.bytes + [1]) == heartbeat, "later formats have more fields")
        #expect(hex(Formats.wire.bytes(Formats(2, 2))) == GoldenFormat2.stateRequest)
    }

    private static var snapshot: ClusterSnapshot {
        var ledger = ClusterLedger(epoch: 7, position: 1, groups: 2)
        let records = [
            Self.records[0].record, .addInterest(id: "s", SharedTopicKey(upstream: "u", properties: Self.properties)),
        ]
        let frame = ClusterFrame(
            format: 2,
            member: 3,
            epoch: 7,
            previous: 1,
            digest: 0,
            counter: 1,
            payload: records.flatMap(\.encoded)[...]
        )
        _ = ledger.apply(StoredFrame(position: 2, bytes: frame.bytes))
        return ClusterSnapshot(created: "c", ledger: ledger, tables: [:])
    }

    @Test
    func snapshotHasTheBytesOfFormat2() throws {
        let snapshot = Self.snapshot
        #expect(hex(snapshot.bytes(in: 2)) == GoldenFormat2.snapshot)
        #expect(try ClusterSnapshot(snapshot.bytes(in: 2)) == snapshot)
    }

    @Test
    func snapshotHasTheBytesOfFormat3() throws {
        var snapshot = Self.snapshot
        snapshot.past = ClusterPast(lastEvents: ["s": [300]], additions: ["t": 2])
        #expect(hex(snapshot.bytes(in: 3)) == "03" + GoldenFormat2.snapshot.dropFirst(2) + GoldenFormat2.past)
        #expect(try ClusterSnapshot(snapshot.bytes(in: 3)) == snapshot)
        // Members of former builds read what they know.
        #expect(hex(snapshot.bytes(in: 2)) == GoldenFormat2.snapshot)
        #expect(throws: CodingError.self) { try ClusterSnapshot(snapshot.bytes(in: 3), among: Formats(2, 2)) }
    }
}

import Changes
import SessionCore
import TestSupport
import Testing

@testable import Replication

struct PreparedStreamRecordTests {
    private static let specification = ResourceSpecification(
        group: "t1",
        upstream: nil,
        owner: "key:a",
        content: [1, 2]
    )

    @Test(arguments: [
        PreparedStreamRecord.prepare(id: "t1", specification), .open(id: "t1"), .close(id: ""),
        .remove(id: "t1", evenIfOpen: true), .remove(id: "t1", evenIfOpen: false),
    ])
    func recordIsReadAsItWasWritten(record: PreparedStreamRecord) throws {
        let body = ClusterRecord.stream(record).body
        let read = try ClusterRecord.read(body[...], layout: { _ in nil })
        #expect(read == .stream(record))
        for count in 1..<body.count {
            #expect(throws: CodingError.self) { try ClusterRecord.read(body[..<count], layout: { _ in nil }) }
        }
    }

    @Test
    func definitionIsReadAsItWasWritten() throws {
        let key = SharedTopicKey(
            upstream: "demo",
            properties: SubscriptionProperties(mode: .merge, items: .list(["i"]), fields: .list(["f"]))
        )
        var request = StreamRequest(sources: [.subscription("s1"), .client("c1", withSubscriptions: true)])
        request.sources.append(.subscription("s2"))
        request.conflates = false
        request.maxFrequency = 2.5
        request.sendsAllFields = true
        request.includesLegacy = true
        request.typed = ["s1"]
        let definition = StreamDefinition(request: request, shared: ["s1": key])
        let read = try StreamDefinition(definition.bytes)
        #expect(read.request.sources == request.sources && read.shared == ["s1": key])
        #expect(!read.request.conflates && read.request.maxFrequency == 2.5)
        #expect(read.request.sendsAllFields && read.request.includesLegacy && read.request.typed == ["s1"])
        for count in 0..<definition.bytes.count {
            #expect(throws: CodingError.self) { try StreamDefinition(Array(definition.bytes.prefix(count))) }
        }
    }

    @Test
    func furtherSourcesOfAStreamAreNoticed() {
        var ledger = ClusterLedger(epoch: 1, position: 1, groups: 1)
        func prepare(_ sources: [StreamSource]) -> [LedgerEffect] {
            var specification = Self.specification
            specification.content = StreamDefinition(request: StreamRequest(sources: sources), shared: [:]).bytes
            var effects: [LedgerEffect] = []
            ledger.apply(PreparedStreamRecord.prepare(id: "t1", specification), by: 1, &effects)
            return effects
        }
        let (first, second) = (StreamSource.subscription("s1"), StreamSource.subscription("s2"))
        #expect(prepare([first]) == [])
        #expect(prepare([second, first]) == [.sourcesAdded("t1")])
        #expect(prepare([second, first]) == [])
        #expect(prepare([first]) == [])
        #expect(prepare([second]) == [.sourcesAdded("t1")])
    }

    @Test
    func streamIsOpenedOnceAndRemovedByItsOwner() {
        var ledger = ClusterLedger(epoch: 1, position: 1, groups: 1)
        func apply(_ record: PreparedStreamRecord, by member: UInt64) -> [LedgerEffect] {
            var effects: [LedgerEffect] = []
            ledger.apply(record, by: member, &effects)
            return effects
        }
        func decided(_ outcome: RecordOutcome, by member: UInt64) -> LedgerEffect {
            .order(.report(.stream("t1"), outcome), to: member)
        }
        #expect(apply(.open(id: "t1"), by: 1) == [decided(.unknown, by: 1)])
        #expect(apply(.prepare(id: "t1", Self.specification), by: 1) == [])
        #expect(apply(.open(id: "t1"), by: 2) == [.streamLost("t1", by: 1), decided(.accepted, by: 2)])
        #expect(apply(.open(id: "t1"), by: 1) == [decided(.refused, by: 1)])
        #expect(apply(.prepare(id: "t1", Self.specification), by: 1) == [.streamLost("t1", by: 1)])
        // Neither another member nor an expiry that came too late changes it.
        _ = apply(.close(id: "t1"), by: 1)
        _ = apply(.remove(id: "t1", evenIfOpen: true), by: 1)
        _ = apply(.remove(id: "t1", evenIfOpen: false), by: 2)
        #expect(ledger.specified["t1"]?.isOpen == true)
        let snapshot = ClusterSnapshot(created: "x", ledger: ledger, tables: [:])
        let copy = try? ClusterSnapshot(snapshot.bytes(in: 2))
        #expect(copy == snapshot)
        _ = apply(.close(id: "t1"), by: 2)
        #expect(apply(.open(id: "t1"), by: 2) == [decided(.accepted, by: 2)])
        // The owner may have recreated it when the log opened it.
        #expect(apply(.remove(id: "t1", evenIfOpen: true), by: 2) == [.streamLost("t1", by: 2)])
        #expect(ledger.specified["t1"] == nil)
    }
}

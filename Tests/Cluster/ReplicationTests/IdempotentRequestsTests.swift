import Testing

@testable import Replication

struct IdempotentRequestsTests {
    private static func key(_ number: UInt64) -> RecordKey { RecordKey(high: 5, low: number) }
    private static let body = RecordKey(high: 1, low: 1)

    private static func begin(
        _ requests: inout IdempotentRequests,
        _ number: UInt64,
        body: RecordKey = body,
        expired: UInt64 = 0,
        by member: UInt64 = 1
    ) -> RecordOutcome {
        requests.begin(key(number), body: body, expired: expired, by: member, at: number)
    }

    @Test
    func requestIsPerformedOnce() {
        var requests = IdempotentRequests()
        #expect(Self.begin(&requests, 1) == .accepted)
        #expect(Self.begin(&requests, 1, by: 2) == .pending)
        #expect(Self.begin(&requests, 1, body: Self.key(9), by: 2) == .refused)
        requests.answer(Self.key(1), [7], by: 2)
        let isPending = requests.isPending(Self.key(1))
        #expect(isPending)
        requests.answer(Self.key(1), [1], by: 1)
        requests.answer(Self.key(1), [2], by: 1)
        requests.abandon(Self.key(1), by: 1)
        requests.abandonAll(by: 1)
        #expect(Self.begin(&requests, 1, by: 2) == .answered([1]))
        #expect(Self.begin(&requests, 1, expired: 9, by: 2) == .answered([1]))
        #expect(Self.begin(&requests, 1, expired: 1, by: 2) == .accepted)
    }

    @Test
    func requestIsRepeatedWhenItsMemberGivesUpOrIsGone() {
        var requests = IdempotentRequests()
        _ = Self.begin(&requests, 1)
        requests.abandon(Self.key(1), by: 2)
        #expect(Self.begin(&requests, 1, by: 2) == .pending)
        requests.abandon(Self.key(1), by: 1)
        #expect(Self.begin(&requests, 1, by: 2) == .accepted)
        requests.abandonAll(by: 1)
        #expect(Self.begin(&requests, 1, by: 1) == .pending)
        requests.abandonAll(by: 2)
        #expect(Self.begin(&requests, 1, by: 1) == .accepted)
    }

    @Test
    func numberAndBytesAreBounded() {
        var requests = IdempotentRequests()
        for number in 0..<UInt64(IdempotentRequests.limit + 1) { _ = Self.begin(&requests, number) }
        #expect(requests.entries.count <= IdempotentRequests.limit)
        #expect(requests.entries[Self.key(0)] == nil)
        #expect(requests.entries[Self.key(UInt64(IdempotentRequests.limit))] != nil)
        requests = IdempotentRequests()
        let answer = [UInt8](repeating: 0, count: IdempotentRequests.byteLimit / 8)
        for number in 0..<10 as Range<UInt64> {
            _ = Self.begin(&requests, number)
            requests.answer(Self.key(number), answer, by: 1)
        }
        let bytes = requests.entries.values.reduce(0) { $0 + ($1.answer?.count ?? 0) }
        #expect(bytes <= IdempotentRequests.byteLimit && requests.entries[Self.key(9)] != nil)
    }

    @Test(arguments: [
        RequestRecord.begin(key(1), body: key(2), expired: 3), .answer(key(1), [1, 2]), .abandon(key(1)),
    ])
    func recordIsReadAsItWasWritten(record: RequestRecord) throws {
        let body = ClusterRecord.request(record).body
        let read = try ClusterRecord.read(body[...], layout: { _ in nil })
        #expect(read == .request(record))
        for count in 1..<body.count {
            #expect(throws: CodingError.self) { try ClusterRecord.read(body[..<count], layout: { _ in nil }) }
        }
    }

    @Test
    func newcomersKnowTheRequests() throws {
        var ledger = ClusterLedger(epoch: 1, position: 1, groups: 1)
        var effects: [LedgerEffect] = []
        for number in 1...3 as ClosedRange<UInt64> {
            ledger.apply(.begin(Self.key(number), body: Self.body, expired: 0), by: 1, &effects)
        }
        ledger.apply(.answer(Self.key(2), [4]), by: 1, &effects)
        ledger.apply(.begin(Self.key(2), body: Self.body, expired: 0), by: 2, &effects)
        #expect(effects.last == .decided(.request(Self.key(2), body: Self.body), by: 2, .answered([4])))
        let snapshot = ClusterSnapshot(created: "x", ledger: ledger, tables: [:])
        let copy = try ClusterSnapshot(snapshot.bytes(in: 2))
        #expect(copy == snapshot)
    }

    /// Another member must not find a resource without the answer to the request that made it, nor the reverse.
    @Test
    func answerIsInTheFrameOfTheSpecification() {
        var outbox = Outbox(limit: 1 << 20)
        outbox.open()
        let specification = ResourceSpecification(group: "s1", upstream: nil, content: [1])
        let answer = ClusterRecord.request(.answer(Self.key(1), [2]))
        _ = outbox.specify("s1", specification, with: answer)
        let frame = outbox.takeRecords(atMost: 1, bytes: 1)
        let expected = ClusterRecord.specify(id: "s1", specification).encoded + answer.encoded
        #expect(Array(frame) == expected)
        _ = outbox.specify("s1", specification, with: answer)
        let repeated = outbox.takeRecords(atMost: 1, bytes: 1)
        let isEmpty = outbox.isEmpty
        #expect(Array(repeated) == answer.encoded && isEmpty)
    }
}

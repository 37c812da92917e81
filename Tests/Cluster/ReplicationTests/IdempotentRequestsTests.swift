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

    /// A ledger with two members.
    private static func ledger(versions: [String]) -> ClusterLedger {
        var ledger = ClusterLedger(epoch: 1, position: 1, groups: 1)
        for (member, version) in zip([1, 2] as [UInt64], versions) {
            let info = MemberInfo(name: "\(member)", version: version, upstreams: [])
            ledger.members[member] = ClusterLedger.Member(info: info, joinedAt: 1, counter: 1)
        }
        return ledger
    }

    /// Performs a request of a caller in a frame of its own.
    private static func perform(
        _ number: UInt64,
        of caller: UInt64,
        answer: [UInt8] = [1],
        in ledger: inout ClusterLedger
    ) {
        var effects: [LedgerEffect] = []
        ledger.position += 1
        let body = RecordKey(high: caller, low: 1)
        ledger.apply(.begin(key(number), body: body, expired: 0), by: 1, &effects)
        ledger.apply(.answer(key(number), answer), by: 1, &effects)
    }

    @Test(arguments: [["1", "1"], ["1", "2"]])
    func numberAndBytesAreBounded(versions: [String]) {
        var ledger = Self.ledger(versions: versions)
        for number in 0..<UInt64(IdempotentRequests.limit + 1) { Self.perform(number, of: 1, in: &ledger) }
        #expect(ledger.requests.entries.count <= IdempotentRequests.limit)
        #expect(ledger.requests.entries[Self.key(0)] == nil)
        #expect(ledger.requests.entries[Self.key(UInt64(IdempotentRequests.limit))] != nil)
        ledger.requests = IdempotentRequests()
        let answer = [UInt8](repeating: 0, count: IdempotentRequests.byteLimit / 8)
        for number in 0..<10 as Range<UInt64> { Self.perform(number, of: 1, answer: answer, in: &ledger) }
        let bytes = ledger.requests.entries.values.reduce(0) { $0 + ($1.answer?.count ?? 0) }
        #expect(bytes <= IdempotentRequests.byteLimit && ledger.requests.entries[Self.key(9)] != nil)
    }

    @Test(arguments: [1, 1 << 20])
    func aCallerWithManyRequestsDoesNotDropThoseOfOthers(size: Int) {
        var ledger = Self.ledger(versions: ["1", "1"])
        for number in 0..<100 as Range<UInt64> { Self.perform(number, of: 1, in: &ledger) }
        let many = size == 1 ? 3 * UInt64(IdempotentRequests.limit) : 100
        let answer = [UInt8](repeating: 0, count: size)
        for number in 100..<100 + many { Self.perform(number, of: 2, answer: answer, in: &ledger) }
        let entries = ledger.requests.entries
        #expect((0..<100).allSatisfy { entries[Self.key($0)] != nil })
        #expect(entries[Self.key(100)] == nil && entries[Self.key(99 + many)] != nil)
    }

    @Test
    func aLargeResponseDropsNoRequestsOfOthers() {
        var ledger = Self.ledger(versions: ["1", "1"])
        for number in 0..<100 as Range<UInt64> { Self.perform(number, of: 1, in: &ledger) }
        let answer = [UInt8](repeating: 0, count: IdempotentRequests.byteLimit / 16 * 9)
        for caller in 2..<4 as Range<UInt64> { Self.perform(100 + caller, of: caller, answer: answer, in: &ledger) }
        let entries = ledger.requests.entries
        #expect(entries.count == 101 && entries[Self.key(102)] == nil)
    }

    /// As members of an earlier version, which keep the same requests.
    @Test
    func onlyRequestsAndResponsesThatTheLogTakesDropOthers() {
        var ledger = Self.ledger(versions: ["1", "2"])
        for number in 0..<4 as Range<UInt64> { Self.perform(number, of: 1, in: &ledger) }
        let answer = [UInt8](repeating: 0, count: 2 * IdempotentRequests.byteLimit)
        Self.perform(4, of: 1, answer: answer, in: &ledger)
        let kept = ledger.requests.entries
        #expect(ledger.requests.exceedLimits)
        var effects: [LedgerEffect] = []
        for record: RequestRecord in [
            .abandon(Self.key(9)), .answer(Self.key(9), [1]), .begin(Self.key(4), body: Self.key(7), expired: 0),
        ] {
            ledger.apply(record, by: 2, &effects)
        }
        #expect(ledger.requests.entries == kept)
    }

    /// Members of an earlier version know no shares: each of their requests counts for itself.
    @Test
    func theOldestRequestsAreDroppedAmongThoseWithoutACaller() {
        var ledger = Self.ledger(versions: ["1", "1"])
        let count = UInt64(IdempotentRequests.limit + 1)
        for number in 0..<count { Self.perform(number, of: .max - number, in: &ledger) }
        let kept = UInt64(IdempotentRequests.limit / 4 * 3)
        #expect(Set(ledger.requests.entries.keys) == Set((count - kept..<count).map(Self.key)))
    }

    @Test
    func requestsHaveTheCallerOnceAllMembersHaveOneVersion() {
        let (digest, shared) = (RecordKey(high: 8, low: 9), RecordKey(high: 3, low: 9))
        for versions in [["1", "1"], ["1", "2"]] {
            var ledger = Self.ledger(versions: versions)
            let isShared = versions[0] == versions[1]
            #expect(ledger.digest(digest, of: 3, for: Self.key(1)) == (isShared ? shared : digest))
            // Repetitions after the last member of the earlier version has left, after one has joined, or from another address.
            for first in [digest, shared, RecordKey(high: 5, low: 9)] {
                var effects: [LedgerEffect] = []
                ledger.requests = IdempotentRequests()
                ledger.apply(.begin(Self.key(1), body: first, expired: 0), by: 1, &effects)
                #expect(ledger.digest(digest, of: 3, for: Self.key(1)) == first)
            }
        }
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
        #expect(effects.last == .order(.report(.request(Self.key(2), body: Self.body), .answered([4])), to: 2))
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

internal import StreamIO
internal import Testing

@testable internal import MicroHTTPD

@Suite struct SharedTurnsTests {
    private func write(_ slots: Range<Int>) -> SharedWrite {
        SharedWrite(streams: slots.map { StreamID(slot: $0, generation: 0) }, pieces: [])
    }

    /// The remaining turns, removed in slices of a size.
    private func drain(_ turns: inout SharedTurns, _ limit: Int) -> [Int] {
        var slots: [Int] = []
        while let slice = turns.next(atMost: limit) {
            #expect(slice.turns.count <= limit)
            slots += slice.turns.map { Int(slice.stream(at: $0).slot) }
        }
        return slots
    }

    @Test(arguments: [1, 2, 3, 7, 100])
    func everyStreamHasOneTurnForEachWrite(limit: Int) {
        var turns = SharedTurns()
        turns.begin([write(0..<5), write(0..<0), write(10..<17)])
        #expect(!turns.isEmpty)
        let slots = drain(&turns, limit)
        #expect(Set(slots.prefix(5)) == Set(0..<5))
        #expect(Set(slots.dropFirst(5)) == Set(10..<17))
        #expect(slots.count == 12)
        #expect(turns.isEmpty)
    }

    @Test func noStreamIsAlwaysTheLast() {
        var turns = SharedTurns()
        var last: Set<Int> = []
        for _ in 0..<50 {
            turns.begin([write(0..<10)])
            if let slot = drain(&turns, 100).last { last.insert(slot) }
        }
        #expect(last == Set(0..<10))
    }
}

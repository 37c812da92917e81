internal import TLCP
internal import Testing

struct FieldSetTests {
    @Test(arguments: [0, 1, 63, 64, 65, 127, 128, 129, 300])
    func setOfAllPositionsHoldsExactlyThose(count: Int) {
        var inserted = FieldSet()
        for position in 0..<count { inserted.insert(position + 1) }
        let all = FieldSet(all: count)
        #expect(all == inserted)
        #expect(all.count == count)
        #expect(all.positions == Array(0..<count).map { $0 + 1 })
        #expect(!all.contains(0))
        #expect(!all.contains(count + 1))
    }

    @Test func removedPositionsLeaveNoTrace() {
        var set = FieldSet()
        set.insert(3)
        let small = set
        set.insert(200)
        set.remove(200)
        set.remove(-1)
        set.remove(999)
        #expect(set == small)
        set.remove(3)
        #expect(set.isEmpty)
    }

    @Test func unionHoldsBoth() {
        var set = FieldSet(all: 2)
        var other = FieldSet()
        other.insert(70)
        set.formUnion(other)
        #expect(set.positions == [1, 2, 70])
    }
}

internal import Testing

@testable internal import TLCP

struct FieldPositionsTests {
    @Test(arguments: [[], [1], [64], [65], [1, 64, 65, 128, 129, 200]])
    func holdsWhatWasInserted(positions: [Int]) {
        var set = FieldPositions()
        for position in positions { set.insert(position) }
        #expect(Array(set) == positions)
        #expect(set.isEmpty == positions.isEmpty)
        #expect(!set.contains(0) && !set.contains(-1) && !set.contains(1000))
    }

    @Test func allMeansEveryPosition() {
        #expect(Array(FieldPositions(all: 70)) == Array(1...70))
        #expect(FieldPositions(all: 0).isEmpty)
    }
}

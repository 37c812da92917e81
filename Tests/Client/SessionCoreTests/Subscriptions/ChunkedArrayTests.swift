internal import Testing

@testable internal import SessionCore

struct ChunkedArrayTests {
    @Test(arguments: [0, 1, 63, 64, 65, 130], [0, 1, 64, 127, 128, 200, 1_000])
    func itGrowsToANumberOfElements(former: Int, count: Int) {
        var array = ChunkedArray<Int>()
        for element in 0..<former { array.append(element) }
        array.grow(to: count, with: -1)
        let model = Array(0..<former) + Array(repeating: -1, count: max(0, count - former))
        #expect(array.count == model.count)
        #expect(array.indices.map { array[$0] } == model)
    }

    @Test func elementsThatShareMemoryChangeOneByOne() {
        var array = ChunkedArray<Int>()
        array.grow(to: 1 << 20, with: 0)
        array[(1 << 20) - 1] = 1
        array[64] = 2
        array.append(3)
        let others = array.indices.filter { array[$0] != 0 }
        #expect(others == [64, (1 << 20) - 1, 1 << 20])
    }
}

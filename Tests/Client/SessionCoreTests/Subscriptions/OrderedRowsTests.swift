internal import Testing

@testable internal import SessionCore

struct OrderedRowsTests {
    @Test func behavesLikeAnOrderedListOfPairs() {
        var rows = OrderedRows<Int>()
        var model: [(key: String, row: Int)] = []
        var state: UInt64 = 88172_645463325252
        for step in 0..<5_000 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            let key = "k\(state % 40)"
            if state >> 20 & 1 == 0 {
                rows[key] = nil
                model.removeAll { $0.key == key }
            } else {
                rows[key] = step
                if let index = model.firstIndex(where: { $0.key == key }) {
                    model[index].row = step
                } else {
                    model.append((key, step))
                }
            }
            #expect(rows.keys == model.map(\.key))
        }
        var walked: [Int] = []
        rows.forEach { walked.append($1) }
        #expect(walked == model.map(\.row))
    }
}

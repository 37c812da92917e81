internal import Testing

@testable internal import SessionCore

struct DueQueueTests {
    @Test(arguments: 1...5 as ClosedRange<UInt64>)
    func behavesLikeASortedSet(seed: UInt64) {
        var queue = DueQueue<Int>()
        var model: Set<Int> = []
        var state = seed &* 0x9E37_79B9_7F4A_7C15
        for _ in 0..<3_000 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            let id = Int(state >> 40) % 50
            switch state % 3 {
            case 0: #expect(queue.insert(id) == model.insert(id).inserted)
            case 1:
                queue.remove(id)
                model.remove(id)
            default:
                let first = queue.first()
                #expect(first == model.min())
                if let first {
                    queue.remove(first)
                    model.remove(first)
                }
            }
            #expect(queue.isEmpty == model.isEmpty)
        }
        queue.removeAll()
        #expect(queue.first() == nil)
    }
}

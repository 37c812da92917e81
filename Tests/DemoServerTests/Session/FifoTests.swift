internal import Testing

@testable internal import DemoServer

struct FifoTests {
    @Test func positionsStayWhileElementsComeAndGo() {
        var fifo = Fifo<Int>()
        for number in 0..<200 { fifo.append(number) }
        let popped = (0..<150).compactMap { _ in fifo.popFirst() }
        #expect(popped == Array(0..<150))
        #expect(fifo[position: 160] == 160 && fifo[position: 149] == nil && fifo[position: 200] == nil)
        fifo[position: 160] = -1
        fifo[position: 3] = 7
        let removed = fifo.removeFirst { $0 < 0 }
        #expect(removed == -1)
        #expect(fifo.count == 49 && fifo.first == 150)
        fifo.keep { $0 % 2 == 0 }
        #expect(fifo.elements == Array(stride(from: 150, to: 200, by: 2)).filter { $0 != 160 })
    }
}

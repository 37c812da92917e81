internal import Testing

@testable internal import DemoServer

struct NotificationLogTests {
    @Test func sentLogIsBoundedByBytesAndAge() {
        var log = NotificationLog(maxBytes: 100, maxAge: .seconds(10))
        for number in 1...30 { log.append(Array("line-\(number % 10)\r\n".utf8), at: .seconds(number / 10)) }
        #expect(log.progressive == 30 && log.earliestRestart == 18)
        #expect(log.lines(after: 17) == nil && log.lines(after: 31) == nil)
        #expect(log.lines(after: 28)?.count == 2)
        log.append(Array("x".utf8), at: .seconds(60))
        #expect(log.earliestRestart == 30)
        while !log.isWritten { log.written() }
        log.confirm()
        #expect(log.lines(after: 31) == [] && log.lines(after: 30) == nil)
    }
}

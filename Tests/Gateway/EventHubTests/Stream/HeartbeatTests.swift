internal import Changes
internal import SessionCore
internal import TestSupport
internal import Testing

@testable import EventHub

@Suite struct HeartbeatTests {
    @Test(arguments: EventFormat.allCases)
    func silentStreamsSendHeartbeats(format: EventFormat) throws {
        let harness = HubHarness.with()
        let stream = try harness.open(.subscription("s")) { $0.format = format }
        let before = stream.bytes.count
        var last = harness.now
        var gaps: [Duration] = []
        for _ in 0..<60 {
            harness.advance(.seconds(1))
            let count = stream.bytes.count
            if let wakeAt = stream.wakeAt, wakeAt <= harness.now { harness.visitAll() }
            guard stream.bytes.count > count else { continue }
            gaps.append(harness.now - last)
            last = harness.now
        }
        #expect(stream.bytes.count > before)
        #expect((4...5).contains(gaps.count))
        #expect(gaps.allSatisfy { $0 <= .seconds(16) })
        let names = try stream.names
        #expect(names == (format == .ndjson ? Array(repeating: "heartbeat", count: gaps.count) : []))
    }

    @Test func activeStreamNeedsNoHeartbeat() throws {
        let harness = HubHarness.with()
        let stream = try harness.open(.subscription("s"))
        for number in 0..<60 {
            harness.advance(.seconds(1))
            harness.deliver(SubscriptionProperties.quotes.update(["\(number)", "", ""]))
            if let wakeAt = stream.wakeAt, wakeAt <= harness.now { harness.visitAll() }
        }
        #expect(try !stream.text.contains("\n:"))
    }

    @Test func streamsThatBeginTogetherAreSpread() throws {
        let harness = HubHarness.with()
        let streams = try (0..<50).map { _ in try harness.open(.subscription("s")) }
        #expect(Set(streams.compactMap(\.wakeAt)).count > 40)
    }
}

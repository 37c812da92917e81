internal import Changes
internal import SessionCore
internal import TestSupport
internal import Testing

@testable import EventHub

@Suite struct ConcurrencyTests {
    @Test func publishersOnOtherThreadsLoseNothingAndKeepTheirOrder() async throws {
        let harness = HubHarness()
        let properties = SubscriptionProperties.quotes
        let publishers = 3
        let events = 400
        for index in 0..<publishers { harness.addSubscription("s\(index)") }
        let sources = (0..<publishers).map { StreamSource.subscription("s\($0)") }
        var request = StreamRequest(sources: sources)
        request.conflates = false
        let stream = try harness.open(request)
        let hub = harness.hub
        let tasks = (0..<publishers).map { index in
            Task.detached {
                for number in 0..<events {
                    let update = properties.update(["\(number)", "", ""])
                    hub.take(.subscription("s\(index)", .event(update)))
                }
            }
        }
        while stream.subscriber.figures.delivered < UInt64(publishers * events) {
            harness.pass()
            await Task.yield()
        }
        for task in tasks { await task.value }
        let told = try stream.events.dropFirst()
        for index in 0..<publishers {
            let numbers = told.filter { $0["subscription"] == .string("s\(index)") }.map { $0["fields"]?["x"]?.string }
            #expect(numbers == (0..<events).map(String.init))
        }
        let sequences = told.compactMap(\.sequence)
        #expect(sequences == Array(1...UInt64(publishers * events)))
    }
}

internal import Changes
internal import SessionCore
internal import TestSupport
internal import Testing

@testable import EventHub

@Suite struct BroadcastTests {
    private let properties = SubscriptionProperties.quotes

    private func publish(_ harness: HubHarness, _ numbers: Range<Int>, to id: SubscriptionID = "s") {
        for number in numbers { harness.publish(properties.update(["\(number)", "", ""]), to: id) }
    }

    /// The values of the first field, in the order of delivery.
    private func told(_ stream: TestStream) throws -> [String] {
        try stream.events.compactMap { $0["fields"]?["x"]?.string }
    }

    @Test func readersThatKeepUpAreNotVisited() throws {
        let harness = HubHarness.with()
        let streams = try (0..<3).map { _ in try harness.open(.subscription("s")) }
        publish(harness, 0..<4)
        harness.pass()
        publish(harness, 4..<5)
        harness.pass()
        for stream in streams {
            #expect(try told(stream) == ["0", "1", "2", "3", "4"])
            #expect(stream.broadcasts == 2)
        }
    }

    @Test func collectionWithALimitLeavesEventsForMoreStreams() throws {
        let harness = HubHarness()
        for id: SubscriptionID in ["s", "t"] { harness.addSubscription(id) }
        let streams = try (0..<3).map { _ in try harness.open(.subscription("s")) }
        let other = try harness.open(StreamRequest(sources: [.subscription("s"), .subscription("t")]))
        publish(harness, 0..<1)
        #expect(!harness.pass(ifAtMost: 3))
        publish(harness, 1..<2, to: "t")
        #expect(!harness.pass(ifAtMost: 4))
        #expect(harness.pass(ifAtMost: 5))
        for stream in streams { #expect(try told(stream) == ["0"]) }
        #expect(try told(other) == ["0", "1"])
        publish(harness, 2..<3, to: "t")
        #expect(harness.pass(ifAtMost: 1))
        #expect(try told(other) == ["0", "1", "2"])
        #expect(other.broadcasts == 2)
    }

    @Test func collectionWithALimitLeavesStreamsWithChanges() throws {
        let harness = HubHarness()
        for id: SubscriptionID in ["s", "t"] { harness.addSubscription(id) }
        let stream = try harness.open(.subscription("s"))
        publish(harness, 0..<1)
        try harness.hub.change(stream: stream.subscriber.id, add: [.subscription("t")], remove: [])
        #expect(!harness.pass(ifAtMost: 8))
        harness.pass()
        #expect(try stream.events.map(\.name) == ["stream", "update", "stream"])
    }

    @Test func eachVariantGetsItsOwnBytes() throws {
        let harness = HubHarness.with()
        let plain = try harness.open(.subscription("s"))
        let full = try harness.open(.subscription("s")) { $0.sendsAllFields = true }
        let lines = try harness.open(.subscription("s")) { $0.format = .ndjson }
        publish(harness, 0..<1)
        harness.pass()
        for stream in [plain, full, lines] {
            #expect(try told(stream) == ["0"])
            #expect(stream.broadcasts == 1)
        }
        #expect(try plain.events.last?["values"] == nil)
        #expect(try full.events.last?["values"] != nil)
    }

    @Test func aStreamThatOpensBesideNewEventsJoinsTheLiveGroup() throws {
        let harness = HubHarness.with()
        let first = try harness.open(.subscription("s"))
        publish(harness, 0..<1)
        let streams = try (0..<2).map { number in
            try harness.open(.subscription("s")) { $0.format = number == 0 ? .ndjson : .serverSentEvents }
        }
        for number in 1..<4 {
            harness.pass()
            publish(harness, number..<number + 1)
        }
        harness.pass()
        #expect(first.broadcasts == 4)
        #expect(streams.map(\.broadcasts) == [3, 3])
        for stream in streams { #expect(try told(stream).suffix(3) == ["1", "2", "3"]) }
    }

    @Test func readersOfSeveralChannelsReceiveOneOrder() throws {
        let harness = HubHarness.with("s")
        harness.addSubscription("t")
        let both = try harness.open(StreamRequest(sources: [.subscription("s"), .subscription("t")]))
        let one = try harness.open(.subscription("s"))
        publish(harness, 0..<1, to: "t")
        harness.pass()
        #expect(both.broadcasts == 1)
        for number in 1..<7 { publish(harness, number..<number + 1, to: number % 2 == 0 ? "s" : "t") }
        harness.pass()
        #expect(both.broadcasts == 2)
        #expect(one.broadcasts == 1)
        publish(harness, 7..<8)
        harness.pass()
        #expect(try told(both) == (0..<8).map(String.init))
        #expect(try told(one) == ["2", "4", "6", "7"])
        #expect(both.broadcasts == 3)
        #expect(both.subscriber.figures.delivered == 8)
    }

    @Test func readersOfTheSameChannelsShareABroadcast() throws {
        let harness = HubHarness()
        let ids: [SubscriptionID] = ["s", "t", "u"]
        for id in ids { harness.addSubscription(id) }
        let sets: [[SubscriptionID]] = [["s"], ["s", "t"], ["t", "u"], ["s", "t", "u"], ["u"]]
        let streams = try sets.flatMap { set in
            try (0..<3).map { number in
                var request = StreamRequest(sources: set.map { .subscription($0) })
                request.format = number == 0 ? .ndjson : .serverSentEvents
                return (set, try harness.open(request))
            }
        }
        for round in 0..<3 {
            for number in 0..<9 { publish(harness, round * 9 + number..<round * 9 + number + 1, to: ids[number % 3]) }
            harness.pass()
        }
        for (set, stream) in streams {
            #expect(stream.broadcasts == 3)
            let expected = (0..<27).filter { set.contains(ids[$0 % 3]) }
            #expect(try told(stream) == expected.map(String.init))
            #expect(stream.subscriber.figures.delivered == UInt64(expected.count))
        }
    }

    @Test func aBlockedReaderLeavesTheLiveGroupAndCatchesUp() throws {
        let harness = HubHarness.with()
        let stream = try harness.open(.subscription("s")) { $0.conflates = false }
        publish(harness, 0..<2)
        harness.pass()
        stream.isBlocked = true
        publish(harness, 2..<5)
        harness.pass()
        harness.unblock(stream)
        #expect(stream.broadcasts == 1)
        publish(harness, 5..<6)
        harness.pass()
        #expect(stream.broadcasts == 2)
        #expect(try told(stream) == ["0", "1", "2", "3", "4", "5"])
    }

    @Test func aReaderWithAFrequencyLimitHasNoPart() throws {
        let harness = HubHarness.with()
        let stream = try harness.open(.subscription("s")) { $0.maxFrequency = 1000 }
        publish(harness, 0..<1)
        harness.advance(.seconds(1))
        harness.pass()
        #expect(stream.broadcasts == 0)
        #expect(try told(stream) == ["0"])
    }

    @Test func aReaderWithoutChunksHasNoPart() throws {
        let harness = HubHarness.with()
        let stream = try harness.open(StreamRequest(sources: [.subscription("s")]), isChunked: false)
        publish(harness, 0..<1)
        harness.pass()
        #expect(stream.broadcasts == 0)
        #expect(try told(stream) == ["0"])
    }

    @Test func moreThanFitsInOneGoIsReadByEachAlone() throws {
        let harness = HubHarness.with()
        let stream = try harness.open(.subscription("s")) { $0.conflates = false }
        let large = String(repeating: "x", count: 10_000)
        for _ in 0..<10 { harness.publish(properties.update([large, "", ""])) }
        harness.pass()
        #expect(stream.broadcasts == 0)
        #expect(try told(stream).count == 10)
        publish(harness, 0..<1)
        harness.pass()
        #expect(stream.broadcasts == 1)
    }

    @Test func changesHaveTheirPlaceAmongTheEventsOfTheSamePass() throws {
        let harness = HubHarness.with("s")
        harness.addSubscription("t")
        let stream = try harness.open(.subscription("s"))
        let other = try harness.open(.subscription("s"))
        publish(harness, 0..<1)
        try harness.hub.change(stream: stream.subscriber.id, add: [.subscription("t")], remove: [])
        publish(harness, 1..<2, to: "t")
        publish(harness, 2..<3)
        harness.hub.close(stream: stream.subscriber.id, reason: "test")
        publish(harness, 3..<4)
        harness.pass()
        #expect(try stream.names == ["update", "update", "update", "closing"])
        #expect(try told(stream) == ["0", "1", "2"])
        #expect(stream.isFinished)
        #expect(try told(other) == ["0", "2", "3"])
        #expect(other.broadcasts == 1)
    }

    @Test func figuresCountWhatWasBroadcast() throws {
        let harness = HubHarness.with()
        let stream = try harness.open(.subscription("s"))
        let figures = stream.subscriber.figures
        publish(harness, 0..<3)
        harness.pass()
        publish(harness, 3..<5)
        harness.pass()
        #expect(figures.delivered == 5)
        #expect(harness.hub.metrics.delivered.count == 5)
        #expect(harness.hub.metrics.deliveryLatency.counts.reduce(0, +) == 2)
        // The same when the stream counts for itself again.
        stream.isBlocked = true
        #expect(figures.delivered == 5)
        harness.close(stream)
        publish(harness, 5..<6)
        harness.pass()
        #expect(figures.delivered == 5)
    }

    @Test func broadcastsMakeHeartbeatsNeedless() throws {
        let harness = HubHarness.with()
        let stream = try harness.open(.subscription("s"))
        harness.advance(.seconds(7))
        publish(harness, 0..<1)
        harness.pass()
        harness.advance(.milliseconds(400))
        let count = stream.bytes.count
        stream.visit(harness.now)
        #expect(stream.bytes.count == count)
        harness.advance(.seconds(15))
        stream.visit(harness.now)
        #expect(stream.bytes.count > count)
    }

    @Test func aReaderInStepDoesNotKeepWhatIsRead() throws {
        let harness = HubHarness { ($0.replayEvents, $0.replayBytes) = (1, 1) }
        harness.addSubscription()
        let stream = try harness.open(.subscription("s"))
        publish(harness, 0..<1)
        harness.pass()
        weak let first = stream.lastOwner
        #expect(first != nil)
        for number in 1..<100 {
            publish(harness, number..<number + 1)
            harness.pass()
        }
        #expect(stream.broadcasts == 100)
        #expect(first == nil)
    }
}

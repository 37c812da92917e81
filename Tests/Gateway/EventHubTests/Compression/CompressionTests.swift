internal import Changes
internal import SessionCore
internal import TestSupport
internal import Testing

@testable import EventHub

/// Streams with gzip: one compressor for a live group.
@Suite struct CompressionTests {
    private let quotes = SubscriptionProperties.quotes

    private func publishQuotes(_ harness: HubHarness, _ numbers: Range<Int>) {
        for number in numbers {
            let values = ["price \(number % 97)", "time 10:\(number % 60)", "a text that stays the same in each event"]
            harness.deliver(quotes.update(values, item: number % 2 + 1))
        }
    }

    private func open(_ harness: HubHarness, _ count: Int) throws -> [TestStream] {
        try (0..<count).map { _ in try harness.open(.subscription("s")) { $0.compresses = true } }
    }

    @Test func aGroupSharesBlocksThatReferToEarlierEvents() throws {
        let harness = HubHarness.with()
        let plain = try harness.open(.subscription("s"))
        let streams = try open(harness, 10)
        publishQuotes(harness, 0..<20)
        let before = (plain.bytes.count, streams[0].bytes.count)
        publishQuotes(harness, 20..<120)
        #expect(Set(streams.map { ObjectIdentifier($0.lastOwner!) }).count == 1)
        #expect(streams.allSatisfy { $0.broadcasts == 120 })
        // 37 bytes an event of 279 in a measurement of the demo's quotes, without the framing of a chunk.
        #expect((streams[0].bytes.count - before.1) * 3 < plain.bytes.count - before.0)
        for stream in streams { #expect(try stream.names == plain.names) }
    }

    @Test func aJoinerReadsBlocksWithoutReferencesUntilTheHistoryIsForgotten() throws {
        let harness = HubHarness.with()
        let streams = try open(harness, 10)
        publishQuotes(harness, 0..<20)
        let joiner = try open(harness, 1)[0]
        publishQuotes(harness, 20..<21)
        #expect(joiner.lastOwner !== streams[0].lastOwner)
        #expect(try joiner.events.count { $0.name == "update" && $0["snapshot"] == false } == 1)
        publishQuotes(harness, 21..<700)
        #expect(joiner.lastOwner === streams[0].lastOwner)
        #expect(try joiner.names.suffix(680) == streams[0].names.suffix(680))
    }

    @Test func aVisitWithoutBytesKeepsTheHistory() throws {
        let harness = HubHarness.with()
        let streams = try open(harness, 10)
        publishQuotes(harness, 0..<20)
        streams[3].visit(harness.now)
        publishQuotes(harness, 20..<21)
        #expect(streams[3].lastOwner === streams[0].lastOwner)
        #expect(try streams[3].names == streams[0].names)
    }

    @Test func aCleanEndHasTheChecksumOfTheWholeBody() throws {
        let harness = HubHarness.with()
        var streams = try open(harness, 6)
        publishQuotes(harness, 0..<50)
        streams[1].isBlocked = true
        publishQuotes(harness, 50..<80)
        streams[1].isBlocked = false
        streams[1].visit(harness.now)
        streams += try open(harness, 1)
        publishQuotes(harness, 80..<200)
        #expect(try !Gunzip(ChunkReader.payload(of: streams[0].bytes)).isComplete)
        harness.hub.closeAll(reason: "shutdown")
        harness.pass()
        for stream in streams {
            #expect(stream.isFinished)
            #expect(try Gunzip(ChunkReader.payload(of: stream.bytes)).isComplete)
            #expect(try stream.names.last == "closing")
        }
    }

    @Test func streamsWithoutChunksAreCompressedByThemselves() throws {
        let harness = HubHarness.with()
        var request = StreamRequest(sources: [.subscription("s")])
        request.compresses = true
        let stream = try harness.open(request, isChunked: false)
        publishQuotes(harness, 0..<10)
        #expect(try stream.names.count == 10)
    }

    @Test(arguments: [false, true])
    func dataOfSeveralSubscriptionsAreStoredAndNotCompressed(isEnding: Bool) throws {
        let harness = HubHarness.with()
        harness.addSubscription("other")
        let stream = try open(harness, 1)[0]
        try harness.hub.change(stream: stream.subscriber.id, add: [.subscription("other")], remove: [])
        harness.pass()
        let secret = String(repeating: "secret", count: 500)
        let before = stream.bytes.count
        harness.publish(quotes.update([secret, "", ""]), to: "other")
        if isEnding { harness.hub.closeAll(reason: "shutdown") }
        harness.pass()
        #expect(stream.bytes.count - before > secret.utf8.count)
        #expect(try stream.names == (isEnding ? ["update", "closing"] : ["update"]))
    }

    @Test func heartbeatsOfCompressedStreamsAreRead() throws {
        let harness = HubHarness.with()
        let streams = try open(harness, 5)
        for round in 0..<4 {
            harness.advance(.seconds(20))
            harness.visitAll()
            publishQuotes(harness, round * 3..<round * 3 + 3)
        }
        for stream in streams {
            #expect(try stream.names.count == 12)
            #expect(try stream.text.contains("\n:") || stream.text.contains(":\n"))
        }
    }

    @Test func aGroupWithoutReadersReturnsItsMemory() throws {
        let harness = HubHarness.with()
        let before = harness.hub.memory.logs
        let streams = try open(harness, 5)
        publishQuotes(harness, 0..<1)
        #expect(harness.hub.memory.logs > before + Deflater.memory)
        for stream in streams { harness.close(stream) }
        #expect(harness.hub.memory.logs < before + Deflater.memory)
    }

    /// Groups beyond an eighth of the budget have no compressor: replay windows and readers would have to make room for it.
    @Test func compressorsHaveAnEighthOfTheMemory() throws {
        let harness = HubHarness { $0.memoryBytes = 16 * Deflater.memory }
        let ids: [SubscriptionID] = ["s", "t", "u"]
        for id in ids { harness.addSubscription(id) }
        let before = harness.hub.memory.logs
        let groups = try ids.map { id in
            try (0..<4).map { _ in try harness.open(.subscription(id)) { $0.compresses = true } }
        }
        func publish(_ numbers: Range<Int>, to ids: [SubscriptionID]) {
            for number in numbers {
                for id in ids { harness.publish(quotes.update(["\(number)", "b", "c"]), to: id) }
                harness.pass()
            }
        }
        publish(0..<20, to: ids)
        #expect((harness.hub.memory.logs - before) / Deflater.memory == 2)
        for stream in groups.joined() { #expect(try stream.names.count { $0 == "update" } == 20) }
        // The compressor of a group with few readers is free for another group, also if the first group has no events.
        for stream in groups[0].dropFirst() { harness.close(stream) }
        publish(20..<40, to: ["u"])
        #expect((harness.hub.memory.logs - before) / Deflater.memory == 2)
        for stream in groups[2] {
            #expect(stream.lastOwner === groups[2][0].lastOwner)
            #expect(try stream.names.count { $0 == "update" } == 40)
        }
    }

    /// The loop has not seen the change of the first stream when the second one opens.
    @Test func aStreamJoinsNoGroupOfAChannelThatIsReadNoLonger() throws {
        let harness = HubHarness.with()
        harness.addSubscription("other")
        let leaver = try open(harness, 1)[0]
        try harness.hub.change(
            stream: leaver.subscriber.id,
            add: [.subscription("other")],
            remove: [.subscription("s")]
        )
        let joiner = try open(harness, 1)[0]
        publishQuotes(harness, 0..<3)
        #expect(try joiner.names == ["update", "update", "update"])
        #expect(try leaver.names.isEmpty)
    }

    @Test func checksumsOfPartsAreThatOfTheWhole() {
        let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0 * 7) }
        func sum(_ range: Range<Int>) -> Checksum {
            var sum = Checksum()
            Array(bytes[range]).withUnsafeBytes { sum.add($0) }
            return sum
        }
        for cut in [0, 1, 500, 999, 1000] {
            var whole = sum(0..<cut)
            whole.add(sum(cut..<1000))
            #expect(whole == sum(0..<1000))
            #expect(sum(0..<1000).rest(after: sum(0..<cut)) == sum(cut..<1000))
        }
    }

    /// Random readers in pairs, with and without compression: late joiners, slow readers, resumption, changed sources.
    @Test(arguments: [UInt64](0..<40))
    func compressedStreamsDeliverTheSameEventsAsOthers(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let properties = seed % 2 == 0 ? quotes : .portfolio
        var feed = RandomFeed(properties, seed: seed)
        let harness = HubHarness.with("s", properties)
        harness.addSubscription("other")
        var pairs: [(plain: TestStream, compressed: TestStream)] = []
        func open(after id: (String?, String?) = (nil, nil)) throws {
            let plain = try harness.open(.subscription("s")) { $0.lastEventID = id.0 }
            let compressed = try harness.open(.subscription("s")) {
                $0.compresses = true
                $0.lastEventID = id.1
            }
            pairs.append((plain, compressed))
        }
        for _ in 0..<4 { try open() }
        for step in 0..<400 {
            harness.publish(feed.next())
            if step % 17 == 0 { harness.publish(quotes.update(["\(step)", "", ""]), to: "other") }
            if step % 50 == 0 { harness.hub.take(.client("c", .event(.status(.stalled)))) }
            if Int.random(in: 0..<3, using: &generator) > 0 { harness.pass() }
            let (plain, compressed) = pairs[Int.random(in: pairs.indices, using: &generator)]
            switch Int.random(in: 0..<40, using: &generator) {
            case 0 where pairs.count < 12:
                try open()
            case 1 where pairs.count < 12:
                try open(after: (plain.events.last?.id, compressed.events.last?.id))
            case 2..<8:
                for stream in [plain, compressed] {
                    stream.isBlocked.toggle()
                    stream.visit(harness.now)
                }
            case 8:
                for stream in [plain, compressed] {
                    let isAdding = step % 2 == 0
                    let other = [StreamSource.subscription("other")]
                    try harness.hub.change(
                        stream: stream.subscriber.id,
                        add: isAdding ? other : [],
                        remove: isAdding ? [] : other
                    )
                }
            case 9:
                harness.advance(.seconds(20))
                harness.visitAll()
            default: break
            }
        }
        harness.pass()
        harness.hub.closeAll(reason: "shutdown")
        harness.pass()
        for (plain, compressed) in pairs {
            for stream in [plain, compressed] {
                harness.unblock(stream)
            }
            // The `stream` events differ in their ids.
            let (left, right) = (try plain.events, try compressed.events)
            #expect(left.map(\.name) == right.map(\.name), "seed \(seed)")
            for (one, other) in zip(left, right) where one.name != "stream" && one.name != "closing" {
                #expect(one.data == other.data, "seed \(seed)")
            }
            #expect(try Gunzip(ChunkReader.payload(of: compressed.bytes)).isComplete, "seed \(seed)")
        }
    }
}

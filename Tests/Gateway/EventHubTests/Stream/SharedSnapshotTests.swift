internal import Changes
internal import JSONText
internal import SessionCore
internal import TestSupport
internal import Testing

@testable import EventHub

/// Snapshots that several streams receive, whose events are encoded once.
@Suite struct SharedSnapshotTests {
    /// A hub with a table that is updated at random.
    private struct Feed {
        static let rows = 400
        let harness: HubHarness
        let properties: SubscriptionProperties
        var generator: SeededGenerator
        private let numbering: EventNumbering
        private var position: UInt64 = 0
        private var keys: Set<Int> = []

        init(
            _ mode: SubscriptionMode = .merge,
            seed: UInt64 = 1,
            numbering: EventNumbering = .counted,
            _ change: (inout HubConfiguration) -> Void = { _ in }
        ) {
            properties =
                mode == .command
                ? .portfolio
                : SubscriptionProperties(mode: mode, items: .group("all"), fields: .list(["x", "y", "z"]))
            generator = SeededGenerator(seed: seed)
            self.numbering = numbering
            harness = HubHarness(numbering: numbering, change)
            take(.client("c", .added(.connectedWSStreaming)))
            take(.subscription("s", .added(properties)))
            take(.subscription("s", .carried(by: "c")))
            let isCommand = mode == .command
            publish(
                .subscribed(
                    itemCount: isCommand ? 1 : Self.rows,
                    fieldCount: 3,
                    keyPosition: isCommand ? 1 : nil,
                    commandPosition: isCommand ? 2 : nil
                )
            )
            for row in 1...Self.rows { publish(update(of: row, isFirst: true)) }
        }

        mutating func take(_ change: Change) {
            position += 1
            switch numbering {
            case .counted: harness.hub.take(change)
            case .given: harness.hub.apply([NumberedChange(index: 0, change: change)], at: position)
            }
        }

        mutating func publish(_ event: SubscriptionEvent) { take(.subscription("s", .event(event))) }

        mutating func publishUpdates(_ count: Int) {
            for _ in 0..<count {
                publish(update(of: Int.random(in: 1...Self.rows, using: &generator), isFirst: false))
            }
        }

        private mutating func update(of row: Int, isFirst: Bool) -> SubscriptionEvent {
            let value = Int.random(in: 0..<5, using: &generator) == 0 ? nil : "\"\(generator.next() % 1000)\""
            guard properties.mode == .command else {
                return properties.update(["\(row)", value, "-"], item: row, changed: isFirst ? nil : [2])
            }
            if keys.insert(row).inserted { return properties.update(["k\(row)", "ADD", value]) }
            if Int.random(in: 0..<4, using: &generator) > 0 {
                return properties.update(["k\(row)", "UPDATE", value], changed: [2, 3])
            }
            keys.remove(row)
            return properties.update(["k\(row)", "DELETE", nil], changed: [2, 3])
        }

        /// Begins another epoch at the next position.
        mutating func restart(epoch: String) {
            position += 1
            harness.hub.restart(epoch: epoch, at: position)
        }

        /// A stream of the table.
        func open() throws -> TestStream { try harness.open(.subscription("s")) }

        /// The snapshot that is kept for streams that join later.
        var kept: Snapshot? { harness.hub.locked { $0.topics.subscriptions["s"]?.channel.snapshot } }
    }

    private static let modes: [SubscriptionMode] = [.merge, .command, .distinct]

    /// The events of a snapshot, encoded one by one.
    private func encoded(_ snapshot: Snapshot, for stream: TestStream) -> [UInt8] {
        var encoder = EventEncoder(epoch: "e1")
        var content = snapshot.content
        var bytes: [UInt8] = []
        var index = 0
        let form = stream.subscriber.form(of: snapshot)
        while let event = content.next() {
            let sequences = snapshot.sequences
            index += 1
            let sequence = index == snapshot.content.count ? sequences.last : sequences.sequence(at: index - 1)
            encoder.encode(.subscription(event), sequence: sequence, of: snapshot.context, as: form.variant, form.types)
            bytes += encoder.json.bytes
        }
        return bytes
    }

    /// Whether bytes have a part after a beginning that is short.
    private func contain(_ part: [UInt8], _ bytes: [UInt8]) -> Bool {
        bytes.indices.prefix(1_000).contains { bytes[$0...].starts(with: part) }
    }

    @Test(arguments: [UInt64](0..<60))
    func sharedBytesEqualThoseOfASingleStream(seed: UInt64) throws {
        let numbering = seed % 5 == 4 ? EventNumbering.given : .counted
        var feed = Feed(Self.modes[Int(seed % 3)], seed: seed, numbering: numbering)
        var reuses = 0
        var streams: [TestStream] = []
        for _ in 0..<12 {
            feed.publishUpdates(Int.random(in: 0..<30, using: &feed.generator))
            feed.harness.pass()
            let former = feed.kept
            var request = StreamRequest(sources: [.subscription("s")])
            request.format = seed % 2 == 0 ? .serverSentEvents : .ndjson
            request.sendsAllFields = Bool.random(using: &feed.generator)
            request.compresses = Bool.random(using: &feed.generator)
            if Bool.random(using: &feed.generator) { request.types = ["s": [.string, .number, .string]] }
            let stream = try feed.harness.open(request, isChunked: Bool.random(using: &feed.generator))
            streams.append(stream)
            let snapshot = try #require(feed.kept)
            if snapshot === former { reuses += 1 }
            #expect(contain(encoded(snapshot, for: stream), try stream.payload), "seed \(seed)")
        }
        #expect(reuses > 3)
        feed.publishUpdates(20)
        feed.harness.pass()
        let expected = TableReader(try streams[0].events)
        for stream in streams { #expect(try TableReader(stream.events).rows == expected.rows, "seed \(seed)") }
    }

    @Test(arguments: [UInt64](0..<48))
    func updatesWhileASharedSnapshotIsSentLeadToTheSameTable(seed: UInt64) throws {
        var feed = Feed(Self.modes[Int(seed % 2)], seed: seed)
        let harness = feed.harness
        let early = try [feed.open(), feed.open()]
        let slow = try (0..<3).map { _ in
            try harness.open(StreamRequest(sources: [.subscription("s")]), visits: false)
        }
        #expect(feed.kept?.isShared == true)
        slow.forEach { $0.isBlocked = true }
        for _ in 0..<300 {
            feed.publishUpdates(1)
            harness.pass()
            for stream in slow where Int.random(in: 0..<8, using: &feed.generator) == 0 {
                stream.isBlocked = false
                stream.limit = Int.random(in: 1..<9_000, using: &feed.generator)
                stream.visitOnce(harness.now)
                stream.isBlocked = true
            }
        }
        for stream in slow {
            stream.isBlocked = false
            stream.limit = 256 << 10
            stream.visit(harness.now)
            #expect(stream.subscriber.pending.count == 0)
            #expect(stream.subscriber.pending.weight == 0)
        }
        let expected = TableReader(try early[0].events)
        for stream in early + slow {
            #expect(try TableReader(stream.events).rows == expected.rows, "seed \(seed)")
            let ids = try stream.events.compactMap(\.sequence)
            #expect(ids == Array(Set(ids)).sorted(), "seed \(seed)")
        }
    }

    @Test func laterStreamsHaveReferencesToTheBytesOfTheSecondOne() throws {
        let feed = Feed()
        let memory = feed.harness.hub.memory
        _ = try feed.open()
        let alone = memory.logs
        let second = try feed.open()
        let shared = memory.logs
        #expect(shared - alone > 30_000)
        for _ in 0..<20 { #expect(try feed.open().pieces < 20) }
        #expect(memory.logs == shared)
        #expect(second.subscriber.figures.delivered == UInt64(2 * Feed.rows))
    }

    @Test func theBytesAreDroppedWithTheLastReader() throws {
        let feed = Feed()
        let first = try feed.open()
        let alone = feed.harness.hub.memory.logs
        let second = try feed.open()
        feed.harness.close(first)
        #expect(feed.kept != nil)
        feed.harness.close(second)
        #expect(feed.kept == nil)
        #expect(feed.harness.hub.memory.logs == alone)
    }

    @Test func theBytesStayWithinTheBudget() throws {
        var feed = Feed(.merge) { ($0.memoryBytes, $0.replayEvents) = (80_000, 16) }
        let streams = try (0..<4).map { _ in try feed.open() }
        #expect(feed.harness.hub.memory.used <= 70_000)
        for stream in streams { #expect(try stream.events.count { $0.name == "update" } == Feed.rows) }
        for _ in 0..<300 {
            feed.publishUpdates(1)
            feed.harness.pass()
        }
        #expect(try streams.allSatisfy { try !$0.names.contains("closing") })
    }

    @Test func theBytesAreDroppedWhenTheLogHasNotAllEventsAfterThem() throws {
        var feed = Feed(.merge) { $0.replayEvents = 16 }
        let early = try feed.open()
        let snapshot = try #require(feed.kept)
        feed.publishUpdates(700)
        #expect(feed.kept == nil)
        let late = try feed.open()
        #expect(feed.kept !== snapshot)
        feed.harness.pass()
        #expect(try TableReader(late.events).rows == TableReader(early.events).rows)
    }

    @Test(arguments: [SubscriptionEvent.clearSnapshot(itemPos: 1), .unsubscribed(isFinal: false)])
    func aStreamThatJoinsAfterOtherEventsThanUpdatesReceivesThePresentState(event: SubscriptionEvent) throws {
        var feed = Feed(.command)
        _ = try feed.open()
        feed.publish(event)
        feed.publish(SubscriptionProperties.portfolio.update(["new", "ADD", "1"]))
        #expect(try feed.open().events.compactMap { $0["key"]?.string } == ["new"])
    }

    @Test func theStreamsOfANewEpochShareASnapshotToo() throws {
        var feed = Feed(numbering: .given)
        let streams = try (0..<4).map { _ in try feed.open() }
        let before = streams.map(\.pieces)
        let former = feed.kept
        feed.restart(epoch: "e2")
        feed.publishUpdates(3)
        feed.harness.pass()
        #expect(feed.kept !== former)
        #expect(feed.kept?.isShared == true)
        for (stream, pieces) in zip(streams[1...], before[1...]) { #expect(stream.pieces - pieces < 20) }
        let expected = TableReader(try streams[0].events)
        for stream in streams {
            #expect(try TableReader(stream.events).rows == expected.rows)
            #expect(try stream.events.last?.id?.hasPrefix("e2-") == true)
        }
    }

    @Test func aStreamThatJoinsAfterAChangeOfItsClientReceivesNoEarlierStatus() throws {
        var feed = Feed()
        _ = try feed.open()
        let snapshot = feed.kept
        feed.take(.client("c", .event(.status(.stalled))))
        let late = try feed.open()
        #expect(feed.kept !== snapshot)
        #expect(try !late.names.contains("status"))
    }

    @Test func aReaderOfASharedSnapshotWithLaterUpdatesResumesAfterThem() throws {
        var feed = Feed()
        let early = try [feed.open(), feed.open()]
        let slow = try feed.harness.open(StreamRequest(sources: [.subscription("s")]), visits: false)
        slow.isBlocked = true
        for number in 0..<100 {
            let update = feed.properties.update(["2", "\(number)", "-"], item: 2, changed: [2])
            feed.publish(update)
            feed.harness.pass()
        }
        slow.isBlocked = false
        slow.visit(feed.harness.now)
        #expect(try slow.names.count == 2 * Feed.rows)
        #expect(try slow.events.last?.sequence == feed.harness.hub.lastID.sequence)
        #expect(try TableReader(slow.events).rows == TableReader(early[0].events).rows)
    }

    @Test func aStreamResumesFromTheEndOfASharedSnapshotAndNotFromItsInside() throws {
        var feed = Feed()
        _ = try feed.open()
        feed.publishUpdates(5)
        let ids = try feed.open().events.compactMap(\.id)
        #expect(ids.count == 2 * Feed.rows + 5)
        func resumed(from index: Int) throws -> [TestStream.Event] {
            try feed.harness.open(.subscription("s")) { $0.lastEventID = ids[index] }.events
        }
        let end = try resumed(from: 2 * Feed.rows - 1)
        #expect(end.first?["resume"] == "resumed")
        #expect(end.compactMap(\.id) == Array(ids.suffix(5)))
        let later = try resumed(from: 2 * Feed.rows + 1)
        #expect(later.compactMap(\.id) == Array(ids.suffix(3)))
        #expect(try resumed(from: 2 * Feed.rows - 2).first?["resume"] == "gap")
    }
}

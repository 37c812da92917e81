internal import DemoServer
internal import Foundation
internal import Synchronization
internal import Testing

@testable internal import GatewayCLI
@testable internal import Recording

struct RecordingReplayTests {
    private static func file() -> URL {
        FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).lsrec")
    }

    private static func prepare(
        _ file: URL,
        _ configuration: inout DemoServerConfiguration
    ) throws -> RecordingReplay {
        try RecordingReplay.prepare(file.path, &configuration, warn: { _ in }, failed: { _ in })
    }

    /// The server ran with its own data instead.
    @Test(arguments: [0, 3, 8])
    func aFileWithoutASegmentIsRefused(length: Int) throws {
        let file = Self.file()
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(RecordingEncoder.fileHeader.prefix(length)).write(to: file)
        var configuration = DemoServerConfiguration()
        #expect(throws: RecordingError.self) { try Self.prepare(file, &configuration) }
    }

    @Test func aFieldThatWasRecordedTwiceIsReplayedOnce() throws {
        let file = Self.file()
        defer { try? FileManager.default.removeItem(at: file) }
        let segment = RecordedSegment(start: 0, mode: "MERGE", items: ["a"], fields: ["x", "x", "y"])
        var encoder = RecordingEncoder(segment)
        encoder.append(RecordedEvent(time: 0, item: 0, .row(["1", "1", "2"], isSnapshot: false)))
        let block = encoder.takeBlock()
        let writer = try RecordingWriter(path: file.path, segment: segment)
        try writer.append(try #require(block))
        var configuration = DemoServerConfiguration()
        var replay = try Self.prepare(file, &configuration)
        #expect(configuration.manualFeeds["DEFAULT"]?.fields == ["x", "y"])
        var requests: [FeedRequest] = []
        while let events = replay.next() { requests += events.map(\.request) }
        #expect(requests == [.publish(item: "a", values: ["1", "2"])])
    }

    /// The rows of a part were replayed together, with the fields of all segments: a small file took gigabytes.
    @Test func eachRowOfAShortSegmentIsReplayedAlone() throws {
        let file = Self.file()
        defer { try? FileManager.default.removeItem(at: file) }
        for fields in [(0..<20_000).map { "field\($0)" }, ["field0"]] {
            let segment = RecordedSegment(start: 0, mode: "MERGE", items: ["a"], fields: fields)
            var encoder = RecordingEncoder(segment)
            for time in 0..<Int64(fields.count == 1 ? 100 : 1) {
                let row = [String?](repeating: "\(time)", count: fields.count)
                encoder.append(RecordedEvent(time: time, item: 0, .row(row, isSnapshot: false)))
            }
            let block = encoder.takeBlock()
            try RecordingWriter(path: file.path, segment: segment).append(try #require(block))
        }
        var configuration = DemoServerConfiguration()
        var replay = try Self.prepare(file, &configuration)
        #expect(configuration.manualFeeds["DEFAULT"]?.fields.count == 20_000)
        var counts: [Int] = []
        while let events = replay.next() { counts.append(events.count) }
        #expect(counts.reduce(0, +) == 101 && counts.max() == 1)
    }

    /// Each item had a row with the fields of all segments, whatever their number.
    @Test func segmentsWithTooManyItemsAndFieldsTogetherAreRefused() throws {
        let file = Self.file()
        defer { try? FileManager.default.removeItem(at: file) }
        let names = (0..<3_000).map { "name\($0)" }
        for (items, fields) in [(names, ["a"]), (["a"], names)] {
            let segment = RecordedSegment(start: 0, mode: "MERGE", items: items, fields: fields)
            _ = try RecordingWriter(path: file.path, segment: segment)
        }
        var configuration = DemoServerConfiguration()
        #expect(throws: RecordingError.self) { try Self.prepare(file, &configuration) }
    }

    /// The replay went on after the log had said that it ends.
    @Test func theReplayEndsWithAMistakeOfTheFile() throws {
        let file = Self.file()
        defer { try? FileManager.default.removeItem(at: file) }
        let segment = RecordedSegment(start: 0, mode: "MERGE", items: ["a"], fields: ["x"])
        var encoder = RecordingEncoder(segment)
        encoder.append(RecordedEvent(time: 0, item: 0, .row(["1"], isSnapshot: false)))
        let frames = [
            RecordingEncoder.fileHeader, RecordingEncoder.frame(of: segment),
            // An event, and a column that is longer than the block.
            Frame.bytes(.block, Frame.content(ofBlock: [[1, 9, 9]])), encoder.takeBlock()?.frame(),
        ]
        try Data(frames.flatMap { try #require($0) }).write(to: file)
        var configuration = DemoServerConfiguration()
        let failures = Mutex(0)
        var replay = try RecordingReplay.prepare(file.path, &configuration, warn: { _ in }) { _ in
            failures.withLock { $0 += 1 }
        }
        #expect(replay.next() == [])
        for _ in 1...3 { #expect(replay.next() == nil) }
        #expect(failures.withLock { $0 } == 1)
    }

    /// In `String`s, the composed letter equals the one with a combining mark.
    @Test func namesAreToldApartByTheirBytes() throws {
        let file = Self.file()
        defer { try? FileManager.default.removeItem(at: file) }
        let names = ["\u{E9}", "e\u{301}"]
        for (index, mode) in ["MERGE", "RAW"].enumerated() {
            let segment = RecordedSegment(start: 0, mode: mode, items: [names[index]], fields: names)
            var encoder = RecordingEncoder(segment)
            encoder.append(RecordedEvent(time: 0, item: 0, .row(["1", "2"], isSnapshot: false)))
            let block = encoder.takeBlock()
            try RecordingWriter(path: file.path, segment: segment).append(try #require(block))
        }
        var configuration = DemoServerConfiguration()
        var replay = try Self.prepare(file, &configuration)
        let feed = try #require(configuration.manualFeeds["DEFAULT"])
        #expect(feed.items.map { Array($0.utf8) } == names.map { Array($0.utf8) })
        #expect(feed.fields.map { Array($0.utf8) } == names.map { Array($0.utf8) })
        #expect(feed.modes.count == 2)
        var values: [[String?]] = []
        while let events = replay.next() {
            for case .publish(_, let row) in events.map(\.request) { values.append(row) }
        }
        #expect(values == [["1", "2"], ["1", "2"]])
    }
}

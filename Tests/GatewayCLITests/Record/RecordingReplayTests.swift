internal import DemoServer
internal import Foundation
internal import Recording
internal import Testing

@testable internal import GatewayCLI

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
        let (first, second) = (replay.next(), replay.next())
        #expect(first == [])
        #expect(second?.map(\.request) == [.publish(item: "a", values: ["1", "2"])])
    }
}

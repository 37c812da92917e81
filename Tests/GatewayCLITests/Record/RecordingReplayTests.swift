internal import DemoServer
internal import Foundation
internal import Recording
internal import Testing

@testable internal import GatewayCLI

struct RecordingReplayTests {
    @Test func aFieldThatWasRecordedTwiceIsReplayedOnce() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).lsrec")
        defer { try? FileManager.default.removeItem(at: file) }
        let segment = RecordedSegment(start: 0, mode: "MERGE", items: ["a"], fields: ["x", "x", "y"])
        var encoder = RecordingEncoder(segment)
        encoder.append(RecordedEvent(time: 0, item: 0, .row(["1", "1", "2"], isSnapshot: false)))
        let block = encoder.takeBlock()
        let writer = try RecordingWriter(path: file.path, segment: segment)
        try writer.append(try #require(block))
        var configuration = DemoServerConfiguration()
        var replay = try RecordingReplay.prepare(file.path, &configuration, warn: { _ in }, failed: { _ in })
        #expect(configuration.manualFeeds["DEFAULT"]?.fields == ["x", "y"])
        let (first, second) = (replay.next(), replay.next())
        #expect(first == [])
        #expect(second?.map(\.request) == [.publish(item: "a", values: ["1", "2"])])
    }
}

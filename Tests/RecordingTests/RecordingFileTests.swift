internal import Foundation
internal import Testing

@testable internal import Recording

struct RecordingFileTests {
    private static let segment = RecordedSegment(start: 0, mode: "MERGE", items: ["a"], fields: ["x"])

    /// The reader took the frame for interrupted, and the writer would have removed it.
    @Test func aReadErrorIsNoEndOfTheFile() throws {
        let bytes = RecordingEncoder.fileHeader + (try #require(RecordingEncoder.frame(of: Self.segment)))
        let error = RecordingError(position: 0, rule: "the file cannot be read")
        for readable in 0..<bytes.count {
            var reader = RecordingReader { (offset, count) throws(RecordingError) in
                if offset + count > readable { throw error }
                return Array(bytes.dropFirst(offset).prefix(count))
            }
            var other = reader
            #expect(throws: error) { try reader.next() }
            #expect(throws: error) { try other.segments() }
            #expect(reader.interruption == nil)
        }
    }

    @Test func aFolderCannotBeRead() throws {
        var reader = try RecordingFile(path: FileManager.default.temporaryDirectory.path).reader
        #expect(throws: RecordingError.self) { try reader.next() }
    }

    /// The memory of a process can be opened, but address 0 cannot be read.
    @Test func aFileThatCannotBeReadIsNotContinued() {
        #expect(throws: RecordingError.self) { try RecordingWriter(path: "/proc/self/mem", segment: Self.segment) }
    }

    @Test func theReasonWhyAFileIsNotOpenedIsNamed() {
        let missing = #expect(throws: RecordingFileError.self) { try RecordingFile(path: "/nonexistent/a.lsrec") }
        #expect(missing?.description == "cannot be read: No such file or directory")
        let folder = #expect(throws: RecordingFileError.self) {
            try RecordingWriter(path: "/tmp", segment: Self.segment)
        }
        #expect(folder?.description == "cannot be written: Is a directory")
    }

    @Test func anInterruptedFrameIsRemoved() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).lsrec").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let whole = try RecordingWriter(path: path, segment: Self.segment).size
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.seekToEnd()
        try file.write(contentsOf: Data([1, 2, 3]))
        try file.close()
        let writer = try RecordingWriter(path: path, segment: Self.segment)
        #expect(writer.removed == 3)
        #expect(writer.size == 2 * whole - RecordingEncoder.fileHeader.count)
    }

    /// A later block was written, whose values continue those of the lost one.
    @Test func nothingFollowsALostBlock() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).lsrec").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let writer = try RecordingWriter(path: path, segment: Self.segment)
        let size = writer.size
        let tooLong = RecordingBlock(columns: [[UInt8](repeating: 0, count: Frame.mostColumns + 1)])
        #expect(throws: RecordingFileError.self) { try writer.append(tooLong) }
        var encoder = RecordingEncoder(Self.segment)
        encoder.append(RecordedEvent(time: 0, item: 0, .row(["1"], isSnapshot: false)))
        let block = encoder.takeBlock()
        let later = try #require(block)
        #expect(throws: RecordingFileError.self) { try writer.append(later) }
        #expect(writer.size == size)
    }
}

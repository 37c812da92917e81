internal import Primitives
internal import TestSupport
internal import Testing

@testable internal import Recording

struct RecordingFormatTests {
    /// Bytes as a file.
    private static func reader(_ bytes: [UInt8]) -> RecordingReader {
        RecordingReader { offset, count in Array(bytes.dropFirst(offset).prefix(count)) }
    }

    private static func parts(_ bytes: [UInt8]) throws -> (parts: [RecordingReader.Part], interruption: Int?) {
        var reader = reader(bytes)
        var parts: [RecordingReader.Part] = []
        while let part = try reader.next() { parts.append(part) }
        return (parts, reader.interruption)
    }

    private static func file(
        _ segments: [(RecordedSegment, [[RecordedEvent]])]
    ) throws -> (bytes: [UInt8], ends: [Int]) {
        var bytes = RecordingEncoder.fileHeader
        var ends: [Int] = [bytes.count]
        for (segment, blocks) in segments {
            bytes += try #require(RecordingEncoder.frame(of: segment))
            ends.append(bytes.count)
            var encoder = RecordingEncoder(segment)
            for block in blocks {
                for event in block { encoder.append(event) }
                bytes += try #require(encoder.takeBlock()?.frame())
                ends.append(bytes.count)
            }
        }
        return (bytes, ends)
    }

    /// A file of some frames, which is small enough to be damaged everywhere.
    private static func smallFile(seed: UInt64) throws -> (bytes: [UInt8], ends: [Int]) {
        var random = SeededGenerator(seed: seed)
        while true {
            let (bytes, ends) = try file(randomSegments(&random))
            if bytes.count < 2_000, ends.count > 4 { return (bytes, ends) }
        }
    }

    /// Segments with all kinds of events and values.
    private static func randomSegments(_ random: inout SeededGenerator) -> [(RecordedSegment, [[RecordedEvent]])] {
        (0..<Int.random(in: 1...3, using: &random)).map { number in
            let segment = RecordedSegment(
                start: Int64.random(in: 0...2_000_000_000_000, using: &random),
                adapterSet: Bool.random(using: &random) ? "DEMO" : nil,
                dataAdapter: number == 1 ? "QUOTES" : nil,
                mode: ["MERGE", "DISTINCT", "COMMAND", "RAW"].randomElement(using: &random) ?? "RAW",
                items: (1...Int.random(in: 1...5, using: &random)).map { "item\($0)" },
                fields: (1...Int.random(in: 1...19, using: &random)).map { "field\($0)" }
            )
            var time: Int64 = 0
            return (
                segment,
                (0..<Int.random(in: 0...4, using: &random)).map { _ in
                    (0...Int.random(in: 0...40, using: &random)).map { _ in
                        time += Int64.random(in: 0...300, using: &random)
                        return randomEvent(of: segment, at: time, &random)
                    }
                }
            )
        }
    }

    private static func randomEvent(
        of segment: RecordedSegment,
        at time: Int64,
        _ random: inout SeededGenerator
    ) -> RecordedEvent {
        let item = Int.random(in: segment.items.indices, using: &random)
        switch Int.random(in: 0..<20, using: &random) {
        case 0: return RecordedEvent(time: time, item: item, .endOfSnapshot)
        case 1: return RecordedEvent(time: time, item: item, .cleared)
        case 2: return RecordedEvent(time: time, item: item, .lost(Int.random(in: 0...70_000, using: &random)))
        case 3: return RecordedEvent(time: time, item: 0, .restarted)
        default:
            let values = segment.fields.map { _ in randomValue(&random) }
            return RecordedEvent(time: time, item: item, .row(values, isSnapshot: Bool.random(using: &random)))
        }
    }

    private static func randomValue(_ random: inout SeededGenerator) -> String? {
        switch Int.random(in: 0..<10, using: &random) {
        case 0: nil
        case 1:
            ["", "-", ".", "-0", "007", "1.", ".5", "0.0", "caf\u{E9}", "cafe\u{301}", "-0.00", "1e5"]
                .randomElement(using: &random)
        case 2: String(repeating: "long ", count: Int.random(in: 0...120, using: &random))
        case 3: String(Int.random(in: -100_000_000_000_000_000...100_000_000_000_000_000, using: &random))
        case 4: String(decoding: random.bytes(from: "0123456789.-", upTo: 22), as: UTF8.self)
        default: "\(Int.random(in: 10...12, using: &random)).\(Int.random(in: 10...99, using: &random))"
        }
    }

    /// A file with such a segment could not be read or continued any more.
    @Test(arguments: [(0, 1), (1, 0), (10_000, 1_000)])
    func segmentsThatNoReaderAcceptsAreNotWritten(items: Int, fields: Int) {
        let segment = RecordedSegment(
            start: 0,
            mode: "MERGE",
            items: (0..<items).map { "i\($0)" },
            fields: (0..<fields).map { "f\($0)" }
        )
        #expect(RecordingEncoder.frame(of: segment) == nil)
    }

    @Test func whatIsRecordedIsReadBack() throws {
        var random = SeededGenerator(seed: 11)
        for _ in 0..<60 {
            let segments = Self.randomSegments(&random)
            let (parts, interruption) = try Self.parts(Self.file(segments).bytes)
            let expected = segments.flatMap { [.segment($0)] + $1.map(RecordingReader.Part.events) }
            #expect(parts == expected)
            #expect(interruption == nil)
        }
    }

    /// Any number of lost updates that a server may send.
    @Test(arguments: [(-1, 0), (7, 7), (Int.max, Int(Int32.max))])
    func lossesStayWithinWhatIsRead(lost: Int, read: Int) throws {
        let segment = RecordedSegment(start: 0, mode: "RAW", items: ["a"], fields: ["x"])
        let event = RecordedEvent(time: 1, item: 0, .lost(lost))
        let (parts, _) = try Self.parts(Self.file([(segment, [[event]])]).bytes)
        #expect(parts == [.segment(segment), .events([RecordedEvent(time: 1, item: 0, .lost(read))])])
    }

    @Test func decimalTextsKeepTheirBytes() throws {
        var random = SeededGenerator(seed: 12)
        for _ in 0..<20_000 {
            let text = String(decoding: random.bytes(from: "00123.-", upTo: 20), as: UTF8.self)
            if let number = DecimalText(text) { #expect(number.text == text) }
        }
        for text in ["0", "-1", "0.05", "-12.50", "99999999999999999", "0.0000000000000001"] {
            #expect(DecimalText(text)?.text == text)
        }
        for text in ["", "-", "-0", "00", "01", ".5", "5.", "1.2.3", "+1", "1e3", "100000000000000000"] {
            #expect(DecimalText(text) == nil)
        }
    }

    @Test func aValueLeavesTheMemoryAfterTwoThousandOthers() throws {
        let segment = RecordedSegment(start: 0, mode: "RAW", items: ["a"], fields: ["f"])
        let texts = (0..<5_000).map { "text \($0 % 2_500)" }
        let events = texts.enumerated().map { RecordedEvent(time: Int64($0), item: 0, .row([$1], isSnapshot: false)) }
        let (parts, _) = try Self.parts(Self.file([(segment, [events])]).bytes)
        #expect(parts == [.segment(segment), .events(events)])
    }

    /// A file of some kilobytes took gigabytes when all rows of a block were in memory together.
    @Test func wideRowsOfABlockAreReadInParts() throws {
        let fields = (0..<1_000).map { "f\($0)" }
        let segment = RecordedSegment(start: 0, mode: "RAW", items: ["a"], fields: fields)
        let events = (0..<300).map { number in
            let values = ["\(number)"] + [String?](repeating: nil, count: fields.count - 1)
            return RecordedEvent(time: 0, item: 0, .row(values, isSnapshot: false))
        }
        let parts = try Self.parts(Self.file([(segment, [events])]).bytes).parts.dropFirst()
        let read = parts.map { part in
            if case .events(let events) = part { events } else { [RecordedEvent]() }
        }
        #expect(read.allSatisfy { $0.count * fields.count <= 65_536 })
        #expect(Array(read.joined()) == events)
    }

    @Test func aFileThatEndsAnywhereHasItsWholeFrames() throws {
        let (bytes, ends) = try Self.smallFile(seed: 13)
        let whole = try Self.parts(bytes).parts
        for length in 0..<bytes.count {
            let (parts, interruption) = try Self.parts(Array(bytes.prefix(length)))
            let frames = ends.lastIndex { $0 <= length } ?? 0
            #expect(parts == Array(whole.prefix(frames)))
            let isWhole = length == 0 || ends.contains(length)
            #expect(interruption == (isWhole ? nil : ends.last { $0 <= length } ?? 0), "\(length)")
        }
    }

    /// A flipped bit of a length may also look like an interruption at the end of the file: the checksum of the header
    /// tells them apart.
    @Test func everyFlippedBitIsReportedWithTheFrameThatHasIt() throws {
        let (bytes, ends) = try Self.smallFile(seed: 14)
        for bit in 0..<bytes.count * 8 {
            var damaged = bytes
            damaged[bit / 8] ^= 1 << (bit % 8)
            let error = #expect(throws: RecordingError.self) { try Self.parts(damaged) }
            #expect(error?.position == ends.last { $0 <= bit / 8 } ?? 0, "bit \(bit)")
        }
    }

    /// Damage with right checksums: what a program with another idea of the format would write.
    @Test func damagedContentIsRefusedAndNeverTraps() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        var refused = 0
        for _ in 0..<600 {
            let (segment, blocks) = Self.randomSegments(&random)[0]
            guard let block = blocks.first else { continue }
            var content = Frame.content(of: segment)
            if Bool.random(using: &random) { Self.damage(&content, &random) }
            var encoder = BlockEncoder(segment)
            for event in block { encoder.append(event) }
            var columns = encoder.takeBlock().flatMap(\.self)
            Self.damage(&columns, &random)
            let frames = [
                Frame.bytes(.segment, content), Frame.bytes(.block, Frame.content(ofBlock: [columns])),
            ]
            let bytes = RecordingEncoder.fileHeader + frames.compactMap(\.self).flatMap(\.self)
            if (try? Self.parts(bytes)) == nil { refused += 1 }
        }
        #expect(refused > 100, "seed \(seed)")
    }

    private static func damage(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
        for _ in 0...Int.random(in: 0...3, using: &random) {
            guard let index = bytes.indices.randomElement(using: &random) else { return }
            switch Int.random(in: 0..<3, using: &random) {
            case 0: bytes.remove(at: index)
            case 1: bytes.insert(.random(in: 0...255, using: &random), at: index)
            default: bytes[index] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
            }
        }
    }

    @Test func anInflatedBlockHasItsLength() {
        let deflated = Compression.deflated([[1, 2, 3], [], Array(repeating: 7, count: 100_000), []])
        #expect(deflated.count < 300)
        #expect(Compression.inflated(deflated[...], length: 100_003)?.count == 100_003)
        for length in [0, 1, 100_002, 100_004, 1 << 20] {
            #expect(Compression.inflated(deflated[...], length: length) == nil)
        }
        #expect(Compression.inflated((deflated + [0])[...], length: 100_003) == nil)
        #expect(Compression.inflated([], length: 0) == nil)
    }

    @Test func otherFilesAreNotRecordings() throws {
        let error = #expect(throws: RecordingError.self) { try Self.parts(Array("{\"items\": []}".utf8)) }
        #expect(
            error?.description
                == "byte 0: the file does not begin with \"LSREC\" and version 1: it is not a recording"
        )
        #expect(try Self.parts([]).parts.isEmpty)
    }
}

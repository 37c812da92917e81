/// Reads a recording from its beginning to its end. A value: a copy continues where the original was.
package struct RecordingReader: Sendable {
    /// Returns the bytes at an offset, up to a number of them; fewer only at the end of the file. Throws if they cannot be read.
    package typealias Source = @Sendable (_ offset: Int, _ count: Int) throws(RecordingError) -> [UInt8]

    /// A part of the file.
    package enum Part: Sendable, Equatable {
        /// A segment begins.
        case segment(RecordedSegment)
        /// Events of the last segment, in order; those of a block may be several parts.
        case events([RecordedEvent])
    }

    private let source: Source
    private var decoder: BlockDecoder?
    /// The offset of the last frame.
    private var start = 0

    /// The offset of the next frame.
    package private(set) var position = 0
    /// The offset at which the file ends within a frame, because its writer was interrupted; known at the end of the file.
    package private(set) var interruption: Int?

    /// A reader at the beginning of a file.
    package init(_ source: @escaping Source) { self.source = source }

    /// The next part; nil at the end, and where the file ends within a frame.
    package mutating func next() throws(RecordingError) -> Part? {
        if let events = try events() { return .events(events) }
        guard let (frame, content) = try frame() else { return nil }
        do throws(ContentViolation) {
            switch frame.kind {
            case .segment:
                let segment = try Frame.segment(content)
                decoder = BlockDecoder(segment)
                return .segment(segment)
            case .block:
                guard decoder != nil else { throw ContentViolation("a block has no segment before it") }
                try decoder?.begin(Frame.columns(content)[...])
                return .events(try decoder?.next() ?? [])
            }
        } catch {
            throw RecordingError(position: start, rule: error.rule)
        }
    }

    /// Further events of the last block; nil at its end.
    private mutating func events() throws(RecordingError) -> [RecordedEvent]? {
        do throws(ContentViolation) { return try decoder?.next() } catch {
            throw RecordingError(position: start, rule: error.rule)
        }
    }

    /// Reads all frames without their events. Returns the segments; `position` is the end of the last whole frame.
    package mutating func segments() throws(RecordingError) -> [RecordedSegment] {
        var segments: [RecordedSegment] = []
        while let (frame, content) = try frame() {
            do throws(ContentViolation) {
                if frame.kind == .segment { segments.append(try Frame.segment(content)) }
                if segments.isEmpty { throw ContentViolation("a block has no segment before it") }
            } catch {
                throw RecordingError(position: start, rule: error.rule)
            }
        }
        return segments
    }

    /// The next frame with its content, whose checksum is right; nil at the end of the file.
    private mutating func frame() throws(RecordingError) -> (Frame, [UInt8])? {
        if position == 0, try !header() { return nil }
        let header = try source(position, Frame.headerLength)
        if header.isEmpty { return nil }
        guard header.count == Frame.headerLength else { return interrupted() }
        let frame: Frame
        do throws(ContentViolation) { frame = try Frame(header: header[...]) } catch {
            throw RecordingError(position: position, rule: error.rule)
        }
        let content = try source(position + Frame.headerLength, frame.length)
        guard content.count == frame.length else { return interrupted() }
        guard frame.holds(content) else {
            throw RecordingError(position: position, rule: "the checksum of a frame's content is wrong")
        }
        start = position
        position += Frame.headerLength + content.count
        return (frame, content)
    }

    private mutating func interrupted() -> (Frame, [UInt8])? {
        interruption = position
        return nil
    }

    /// Reads the header of the file; false if the file ends within it.
    private mutating func header() throws(RecordingError) -> Bool {
        let header = try source(0, Frame.fileHeader.count)
        guard header.elementsEqual(Frame.fileHeader.prefix(header.count)) else {
            throw RecordingError(
                position: 0,
                rule: "the file does not begin with \"LSREC\" and version 1: it is not a recording"
            )
        }
        guard header.count == Frame.fileHeader.count else {
            if !header.isEmpty { interruption = 0 }
            return false
        }
        position = header.count
        return true
    }
}

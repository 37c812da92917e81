/// Turns the events of one segment into the bytes of frames.
package struct RecordingEncoder {
    /// The size of pending events, in bytes, from which on a block does not grow.
    package static let fullBlock = 1 << 22

    private var encoder: BlockEncoder

    /// The bytes that begin a file.
    package static let fileHeader = Frame.fileHeader

    /// An encoder without events; `segment` has items and fields.
    package init(_ segment: RecordedSegment) { encoder = BlockEncoder(segment) }

    /// The frame that begins a segment; nil for a segment that no reader accepts: without items or fields, or with more
    /// items or fields than a file may have.
    package static func frame(of segment: RecordedSegment) -> [UInt8]? {
        let content = Frame.content(of: segment)
        guard (try? Frame.segment(content)) != nil else { return nil }
        return Frame.bytes(.segment, content)
    }

    /// Whether the pending events have to be taken before more are added.
    package var isFull: Bool { encoder.size >= Self.fullBlock }

    /// Adds an event of the segment: with its items, and a value for each field.
    package mutating func append(_ event: RecordedEvent) { encoder.append(event) }

    /// Removes the pending events and returns them as a block, not compressed yet; nil without events.
    package mutating func takeBlock() -> RecordingBlock? {
        encoder.count == 0 ? nil : RecordingBlock(columns: encoder.takeBlock())
    }
}

/// Events that were taken from an encoder. Their blocks have to be written in the order in which they were taken.
package struct RecordingBlock: Sendable {
    let columns: [[UInt8]]

    /// Compresses the block into a frame; nil if the block is longer than a frame.
    package func frame() -> [UInt8]? {
        columns.reduce(0, { $0 + $1.count }) <= Frame.mostColumns
            ? Frame.bytes(.block, Frame.content(ofBlock: columns)) : nil
    }
}

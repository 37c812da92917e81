internal import StreamIO

/// The gzip side of one stream: what it has received, and the blocks for it alone. It has no compressor of its own.
final class StreamCompression {
    /// Payloads up to this size are stored: compression without history gains nothing.
    private static let leastCompressed = 64

    private var sum = Checksum()
    private var hasHeader = false
    /// The live group of the stream, and the group's sum when the stream joined.
    private(set) var group: CompressedGroup?
    private var sumAtJoin = Checksum()
    /// The group that the stream left last while it was synchronized, and the group's broadcasts by then; nil after bytes
    /// for the stream alone.
    private var left: (group: UInt64, broadcasts: UInt64)?

    func join(_ group: CompressedGroup, _ subscriber: Subscriber) {
        let isSynchronized = left.map { $0.group == group.number && $0.broadcasts == group.broadcasts } ?? false
        left = nil
        self.group = group
        sumAtJoin = group.sum
        group.add(subscriber, isSynchronized: isSynchronized)
    }

    func leave(_ subscriber: Subscriber) {
        guard let group else { return }
        self.group = nil
        sum.add(group.sum.rest(after: sumAtJoin))
        left = group.remove(subscriber) ? (group.number, group.broadcasts) : nil
    }

    /// Appends payloads for this stream alone, in blocks without references, and with `isLast` the end of the body.
    ///
    /// - Parameter stores: Whether the payloads are stored and not compressed.
    func write(
        _ pieces: [StreamPiece],
        of subscriber: Subscriber,
        to batch: inout StreamBatch,
        chunked: Bool,
        stores: Bool,
        isLast: Bool,
        _ context: ShardContext
    ) {
        var body: [UInt8] = []
        if !pieces.isEmpty || isLast, !hasHeader {
            body += GzipFraming.header
            hasHeader = true
        }
        if !pieces.isEmpty {
            left = nil
            // The stream may have joined its group during the same visit, before these bytes.
            group?.separate(subscriber)
            var payload: [UInt8] = []
            payload.reserveCapacity(pieces.reduce(0) { $0 + $1.bytes.count })
            for piece in pieces { payload += piece.bytes }
            payload.withUnsafeBytes { bytes in
                sum.add(bytes)
                if stores || bytes.count < Self.leastCompressed {
                    body += GzipFraming.stored(bytes)
                } else {
                    body += context.independent(bytes)
                }
            }
        }
        if isLast { body += GzipFraming.end(sum) }
        guard !body.isEmpty else { return }
        var writer = PrivateWriter(isChunked: chunked)
        writer.write(body, to: &batch)
    }
}

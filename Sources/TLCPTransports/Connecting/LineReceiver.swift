internal import NIOCore
internal import TLCP

/// Cuts what one connection receives into lines and hands them on in batches; knows how much is still being handled.
/// Used on the connection's thread alone.
final class LineReceiver {
    /// A batch is handed on at this size even in the middle of a read.
    private static let batchSize = 256 << 10

    private let window: Int
    private let emit: (TransportEvent) -> Void
    private var splitter: LineSplitter
    private var lines: [ArraySlice<UInt8>] = []
    private var byteCount = 0
    private var unhandled = 0

    init(maxLineLength: Int, window: Int, emit: @escaping (TransportEvent) -> Void) {
        splitter = LineSplitter(maxLineLength: maxLineLength)
        self.window = window
        self.emit = emit
    }

    /// Whether so much is being handled that nothing more should be read.
    var isFull: Bool { unhandled >= window }

    /// Takes in bytes. Throws for a line that is too long.
    func receive(_ buffer: ByteBuffer) throws(TLCPError) {
        guard buffer.readableBytes > 0 else { return }
        byteCount += buffer.readableBytes
        lines += try splitter.feed(Array(buffer.readableBytesView))
        if byteCount >= Self.batchSize { flush() }
    }

    /// The end of a WebSocket message ends a line.
    func endMessage() {
        if let line = splitter.endMessage() { lines.append(line) }
    }

    /// Hands on what has come.
    func flush() {
        guard byteCount > 0 || !lines.isEmpty else { return }
        unhandled += byteCount
        emit(.received(LineBatch(lines: lines, byteCount: byteCount)))
        lines = []
        byteCount = 0
    }

    /// Some of it was handled; true if reading may go on now and could not before.
    func handled(_ byteCount: Int) -> Bool {
        let wasFull = isFull
        unhandled = max(0, unhandled - byteCount)
        return wasFull && !isFull
    }
}

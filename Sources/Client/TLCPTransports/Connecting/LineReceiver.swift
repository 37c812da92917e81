internal import NIOCore
internal import TLCP

/// Splits the bytes of one connection into lines, delivers them in batches, and counts the bytes not yet handled.
/// Used on the thread of the connection only.
final class LineReceiver {
    /// The size in bytes at which a batch is delivered even before the end of a read.
    private static let batchSize = 256 << 10
    /// The longest incomplete line, in bytes, that does not count against the budget.
    private static let uncounted = 1 << 20

    private let window: Int
    private let budget: LineBudget?
    private let emit: (TransportEvent) -> Void
    private var splitter: LineSplitter
    private var lines: [ArraySlice<UInt8>] = []
    private var byteCount = 0
    /// The bytes of an incomplete WebSocket frame that were delivered before it.
    private var early = 0
    private var unhandled = 0
    /// The bytes of the incomplete line that count against the budget.
    private var counted = 0

    init(
        maxLineLength: Int,
        window: Int,
        budget: LineBudget? = nil,
        emit: @escaping (TransportEvent) -> Void
    ) {
        splitter = LineSplitter(maxLineLength: maxLineLength)
        self.window = window
        self.budget = budget
        self.emit = emit
    }

    convenience init(_ settings: SocketSettings, emit: @escaping (TransportEvent) -> Void) {
        self.init(
            maxLineLength: settings.maxLineLength,
            window: settings.receiveWindow,
            budget: settings.lineBudget,
            emit: emit
        )
    }

    deinit {
        if counted > 0 { _ = budget?(-counted) }
    }

    var isFull: Bool { unhandled >= window }

    /// Receives bytes, with `endsMessage` the end of a WebSocket message, and thus of a line. Throws if a line is too long, or
    /// exceeds the budget.
    func receive(_ buffer: ByteBuffer, endsMessage: Bool = false) throws(TLCPError) {
        if buffer.readableBytes > 0 {
            byteCount += max(0, buffer.readableBytes - early)
            early = 0
            try splitter.feed(Array(buffer.readableBytesView)[...], into: &lines)
            if byteCount >= Self.batchSize { flush() }
        }
        if endsMessage, let line = splitter.endMessage() { lines.append(line) }
        if splitter.carry.count + counted > Self.uncounted { try countIncomplete() }
    }

    /// Receives bytes of a WebSocket frame that is not complete. They count now, not with the frame: a peer that sends the frame
    /// slowly fills the window as well. Throws if the line exceeds the budget.
    func receiveIncomplete(byteCount count: Int) throws(TLCPError) {
        early += count
        byteCount += count
        flush()
        if splitter.carry.count + early + counted > Self.uncounted { try countIncomplete() }
    }

    /// Counts the incomplete line against the budget.
    private func countIncomplete() throws(TLCPError) {
        let length = splitter.carry.count + early
        let change = (length > Self.uncounted ? length : 0) - counted
        guard let budget, change != 0 else { return }
        counted += change
        if !budget(change) { throw .lineTooLong(limit: length) }
    }

    /// Delivers the pending batch.
    func flush() {
        guard byteCount > 0 || !lines.isEmpty else { return }
        unhandled += byteCount
        emit(.received(LineBatch(lines: lines, byteCount: byteCount)))
        lines = []
        byteCount = 0
    }

    /// Removes handled bytes from the window; true if the window was full and no longer is.
    func handled(_ byteCount: Int) -> Bool {
        let wasFull = isFull
        unhandled = max(0, unhandled - byteCount)
        return wasFull && !isFull
    }
}

/// Counts bytes of the incomplete lines of several connections, a negative number if there are fewer. False if the bytes
/// exceed a budget.
package typealias LineBudget = @Sendable (_ change: Int) -> Bool

/// Lines that were received together.
package struct LineBatch: Sendable, Equatable {
    /// The lines without their CR-LF, slices of a few buffers.
    package var lines: [ArraySlice<UInt8>]
    /// The number of bytes received for the lines.
    package var byteCount: Int

    package init(lines: [ArraySlice<UInt8>], byteCount: Int) {
        self.lines = lines
        self.byteCount = byteCount
    }
}

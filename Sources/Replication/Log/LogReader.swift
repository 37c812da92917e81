/// Brings the frames of the log into their order: they arrive late, twice, or not at all.
package struct LogReader: Sendable {
    /// Frames beyond a hole that are kept; more can be fetched again.
    private static let bufferLimit = 4096

    /// The position of the last frame that was handed out.
    package private(set) var position: UInt64
    /// The highest position that is known to be in the log.
    package private(set) var known: UInt64
    private var early: [UInt64: [UInt8]] = [:]

    /// A reader that has everything up to a position.
    package init(position: UInt64) {
        self.position = position
        known = position
    }

    /// Takes in a frame. It, and those that it made wait no longer, come from `next`.
    package mutating func arrived(_ frame: StoredFrame) {
        known = max(known, frame.position)
        guard frame.position > position else { return }
        if early.count < Self.bufferLimit || frame.position == position + 1 { early[frame.position] = frame.bytes }
    }

    /// The log is known to reach this far.
    package mutating func reaches(_ position: UInt64) { known = max(known, position) }

    /// The next frame in order; nil while it is missing.
    package mutating func next() -> StoredFrame? {
        guard let bytes = early.removeValue(forKey: position + 1) else { return nil }
        position += 1
        return StoredFrame(position: position, bytes: bytes)
    }

    /// The positions that are in the log and did not arrive, up to the first that did.
    package var hole: ClosedRange<UInt64>? {
        guard position < known, early[position + 1] == nil else { return nil }
        let last = early.keys.min().map { $0 - 1 } ?? known
        return position + 1...last
    }
}

/// Orders the frames of the log, which may arrive late, twice, or not at all.
package struct LogReader: Sendable {
    /// The maximum number of frames that are kept after a gap; frames beyond it are fetched again.
    private static let bufferLimit = 4096

    /// The position of the last frame that was returned.
    package private(set) var position: UInt64
    /// The highest position that is known to be in the log.
    package private(set) var known: UInt64
    private var early: [UInt64: [UInt8]] = [:]

    /// A reader that continues after a position.
    package init(position: UInt64) {
        self.position = position
        known = position
    }

    /// Adds a frame. It, and the later ones that waited for it, are returned by `next`. False: it was there already, or
    /// there is no place for it.
    @discardableResult
    package mutating func arrived(_ frame: StoredFrame) -> Bool {
        known = max(known, frame.position)
        guard frame.position > position, early.count < Self.bufferLimit || frame.position == position + 1
        else { return false }
        return early.updateValue(frame.bytes, forKey: frame.position) == nil
    }

    /// Records that the log reaches this position.
    package mutating func reaches(_ position: UInt64) { known = max(known, position) }

    /// The next frame in order; nil while it is missing.
    package mutating func next() -> StoredFrame? {
        guard let bytes = early.removeValue(forKey: position + 1) else { return nil }
        position += 1
        return StoredFrame(position: position, bytes: bytes)
    }

    /// The missing positions of the log, up to the first frame that was received.
    package var gap: ClosedRange<UInt64>? {
        guard position < known, early[position + 1] == nil else { return nil }
        let last = early.keys.min().map { $0 - 1 } ?? known
        return position + 1...last
    }
}

internal import StreamIO

/// Shared writes under way: the next write, and its next stream.
struct SharedTurns {
    /// Some of the turns of one write.
    struct Slice {
        let write: SharedWrite
        /// The turns; `stream` returns the stream of each.
        let turns: Range<Int>
        fileprivate let start: Int

        func stream(at turn: Int) -> StreamID {
            let place = start + turn
            return write.streams[place < write.streams.count ? place : place - write.streams.count]
        }
    }

    private var writes: [SharedWrite] = []
    /// Writes that are done.
    private var done = 0
    /// Turns of the next write that are done.
    private var turn = 0
    private var rotation = 0

    /// Whether no write is under way.
    private(set) var isEmpty = true

    /// Adds new writes; each pass begins with another stream, for fairness.
    mutating func begin(_ new: [SharedWrite]) {
        writes += new
        isEmpty = writes.isEmpty
        rotation = TurnRotation.next(rotation)
    }

    /// Removes and returns the next turns, all of one write; nil if there are none.
    mutating func next(atMost limit: Int) -> Slice? {
        guard done < writes.count else {
            writes.removeAll(keepingCapacity: true)
            done = 0
            isEmpty = true
            return nil
        }
        let write = writes[done]
        let count = write.streams.count
        let turns = turn..<min(count, turn + limit)
        turn = turns.upperBound
        if turn == count {
            turn = 0
            done += 1
        }
        return Slice(write: write, turns: turns, start: count == 0 ? 0 : rotation % count)
    }
}

/// The stream that a pass begins with: another one in each pass, for fairness.
enum TurnRotation {
    /// A prime, so that each index of a list is used, for any length but multiples of the prime.
    private static let step = 7919

    /// The rotation of the next pass; never negative.
    static func next(_ rotation: Int) -> Int { (rotation &+ step) & 0xFFFF_FFFF }
}

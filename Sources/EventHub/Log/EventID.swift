internal import JSONText

/// The id of a data event, `<epoch>-<sequence>`.
struct EventID: Equatable, Sendable {
    /// Names the life of one hub; has no meaning beyond it.
    let epoch: String
    /// The place in the order of all events of that hub.
    let sequence: UInt64

    /// An id from its parts.
    init(epoch: String, sequence: UInt64) {
        self.epoch = epoch
        self.sequence = sequence
    }

    /// Reads an id; nil for anything else.
    init?(_ text: String) {
        guard let dash = text.utf8.lastIndex(of: UInt8(ascii: "-")) else { return nil }
        let digits = text[text.utf8.index(after: dash)...]
        guard dash != text.startIndex, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let sequence = UInt64(digits)
        else { return nil }
        self.init(epoch: String(text[..<dash]), sequence: sequence)
    }
}

/// The sequences that snapshots took. One that lies inside such a range, and not at its end, cannot be resumed from: who
/// has it saw only a part of the snapshot.
struct SnapshotRanges: Sendable {
    private static let limit = 16_384

    private var starts: [UInt64] = []
    private var ends: [UInt64] = []
    private var forgottenThrough: UInt64 = 0

    /// Nothing was taken yet.
    init() {}

    /// Remembers a range, which lies behind all others; the oldest are forgotten when they become many.
    mutating func insert(_ range: ClosedRange<UInt64>) {
        if starts.count == Self.limit {
            forgottenThrough = ends[Self.limit / 2 - 1]
            starts.removeFirst(Self.limit / 2)
            ends.removeFirst(Self.limit / 2)
        }
        starts.append(range.lowerBound)
        ends.append(range.upperBound)
    }

    /// Whether one who has everything up to this sequence may have seen only a part of a snapshot.
    func cuts(_ sequence: UInt64) -> Bool {
        if sequence < forgottenThrough { return true }
        var low = 0
        var high = starts.count
        while low < high {
            let middle = (low + high) / 2
            if starts[middle] <= sequence { low = middle + 1 } else { high = middle }
        }
        return low > 0 && sequence < ends[low - 1]
    }
}

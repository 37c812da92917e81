internal import Primitives

/// The id of a data event, `<epoch>-<sequence>`.
package struct EventID: Equatable, Sendable {
    /// The name of the numbering; sequences of different epochs cannot be compared.
    package let epoch: String
    /// The place in the order of all events of the epoch.
    package let sequence: UInt64

    package init(epoch: String, sequence: UInt64) {
        self.epoch = epoch
        self.sequence = sequence
    }

    package var text: String { "\(epoch)-\(sequence)" }

    /// Parses an id; nil for any other text.
    package init?(_ text: String) {
        guard let dash = text.utf8.lastIndex(of: UInt8(ascii: "-")) else { return nil }
        let digits = text[text.utf8.index(after: dash)...]
        guard dash != text.startIndex, digits.hasASCIIDigitsOnly, let sequence = UInt64(digits) else { return nil }
        self.init(epoch: String(text[..<dash]), sequence: sequence)
    }
}

/// The source of the numbers of a hub's events.
package enum EventNumbering: Sendable {
    /// The hub counts its events, those of snapshots included.
    case counted
    /// The numbers come with the changes (see `EventNumber`).
    case given
}

/// The ranges of the numbers that snapshots have in a hub that counts its events. A stream can resume from the end of
/// such a range, but not from a number inside it, since it has received only a part of the snapshot.
struct SnapshotRanges: Sendable {
    private static let limit = 16_384

    private var starts: [UInt64] = []
    private var ends: [UInt64] = []
    private var forgottenThrough: UInt64 = 0

    /// Adds a range, which lies behind all others. When there are too many the older half is dropped.
    mutating func insert(_ range: ClosedRange<UInt64>) {
        if starts.count == Self.limit {
            forgottenThrough = ends[Self.limit / 2 - 1]
            starts.removeFirst(Self.limit / 2)
            ends.removeFirst(Self.limit / 2)
        }
        starts.append(range.lowerBound)
        ends.append(range.upperBound)
    }

    /// Whether a stream that has everything up to this number may have received only a part of a snapshot.
    func cuts(_ number: UInt64) -> Bool {
        if number < forgottenThrough { return true }
        let next = starts.indices.partitioningIndex { starts[$0] > number }
        return next > 0 && number < ends[next - 1]
    }
}

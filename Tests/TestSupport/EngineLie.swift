/// What an engine shows to some members instead of the frames that it has acknowledged.
package enum EngineLie: CaseIterable, Sendable {
    /// One bit of a frame is another one.
    case flippedBit
    /// An earlier frame is at the position of a later one.
    case otherFrame
    /// Nothing is left of the content of a frame.
    case emptyFrame
    /// Two frames have each other's position.
    case otherOrder

    /// The bytes at the last positions of a log, by position, as the lie shows them; nil: the log is too short.
    package func shown(_ log: [[UInt8]], from position: Int, bit: Int) -> [Int: [UInt8]]? {
        guard log.count > position, position > 1 else { return nil }
        var frame = log[position]
        switch self {
        case .flippedBit:
            // Not in the mark of the format: such a message is ignored by all who read it.
            frame[2 + bit / 8 % (frame.count - 2)] ^= 1 << UInt8(bit % 8)
            return [position: frame]
        case .otherFrame: return [position: log[position - 1]]
        case .emptyFrame: return [position: []]
        case .otherOrder:
            guard log.count > position + 1 else { return nil }
            return [position: log[position + 1], position + 1: frame]
        }
    }
}

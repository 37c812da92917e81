/// What became of a number of a sequence.
enum SequenceEvent: Sendable, Hashable {
    /// The message is next to be processed.
    case process(ClientMessage)
    /// These numbers, all up to the given one, never came.
    case skipped(through: Int, count: Int)
}

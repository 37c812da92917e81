/// How far a reader may read a log: taken under the hub's lock, used without it.
struct LogView: Sendable {
    /// The last segment.
    let tail: LogSegment
    /// The number of its events that may be read.
    let tailCount: Int
    /// The last segment's number.
    let tailNumber: Int
    /// The number of events of the topic.
    let endOrdinal: Int
    /// The weight of all events of the topic.
    let weight: Int

    /// Everything that is there now.
    init(tail: LogSegment, weight: Int) {
        self.tail = tail
        self.weight = weight
        tailCount = tail.count
        tailNumber = tail.number
        endOrdinal = tail.endOrdinal
    }
}

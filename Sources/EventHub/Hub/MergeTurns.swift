/// Whose turn it is when channels are merged: a place for each, with the sequence of its next event.
struct MergeTurns {
    private var sequences: [UInt64] = []

    /// No channels.
    init() {}

    /// Adds a channel by the sequence of its next event; nil: it has none.
    mutating func append(_ sequence: UInt64?) { sequences.append(sequence ?? .max) }

    /// A channel went on.
    mutating func set(_ sequence: UInt64?, at place: Int) { sequences[place] = sequence ?? .max }

    /// Forgets all channels, keeps the memory.
    mutating func removeAll() { sequences.removeAll(keepingCapacity: true) }

    /// The channel with the oldest event, and the sequence at which another has its turn; nil if there are no events.
    func next() -> (place: Int, until: UInt64)? {
        var place = 0
        var least = UInt64.max
        var until = UInt64.max
        for index in sequences.indices {
            let sequence = sequences[index]
            if sequence < least {
                until = least
                least = sequence
                place = index
            } else if sequence < until {
                until = sequence
            }
        }
        return least == .max ? nil : (place, until)
    }
}

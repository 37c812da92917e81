internal import Primitives

/// A timer wheel: a ring of ticks, each with a list of the entries that are due then.
///
/// Entries are small numbers (indices of a table) with at most one deadline each. Extending a deadline, as every
/// event does with a heartbeat, only stores it: the entry is moved when the old one is due. Nothing is allocated
/// while the numbers stay below the highest one so far.
///
///     ticks   | 0 | 1 | 2 | … | 1023 |     one list each; deadlines beyond the ring are in its last tick
///     list      7 <-> 3 <-> 12             linked through `following` and `preceding`, by number
struct TimerWheel: ~Copyable {
    private static let size: UInt64 = 1024
    private static let none: Int32 = -1

    private let granularity: UInt64
    private var present: UInt64
    private var heads = [Int32](repeating: TimerWheel.none, count: Int(TimerWheel.size))
    private var occupied = [UInt64](repeating: 0, count: Int(TimerWheel.size) / 64)
    private var following: [Int32] = []
    private var preceding: [Int32] = []
    private var ticks: [UInt64] = []
    private var deadlines: [UInt64] = []

    /// - Parameter granularity: The length of a tick.
    init(granularity: Duration, now: Moment) {
        self.granularity = UInt64(clamping: max(1, granularity.clampedNanoseconds))
        present = UInt64(clamping: now.nanoseconds) / self.granularity
    }

    mutating func schedule(_ thing: Int, at deadline: Moment) {
        if thing >= deadlines.count { makeRoom(for: thing) }
        let isWaiting = deadlines[thing] != .max
        deadlines[thing] = UInt64(clamping: deadline.nanoseconds)
        let tick = tick(of: deadlines[thing])
        if isWaiting {
            if ticks[thing] <= tick { return }
            unlink(thing)
        }
        link(thing, at: tick)
    }

    /// Removes the deadline of an entry, if it has one.
    mutating func cancel(_ thing: Int) {
        guard thing < deadlines.count, deadlines[thing] != .max else { return }
        unlink(thing)
        deadlines[thing] = .max
    }

    /// The deadline of an entry; nil for none.
    func deadline(of thing: Int) -> Moment? {
        guard thing < deadlines.count, deadlines[thing] != .max else { return nil }
        return Moment(nanoseconds: Int64(clamping: deadlines[thing]))
    }

    /// Advances to the present and appends the due entries, whose deadlines are removed.
    mutating func advance(to now: Moment, due: inout [Int]) {
        let reading = UInt64(clamping: now.nanoseconds)
        let target = reading / granularity
        guard target > present else { return }
        // After a pause longer than the ring, one turn visits all ticks.
        var tick = target - present >= Self.size ? target - Self.size : present
        present = target
        while tick < target {
            tick += 1
            let place = Int(tick % Self.size)
            if heads[place] != Self.none { empty(place, reading, &due) }
        }
    }

    /// When `advance` is due; nil if there are no deadlines.
    var nextTick: Moment? {
        var distance: UInt64 = 1
        while distance <= Self.size {
            let place = Int((present &+ distance) % Self.size)
            if place % 64 == 0, occupied[place / 64] == 0 {
                distance += 64
            } else if heads[place] != Self.none {
                return Moment(nanoseconds: Int64(clamping: (present &+ distance) &* granularity))
            } else {
                distance += 1
            }
        }
        return nil
    }

    private func tick(of deadline: UInt64) -> UInt64 {
        let exact = deadline / granularity + (deadline % granularity == 0 ? 0 : 1)
        return min(max(exact, present + 1), present + Self.size - 1)
    }

    private mutating func empty(_ place: Int, _ now: UInt64, _ due: inout [Int]) {
        var next = heads[place]
        while next != Self.none {
            let thing = Int(next)
            next = following[thing]
            unlink(thing)
            if deadlines[thing] <= now {
                deadlines[thing] = .max
                due.append(thing)
            } else {
                link(thing, at: tick(of: deadlines[thing]))
            }
        }
    }

    private mutating func link(_ thing: Int, at tick: UInt64) {
        let place = Int(tick % Self.size)
        ticks[thing] = tick
        preceding[thing] = Self.none
        following[thing] = heads[place]
        if heads[place] != Self.none { preceding[Int(heads[place])] = Int32(thing) }
        heads[place] = Int32(thing)
        occupied[place / 64] |= 1 << UInt64(place % 64)
    }

    private mutating func unlink(_ thing: Int) {
        let place = Int(ticks[thing] % Self.size)
        if following[thing] != Self.none { preceding[Int(following[thing])] = preceding[thing] }
        if preceding[thing] != Self.none {
            following[Int(preceding[thing])] = following[thing]
        } else {
            heads[place] = following[thing]
            if heads[place] == Self.none { occupied[place / 64] &= ~(1 << UInt64(place % 64)) }
        }
    }

    private mutating func makeRoom(for thing: Int) {
        while deadlines.count <= thing {
            following.append(Self.none)
            preceding.append(Self.none)
            ticks.append(0)
            deadlines.append(.max)
        }
    }
}

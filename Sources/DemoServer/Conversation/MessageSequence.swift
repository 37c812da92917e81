/// The messages of one named sequence: each waits for all earlier ones, but not for ever.
struct MessageSequence: Sendable {
    private struct Waiting: Sendable {
        var message: ClientMessage
        var until: Duration
    }

    /// The lowest number that was neither accepted nor given up.
    private var next = 1
    private var waiting: [Int: Waiting] = [:]
    private let capacity: Int

    /// A sequence that expects number 1.
    ///
    /// - Parameters:
    ///   - capacity: Number of messages that may wait.
    init(capacity: Int) {
        self.capacity = capacity
    }

    /// The instant at which waiting ends for some message.
    var earliestEnd: Duration? { waiting.values.map(\.until).min() }

    /// A message came.
    mutating func received(_ message: ClientMessage, number: Int, at now: Duration) -> MessageVerdict {
        if number < next { return .duplicate(code: 32) }
        if waiting[number] != nil { return .duplicate(code: 33) }
        guard number > next else {
            next += 1
            return .accepted([.process(message)] + releaseReady())
        }
        guard waiting.count < capacity else { return .refused }
        let until = now + message.maxWait
        waiting[number] = Waiting(message: message, until: until)
        return .waits(until: until)
    }

    /// Time has passed: numbers that kept a message waiting for too long are given up.
    mutating func timePassed(at now: Duration) -> [SequenceEvent] {
        var events: [SequenceEvent] = []
        while waiting.values.contains(where: { $0.until <= now }), let first = waiting.keys.min() {
            events.append(.skipped(through: first - 1, count: first - next))
            next = first
            events += releaseReady()
        }
        return events
    }

    private mutating func releaseReady() -> [SequenceEvent] {
        var ready: [SequenceEvent] = []
        while let entry = waiting.removeValue(forKey: next) {
            ready.append(.process(entry.message))
            next += 1
        }
        return ready
    }
}

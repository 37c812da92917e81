/// All messages of a session: which were seen, which wait for others, and which are being worked on.
struct MessageSequences: Sendable {
    private var sequences: [String: MessageSequence] = [:]
    private var unordered: SeenNumbers
    private var work: [String?: Fifo<SequenceEvent>] = [:]
    private var busyUntil: [String?: Duration] = [:]
    private let capacity: Int
    private let maxBytes: Int
    private let maxSequences = 1_000
    /// Bytes of the texts that wait, and of the names of all sequences.
    private var bytes = 0

    /// A session without messages.
    ///
    /// - Parameters:
    ///   - capacity: Number of messages that may wait, per sequence.
    ///   - maxBytes: Bytes that all messages that wait may have.
    init(capacity: Int, maxBytes: Int) {
        self.capacity = capacity
        self.maxBytes = maxBytes
        unordered = SeenNumbers(capacity: capacity)
    }

    /// A message came; what became ready is queued as work of its sequence.
    mutating func received(_ message: ClientMessage, at now: Duration) -> MessageAcceptance {
        // The number after the greatest one cannot be counted to.
        guard message.progressive != .max else { return .refused }
        guard bytes + size(of: message) <= maxBytes, (work[message.sequence]?.count ?? 0) < capacity * 2 else {
            return .refused
        }
        guard let name = message.sequence, let number = message.progressive else {
            if let number = message.progressive, !unordered.insert(number) { return .duplicate(code: 32) }
            bytes += size(of: message)
            enqueue([.process(message)], sequence: nil)
            return .accepted([])
        }
        if sequences[name] == nil {
            guard sequences.count < maxSequences else { return .refused }
            sequences[name] = MessageSequence(capacity: capacity)
            bytes += name.utf8.count
        }
        let verdict = sequences[name]?.received(message, number: number, at: now) ?? .refused
        switch verdict {
        case .accepted(let events):
            bytes += size(of: message)
            enqueue(events, sequence: name)
        case .waits:
            bytes += size(of: message)
        case .duplicate, .refused:
            break
        }
        return verdict
    }

    private func size(of message: ClientMessage) -> Int { message.text.utf8.count + 64 }

    /// The instant at which waiting ends for some message of a sequence.
    func earliestEnd(of sequence: String) -> Duration? { sequences[sequence]?.earliestEnd }

    /// Waiting may have ended for messages of a sequence; what became ready is queued as its work.
    mutating func waited(in sequence: String, at now: Duration) {
        let events = sequences[sequence]?.timePassed(at: now) ?? []
        enqueue(events, sequence: sequence)
    }

    /// Takes the next piece of work out; nil while there is none or the previous one still takes time.
    mutating func nextWork(of sequence: String?, at now: Duration) -> SequenceEvent? {
        if let until = busyUntil[sequence], until > now { return nil }
        busyUntil[sequence] = nil
        guard let event = work[sequence]?.popFirst() else {
            work[sequence] = nil
            return nil
        }
        if case .process(let message) = event { bytes -= size(of: message) }
        return event
    }

    /// A message takes its time: the rest of its sequence waits, and the message is gone through again then.
    mutating func postpone(_ message: ClientMessage, until time: Duration) {
        busyUntil[message.sequence] = time
        bytes += size(of: message)
        let later = work[message.sequence]?.elements ?? []
        var queue = Fifo<SequenceEvent>()
        queue.append(.process(message))
        for event in later { queue.append(event) }
        work[message.sequence] = queue
    }

    private mutating func enqueue(_ events: [SequenceEvent], sequence: String?) {
        for event in events { work[sequence, default: Fifo()].append(event) }
    }

    /// Every timer that may be running for these messages.
    var timers: [SessionTimer] {
        sequences.keys.map { .skip(sequence: $0) } + busyUntil.keys.map { .work(sequence: $0) }
    }
}

/// A message of a client on its way through the session.
struct ClientMessage: Sendable, Hashable {
    /// The text.
    var text: String
    /// Its sequence; nil if it has none.
    var sequence: String?
    /// Its number in the sequence, or among those without; nil if the client wants no outcome.
    var progressive: Int?
    /// How long it may wait for earlier ones.
    var maxWait: Duration
    /// Whether the client wants to know what became of it.
    var wantsOutcome: Bool
}

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
    mutating func received(_ message: ClientMessage, number: Int, at now: Duration) -> MessageAcceptance {
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

/// What became of a number of a sequence.
enum SequenceEvent: Sendable, Hashable {
    /// The message is next to be processed.
    case process(ClientMessage)
    /// These numbers, all up to the given one, never came.
    case skipped(through: Int, count: Int)
}

/// Whether a message was accepted.
enum MessageAcceptance: Sendable, Hashable {
    /// It was; whatever became ready is processed in order.
    case accepted([SequenceEvent])
    /// It was, but earlier ones are missing; what became ready by this instant goes on then.
    case waits(until: Duration)
    /// It was here before: control code 32 or 33.
    case duplicate(code: Int)
    /// Too much waits already.
    case refused
}

/// Which numbers were seen, where they come mostly in order; bounded by forgetting that low ones were missing.
struct SeenNumbers: Sendable {
    private var seenBelow = 1
    private var seen: Set<Int> = []
    private let capacity: Int

    /// Nothing seen.
    ///
    /// - Parameters:
    ///   - capacity: Numbers out of order that are remembered one by one.
    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Notes a number from 1; false if it was seen before.
    mutating func insert(_ number: Int) -> Bool {
        guard number >= seenBelow, seen.insert(number).inserted else { return false }
        if seen.count > capacity, let lowest = seen.min() { seenBelow = lowest }
        while seen.remove(seenBelow) != nil { seenBelow += 1 }
        return true
    }
}

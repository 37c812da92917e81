internal import DequeModule

/// The messages of a session: those received, those that wait for earlier ones, and those that are processed.
struct MessageSequences: Sendable {
    private var sequences: [String: MessageSequence] = [:]
    private var unordered: SeenNumbers
    private var work: [String?: Deque<SequenceEvent>] = [:]
    /// The sequences whose first message in `work` takes time.
    private var busyUntil: [String: Duration] = [:]
    /// The messages without sequence that take time, in the order of their ends: they delay no other.
    private var delayed: [(end: Duration, message: ClientMessage)] = []
    private let capacity: Int
    private let maxBytes: Int
    private let maxSequences = 1_000
    /// Bytes of the waiting texts and of the names of all sequences.
    private var bytes = 0

    /// A session without messages. `capacity`: of waiting messages in each sequence; `maxBytes`: of all waiting messages.
    init(capacity: Int, maxBytes: Int) {
        self.capacity = capacity
        self.maxBytes = maxBytes
        unordered = SeenNumbers(capacity: capacity)
    }

    /// Accepts a message; messages that became ready are queued for processing.
    mutating func received(_ message: ClientMessage, at now: Duration) -> MessageAcceptance {
        // The next number would overflow.
        guard message.progressive != .max else { return .refused }
        // A repetition, sent because the reply was lost, is recognized at the limits, too: after another refusal the client
        // would give up the message.
        if let code = duplicateCode(of: message) { return .duplicate(code: code) }
        let queued = (work[message.sequence]?.count ?? 0) + (message.sequence == nil ? delayed.count : 0)
        guard bytes + size(of: message) <= maxBytes, queued < capacity * 2 else { return .refused }
        guard let name = message.sequence, let number = message.progressive else {
            if let number = message.progressive { unordered.insert(number) }
            bytes += size(of: message)
            enqueue([.process(message)], sequence: nil)
            return .accepted
        }
        if sequences[name] == nil {
            guard sequences.count < maxSequences else { return .refused }
            sequences[name] = MessageSequence(capacity: capacity)
            bytes += name.utf8.count
        }
        guard let events = sequences[name]?.received(message, number: number, at: now) else { return .refused }
        bytes += size(of: message)
        enqueue(events, sequence: name)
        return .accepted
    }

    private func duplicateCode(of message: ClientMessage) -> Int? {
        guard let number = message.progressive else { return nil }
        guard let name = message.sequence else { return unordered.contains(number) ? 32 : nil }
        return sequences[name]?.duplicateCode(of: number)
    }

    private func size(of message: ClientMessage) -> Int { message.text.utf8.count + 64 }

    /// The instant at which the first waiting time of a sequence ends.
    func earliestEnd(of sequence: String) -> Duration? { sequences[sequence]?.earliestEnd }

    /// Ends the waiting times that are over; messages that became ready are queued for processing.
    mutating func waited(in sequence: String, at now: Duration) {
        let events = sequences[sequence]?.timePassed(at: now) ?? []
        enqueue(events, sequence: sequence)
    }

    /// Removes and returns the next event to process; nil while there is none or the previous message is processed.
    mutating func nextWork(of sequence: String?, at now: Duration) -> SequenceEvent? {
        if let sequence {
            if let until = busyUntil[sequence], until > now { return nil }
            busyUntil[sequence] = nil
        } else if let first = delayed.first, first.end <= now {
            delayed.removeFirst()
            bytes -= size(of: first.message)
            return .process(first.message)
        }
        guard let event = work[sequence]?.popFirst() else {
            work[sequence] = nil
            return nil
        }
        if case .process(let message) = event { bytes -= size(of: message) }
        return event
    }

    /// Delays a message, which is processed again at `time`; later messages of its sequence wait.
    mutating func postpone(_ message: ClientMessage, until time: Duration) {
        bytes += size(of: message)
        if let sequence = message.sequence {
            busyUntil[sequence] = time
            work[sequence, default: []].prepend(.process(message))
        } else {
            delayed.insert((time, message), at: delayed.firstIndex { $0.end > time } ?? delayed.endIndex)
        }
    }

    /// When `nextWork` returns a message that takes time; nil: there is none.
    func endOfDelay(of sequence: String?) -> Duration? { sequence.map { busyUntil[$0] } ?? delayed.first?.end }

    private mutating func enqueue(_ events: [SequenceEvent], sequence: String?) {
        if !events.isEmpty { work[sequence, default: []].append(contentsOf: events) }
    }

    /// All timers that may be set for these messages.
    var timers: [DemoSessionTimer] {
        sequences.keys.map { .skip(sequence: $0) } + busyUntil.keys.map { .work(sequence: $0) } + [.work(sequence: nil)]
    }
}

struct ClientMessage: Sendable, Hashable {
    var text: String
    /// The sequence; nil: unordered.
    var sequence: String?
    /// The number in the sequence, or among messages without sequence; nil if the client requests no outcome.
    var progressive: Int?
    /// Longest time for which the message waits for earlier messages.
    var maxWait: Duration
    var wantsOutcome: Bool
    /// The address of the sender.
    var peer = ""
}

/// The messages of one sequence: each waits for all earlier ones, up to its waiting time.
struct MessageSequence: Sendable {
    private struct Waiting: Sendable {
        var message: ClientMessage
        var until: Duration
    }

    /// The lowest number that was neither released nor skipped.
    private var next = 1
    /// The highest number that was skipped. Which lower numbers were received is not kept.
    private var lastSkipped = 0
    private var waiting: [Int: Waiting] = [:]
    private let capacity: Int

    /// A sequence that expects number 1. `capacity`: of waiting messages.
    init(capacity: Int) { self.capacity = capacity }

    /// The instant at which the first waiting time ends.
    var earliestEnd: Duration? { waiting.values.map(\.until).min() }

    /// The code of the refusal of a number that was received before, or skipped; nil for another one.
    func duplicateCode(of number: Int) -> Int? {
        guard number < next || waiting[number] != nil else { return nil }
        return number <= lastSkipped ? 32 : 33
    }

    /// Accepts a message with a number that is not a duplicate. The result has the messages that became ready, none if the
    /// message waits; nil if too many messages wait.
    mutating func received(_ message: ClientMessage, number: Int, at now: Duration) -> [SequenceEvent]? {
        guard number > next else {
            next += 1
            return [.process(message)] + releaseReady()
        }
        guard waiting.count < capacity else { return nil }
        waiting[number] = Waiting(message: message, until: now + message.maxWait)
        return []
    }

    /// Skips the missing numbers of messages whose waiting time is over.
    mutating func timePassed(at now: Duration) -> [SequenceEvent] {
        var events: [SequenceEvent] = []
        while waiting.values.contains(where: { $0.until <= now }), let first = waiting.keys.min() {
            events.append(.skipped(through: first - 1, count: first - next))
            lastSkipped = first - 1
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

enum SequenceEvent: Sendable, Hashable {
    case process(ClientMessage)
    /// This count of missing numbers, up to the given one, is skipped.
    case skipped(through: Int, count: Int)
}

enum MessageAcceptance: Sendable, Hashable {
    /// The message is processed, or waits for earlier messages.
    case accepted
    /// The message was received before: control code 32 or 33.
    case duplicate(code: Int)
    /// Too many messages wait.
    case refused
}

/// The set of received numbers. Bounded: when too many are out of order, missing low numbers count as received.
struct SeenNumbers: Sendable {
    private var seenBelow = 1
    private var seen: Set<Int> = []
    private let capacity: Int

    /// An empty set. `capacity`: of numbers out of order.
    init(capacity: Int) { self.capacity = capacity }

    /// Whether a number was received before.
    func contains(_ number: Int) -> Bool { number < seenBelow || seen.contains(number) }

    /// Inserts a number, at least 1.
    mutating func insert(_ number: Int) {
        guard !contains(number) else { return }
        seen.insert(number)
        if seen.count > capacity, let lowest = seen.min() { seenBelow = lowest }
        while seen.remove(seenBelow) != nil { seenBelow += 1 }
    }
}

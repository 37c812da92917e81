/// All messages of a session: which were seen, which wait for others, and which are being worked on.
struct MessageLedger: Sendable {
    private var sequences: [String: MessageSequence] = [:]
    private var unordered: NumberRecord
    private var work: [String?: Fifo<SequenceEvent>] = [:]
    private var busyUntil: [String?: Duration] = [:]
    private let capacity: Int
    private let maxSequences = 1_000

    /// A session without messages.
    ///
    /// - Parameters:
    ///   - capacity: Number of messages that may wait, per sequence.
    init(capacity: Int) {
        self.capacity = capacity
        unordered = NumberRecord(capacity: capacity)
    }

    /// A message came; what became ready is queued as work of its sequence.
    mutating func received(_ message: ClientMessage, at now: Duration) -> MessageVerdict {
        // The number after the greatest one cannot be counted to.
        guard message.progressive != .max else { return .refused }
        guard let name = message.sequence, let number = message.progressive else {
            if let number = message.progressive, !unordered.insert(number) { return .duplicate(code: 32) }
            return enqueue([.process(message)], sequence: nil) ? .accepted([]) : .refused
        }
        guard sequences[name] != nil || sequences.count < maxSequences else { return .refused }
        let verdict = sequences[name, default: MessageSequence(capacity: capacity)].received(
            message,
            number: number,
            at: now
        )
        if case .accepted(let events) = verdict { _ = enqueue(events, sequence: name) }
        return verdict
    }

    /// The instant at which waiting ends for some message of a sequence.
    func earliestEnd(of sequence: String) -> Duration? { sequences[sequence]?.earliestEnd }

    /// Waiting may have ended for messages of a sequence; what became ready is queued as its work.
    mutating func waited(in sequence: String, at now: Duration) {
        let events = sequences[sequence]?.timePassed(at: now) ?? []
        _ = enqueue(events, sequence: sequence)
    }

    /// Takes the next piece of work out; nil while there is none or the previous one still takes time.
    mutating func nextWork(of sequence: String?, at now: Duration) -> SequenceEvent? {
        if let until = busyUntil[sequence], until > now { return nil }
        busyUntil[sequence] = nil
        guard let event = work[sequence]?.popFirst() else {
            work[sequence] = nil
            return nil
        }
        return event
    }

    /// A message takes its time: the rest of its sequence waits, and the message is gone through again then.
    mutating func postpone(_ message: ClientMessage, until time: Duration) {
        busyUntil[message.sequence] = time
        let later = work[message.sequence]?.elements ?? []
        var queue = Fifo<SequenceEvent>()
        queue.append(.process(message))
        for event in later { queue.append(event) }
        work[message.sequence] = queue
    }

    private mutating func enqueue(_ events: [SequenceEvent], sequence: String?) -> Bool {
        guard (work[sequence]?.count ?? 0) < capacity * 2 else { return false }
        for event in events { work[sequence, default: Fifo()].append(event) }
        return true
    }

    /// Every timer that may be running for these messages.
    var timers: [SessionTimer] {
        sequences.keys.map { .skip(sequence: $0) } + busyUntil.keys.map { .work(sequence: $0) }
    }
}

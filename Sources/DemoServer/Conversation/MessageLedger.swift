/// All messages of a session: which were seen, which wait for others, and which are being worked on.
struct MessageLedger: Sendable {
    private var sequences: [String: MessageSequence] = [:]
    private var unordered: NumberRecord
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
        unordered = NumberRecord(capacity: capacity)
    }

    /// A message came; what became ready is queued as work of its sequence.
    mutating func received(_ message: ClientMessage, at now: Duration) -> MessageVerdict {
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

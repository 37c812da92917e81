internal import Primitives
internal import StreamIO

/// The open streams of a loop: their numbers, their turns, their deadlines. Used by the thread that has the loop's turn.
///
/// Bytes for many streams are written to their sinks from here, without access to their writers and contents, which
/// are not in the processor's caches. Other streams are visited if they are due: the content appends ranges of shared
/// bytes to the one batch of the loop, and one system call sends them. Neither path allocates or takes a lock.
final class StreamScheduler {
    private struct Entry {
        var writer: StreamWriter?
        var generation: UInt32 = 0
        /// Takes shared writes; nil if the stream does not, or is blocked.
        var sink: StreamSink?
        var isQueued = false
        /// The reason for which the stream is over; a stream with a reason leaves at the next turn.
        var end: StreamEnd?
        /// When the stream is visited without an event.
        var deadline: Moment?
    }

    /// The number of streams visited before the loop handles other events.
    private static let sliceLength = 512
    /// The time in nanoseconds, beside the last visit, for which streams are visited before the loop handles other events: a
    /// visit of a stream with thousands of sources takes milliseconds.
    private static let sliceTime: Int64 = 5_000_000

    /// Opens streams and reports those that are due; set before the first stream.
    var feed: (any StreamFeed)?
    /// The time of the present pass.
    private(set) var now: Moment
    private(set) var count = 0
    /// Streams whose clients accept no bytes at present.
    private(set) var blockedCount = 0
    private let poller: Poller
    private let blockedTimeout: Duration
    /// Writes to all streams, and counts the bytes.
    let output = StreamOutput()
    private var entries: [Entry] = []
    private var free: [Int] = []
    private var wheel: TimerWheel
    private var batch: StreamBatch
    private var queue: [Int] = []
    private var queueHead = 0
    private var news = FeedNews()
    /// The shared writes under way, which delay the next collection from the feed.
    private(set) var shared = SharedTurns()
    /// Shared writes to single streams that the kernel did not accept as a whole.
    private var shortfalls: [(stream: StreamID, write: SharedWrite, result: StreamOutput.Result)] = []
    private var rotation = 0
    private var due: [Int] = []
    /// The most streams to which a publishing thread writes.
    private let directLimit: Int
    /// When a publishing thread may write again.
    private var nextDirectWrite = Moment.zero

    init(poller: Poller, configuration: DaemonConfiguration, now: Moment) {
        self.poller = poller
        self.now = now
        blockedTimeout = configuration.blockedStreamTimeout
        wheel = TimerWheel(granularity: .milliseconds(10), now: now)
        batch = StreamBatch(byteLimit: configuration.batchLimit, pieceLimit: 256)
        directLimit = max(1, Self.directLimit / configuration.shards)
    }

    /// When `advance` has to be called with a time; until then the call may be left out.
    private(set) var nextTick = Moment.never
    /// Whether there is something to do without a further event.
    var hasQueue: Bool {
        guard queueHead == queue.count, shared.isEmpty, shortfalls.isEmpty else { return true }
        return false
    }

    /// Opens a stream and returns its writer. Nil if the stream cannot be opened or its descriptor cannot be watched;
    /// the stream then ends with `neverOpened`.
    func open(
        _ stream: AdmittedStream,
        framing: StreamFraming,
        makeWriter: (OpenStream) -> StreamWriter
    ) -> StreamWriter? {
        guard let feed else {
            stream.onEnd(.neverOpened)
            return nil
        }
        let slot = free.popLast() ?? entries.count
        if slot == entries.count { entries.append(Entry()) }
        let id = StreamID(slot: slot, generation: entries[slot].generation)
        let content = feed.open(StreamOpening(stream: stream.id, id: id, framing: framing, now: now))
        let opened = OpenStream(id: id, content: content, onEnd: stream.onEnd)
        let writer = makeWriter(opened)
        guard writer.begin(poller, blockedTimeout: blockedTimeout) else {
            free.append(slot)
            entries[slot].generation = (entries[slot].generation &+ 1) & StreamID.generationMask
            opened.ended(.neverOpened)
            return nil
        }
        entries[slot].writer = writer
        entries[slot].sink = writer.sharedSink
        count += 1
        enqueue(slot)
        return writer
    }

    /// Collects from the feed and queues the due streams. Each pass begins with another stream, for fairness.
    func askFeed() {
        guard let feed, shared.isEmpty else { return }
        _ = feed.collect(into: &news, ifAtMost: nil, now: now)
        takeNews()
        nextDirectWrite = Moment(nanoseconds: now.nanoseconds &+ Self.quietTime)
    }

    /// Queues what was collected.
    private func takeNews() {
        if !news.shared.isEmpty {
            shared.begin(news.shared)
            news.shared.removeAll(keepingCapacity: true)
        }
        let count = news.ready.count
        guard count > 0 else { return }
        var start = 0
        if count > 1 {
            rotation = TurnRotation.next(rotation)
            start = rotation % count
        }
        for index in start..<start + count {
            let id = news.ready[index < count ? index : index - count]
            if writer(of: id) != nil { enqueue(Int(id.slot)) }
        }
        news.ready.removeAll(keepingCapacity: true)
    }

    /// Begins a pass: queues the streams whose deadline has passed; those past their last deadline are closed.
    func advance(to now: Moment) {
        self.now = now
        if !shortfalls.isEmpty { settleShortfalls() }
        if now < nextTick { return }
        due.removeAll(keepingCapacity: true)
        wheel.advance(to: now, due: &due)
        for slot in due {
            entries[slot].deadline = nil
            guard let writer = entries[slot].writer else { continue }
            if let since = writer.blockedSince {
                if since + blockedTimeout > now {
                    schedule(slot, since + blockedTimeout)
                } else if writer.acceptsBytes(at: now) {
                    schedule(slot, now + blockedTimeout)
                } else {
                    end(slot, .blockedTooLong)
                }
            } else {
                enqueue(slot)
            }
        }
        nextTick = wheel.nextTick ?? .never
    }

    /// Writes up to a number of streams, for a limited time: first the shared writes, then the queued streams.
    ///
    /// - Parameter clock: The time.
    func serve(clock: () -> Moment = Moment.monotonic) {
        if !shared.isEmpty {
            share()
            settleShortfalls()
            guard shared.isEmpty else { return }
        }
        var left = min(queue.count - queueHead, Self.sliceLength)
        let end = left > 0 ? clock().nanoseconds &+ Self.sliceTime : 0
        while left > 0 {
            left -= 1
            let slot = queue[queueHead]
            queueHead += 1
            entries[slot].isQueued = false
            guard let writer = entries[slot].writer else { continue }
            if let reason = entries[slot].end {
                leave(slot, writer, reason)
            } else {
                let wasBlocked = writer.blockedSince != nil
                let outcome = writer.write(&batch, output, poller, now: now)
                settle(slot, writer, outcome, wasBlocked: wasBlocked)
            }
            if clock().nanoseconds >= end { break }
        }
        if queueHead > queue.count / 2 {
            queue.removeFirst(queueHead)
            queueHead = 0
        }
    }

    func noticed(_ id: StreamID, _ events: Poller.Events) {
        guard let writer = writer(of: id) else { return }
        let wasBlocked = writer.blockedSince != nil
        if let outcome = writer.noticed(events, output, poller, now: now) {
            settle(Int(id.slot), writer, outcome, wasBlocked: wasBlocked)
        }
    }

    func endAll(_ reason: StreamEnd) {
        settleShortfalls()
        for slot in entries.indices {
            if let writer = entries[slot].writer { leave(slot, writer, entries[slot].end ?? reason) }
        }
    }

    /// The writer of a stream; nil for one that is over.
    private func writer(of id: StreamID) -> StreamWriter? {
        let slot = Int(id.slot)
        guard slot < entries.count, entries[slot].generation == id.generation, entries[slot].end == nil else {
            return nil
        }
        return entries[slot].writer
    }

    private func enqueue(_ slot: Int) {
        guard !entries[slot].isQueued else { return }
        entries[slot].isQueued = true
        queue.append(slot)
    }

    private func settle(_ slot: Int, _ writer: StreamWriter, _ outcome: WriteOutcome, wasBlocked: Bool) {
        let isBlocked = writer.blockedSince != nil
        if isBlocked != wasBlocked {
            blockedCount += isBlocked ? 1 : -1
            entries[slot].sink = writer.sharedSink
        }
        switch outcome {
        case .idle(let deadline):
            schedule(slot, deadline)
        case .more:
            schedule(slot, nil)
            enqueue(slot)
        case .blocked:
            schedule(slot, writer.blockedSince.map { $0 + blockedTimeout })
            if !wasBlocked { writer.stream.content.blocked() }
        case .over(let reason):
            end(slot, reason)
        }
    }

    private func schedule(_ slot: Int, _ deadline: Moment?) {
        // Usually the deadline stays: that of the next heartbeat.
        guard entries[slot].deadline != deadline else { return }
        entries[slot].deadline = deadline
        if let deadline { wheel.schedule(slot, at: deadline) } else { wheel.cancel(slot) }
        nextTick = wheel.nextTick ?? .never
    }

    /// Lets a stream leave at its turn: the clients of many streams may go at once.
    private func end(_ slot: Int, _ reason: StreamEnd) {
        entries[slot].end = reason
        entries[slot].sink = nil
        schedule(slot, nil)
        enqueue(slot)
    }

    private func leave(_ slot: Int, _ writer: StreamWriter, _ reason: StreamEnd) {
        remove(slot, writer)
        writer.end(output, poller, closingBody: reason == .daemonClosed)
        writer.stream.ended(reason)
    }

    private func remove(_ slot: Int, _ writer: StreamWriter) {
        if writer.blockedSince != nil { blockedCount -= 1 }
        schedule(slot, nil)
        batch.removeAll()
        entries[slot].writer = nil
        entries[slot].sink = nil
        entries[slot].end = nil
        entries[slot].generation = (entries[slot].generation &+ 1) & StreamID.generationMask
        free.append(slot)
        count -= 1
    }
}

/// Writes the same bytes to many streams.
extension StreamScheduler {
    private func share() {
        var left = Self.sliceLength
        while left > 0, let slice = shared.next(atMost: left) {
            left -= max(1, slice.turns.count)
            let load = output.load(slice.write.pieces[...])
            for turn in slice.turns {
                let id = slice.stream(at: turn)
                let slot = Int(id.slot)
                // Reads the sink alone: a copy of the whole entry would retain the writer, and so access its memory.
                guard slot < entries.count, let sink = entries[slot].sink, entries[slot].generation == id.generation
                else { continue }
                let result = output.write(load, to: sink)
                if case .written(load.bytes) = result { continue }
                entries[slot].sink = nil
                shortfalls.append((id, slice.write, result))
            }
        }
    }

    /// Keeps the rest of writes that fell short, and ends the streams whose connections broke. Before it, no further
    /// bytes are collected for these streams.
    private func settleShortfalls() {
        while let (stream, write, result) = shortfalls.popLast() {
            guard let writer = writer(of: stream) else { continue }
            switch result {
            case .written(let count):
                writer.keep(write.pieces, after: count, poller, now: now)
                settle(Int(stream.slot), writer, .blocked, wasBlocked: false)
            case .broken:
                end(Int(stream.slot), .peerClosed)
            }
        }
    }
}

/// Writes in place of the loop's thread while that waits.
extension StreamScheduler {
    /// The most streams of all loops to which a publishing thread writes: a write costs as much as to wake a loop.
    private static let directLimit = 8
    /// The time without events, in nanoseconds, before a publishing thread writes. Of events that follow each other more
    /// closely the loop writes several in one system call.
    private static let quietTime: Int64 = 50_000
    /// The least such time in multiples of the last write of a publishing thread, which thus spends at most a fifth of
    /// its time on writes.
    private static let quietShare: Int64 = 4

    /// Writes new events that are for a few streams to their sockets.
    ///
    /// The calling thread may hold locks. Therefore it calls neither contents nor the actions at the end of a stream,
    /// which could need them: if a write falls short, the loop continues.
    ///
    /// - Parameter clock: The time.
    /// - Returns: Whether nothing is left to do for the loop.
    func writeDirectly(clock: () -> Moment) -> Bool {
        guard let feed, !hasQueue else { return false }
        let start = clock()
        guard start >= nextDirectWrite else { return false }
        guard feed.collect(into: &news, ifAtMost: directLimit, now: start) else { return false }
        takeNews()
        if !shared.isEmpty { share() }
        let end = clock()
        let quietTime = max(Self.quietTime, (end.nanoseconds &- start.nanoseconds) &* Self.quietShare)
        nextDirectWrite = Moment(nanoseconds: end.nanoseconds &+ quietTime)
        return !hasQueue
    }
}

internal import StreamIO

/// The open streams of a loop: their numbers, their turns, their deadlines. Confined to the loop's thread.
///
/// Bytes for many streams are written to their sockets from here, without access to their writers and contents, which
/// are not in the processor's caches. Other streams are visited if they are due: the content appends ranges of shared
/// bytes to the one batch of the loop, and one system call sends them. Neither path allocates or takes a lock.
final class StreamScheduler {
    private struct Entry {
        var writer: (any StreamWriter)?
        var generation: UInt32 = 0
        /// The socket of shared writes; -1 if there is none, or the stream is blocked.
        var socket: Int32 = -1
        var isQueued = false
    }

    /// The number of streams visited before the loop handles other events.
    private static let sliceLength = 512

    /// Opens streams and reports those that are due; set before the first stream.
    var feed: (any StreamFeed)?
    /// The time of the present pass.
    private(set) var now: Moment
    /// Open streams.
    private(set) var count = 0
    /// Streams whose clients accept no bytes at present.
    private(set) var blockedCount = 0
    private let poller: Poller
    private let blockedTimeout: Duration
    private let output = SocketOutput()
    private var entries: [Entry] = []
    private var free: [Int] = []
    private var wheel: TimerWheel
    private var batch: StreamBatch
    private var queue: [Int] = []
    private var queueHead = 0
    private var news = FeedNews()
    private var shared = SharedTurns()
    private var rotation = 0
    private var due: [Int] = []
    private var secureBytes: UInt64 = 0

    init(poller: Poller, configuration: DaemonConfiguration, now: Moment) {
        self.poller = poller
        self.now = now
        blockedTimeout = configuration.blockedStreamTimeout
        wheel = TimerWheel(granularity: .milliseconds(10), now: now)
        batch = StreamBatch(byteLimit: configuration.batchLimit, pieceLimit: 256)
    }

    /// Whether a stream is queued.
    var hasQueue: Bool { queueHead < queue.count || isSharing }
    /// Whether a shared write is under way, which delays the next collection from the feed.
    var isSharing: Bool { !shared.isEmpty }
    /// When `advance` is due.
    var nextTick: Moment? { wheel.nextTick }
    /// Bytes sent so far.
    var byteCount: UInt64 { output.total &+ secureBytes }

    /// Opens a stream and returns its writer. Nil if the stream cannot be opened or its descriptor cannot be watched;
    /// the stream then ends with `neverOpened`.
    func open<Writer: StreamWriter>(
        _ stream: AdmittedStream,
        framing: StreamFraming,
        makeWriter: (OpenStream) -> Writer
    ) -> Writer? {
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
        guard writer.begin(poller) else {
            free.append(slot)
            entries[slot].generation = (entries[slot].generation &+ 1) & StreamID.generationMask
            opened.ended(.neverOpened)
            return nil
        }
        entries[slot].writer = writer
        entries[slot].socket = writer.socket ?? -1
        count += 1
        enqueue(slot)
        return writer
    }

    /// Collects from the feed and queues the due streams. Each pass begins with another stream, for fairness.
    func askFeed() {
        guard let feed, !isSharing else { return }
        news.removeAll()
        feed.collect(into: &news, now: now)
        shared.begin(news.shared)
        news.shared.removeAll(keepingCapacity: true)
        rotation = TurnRotation.next(rotation)
        guard !news.ready.isEmpty else { return }
        let start = rotation % news.ready.count
        for index in 0..<news.ready.count {
            let id = news.ready[(start + index) % news.ready.count]
            if writer(of: id) != nil { enqueue(id.slot) }
        }
    }

    /// Queues the streams whose deadline has passed; those past their last deadline are closed.
    func advance(to now: Moment) {
        self.now = now
        due.removeAll(keepingCapacity: true)
        wheel.advance(to: now, due: &due)
        for slot in due {
            guard let writer = entries[slot].writer else { continue }
            if let since = writer.blockedSince {
                if since + blockedTimeout <= now {
                    end(slot, writer, .blockedTooLong)
                } else {
                    wheel.schedule(slot, at: since + blockedTimeout)
                }
            } else {
                enqueue(slot)
            }
        }
    }

    /// Writes up to a number of streams: first the shared writes, then the queued streams.
    func serve() {
        share()
        guard !isSharing else { return }
        var left = min(queue.count - queueHead, Self.sliceLength)
        while left > 0 {
            left -= 1
            let slot = queue[queueHead]
            queueHead += 1
            entries[slot].isQueued = false
            guard let writer = entries[slot].writer else { continue }
            let wasBlocked = writer.blockedSince != nil
            let outcome = writer.write(&batch, output, poller, now: now)
            settle(slot, writer, outcome, wasBlocked: wasBlocked)
        }
        if queueHead > queue.count / 2 {
            queue.removeFirst(queueHead)
            queueHead = 0
        }
    }

    /// An event of the descriptor of a stream.
    func noticed(_ id: StreamID, _ events: Poller.Events) {
        guard let writer = writer(of: id) else { return }
        let wasBlocked = writer.blockedSince != nil
        if let outcome = writer.noticed(events, output, poller, now: now) {
            settle(id.slot, writer, outcome, wasBlocked: wasBlocked)
        }
    }

    /// Ends all streams.
    func endAll(_ reason: StreamEnd) {
        for slot in entries.indices {
            if let writer = entries[slot].writer { end(slot, writer, reason) }
        }
    }

    private func writer(of id: StreamID) -> (any StreamWriter)? {
        guard id.slot < entries.count, entries[id.slot].generation == id.generation else { return nil }
        return entries[id.slot].writer
    }

    private func enqueue(_ slot: Int) {
        guard !entries[slot].isQueued else { return }
        entries[slot].isQueued = true
        queue.append(slot)
    }

    private func settle(_ slot: Int, _ writer: any StreamWriter, _ outcome: WriteOutcome, wasBlocked: Bool) {
        let isBlocked = writer.blockedSince != nil
        if isBlocked != wasBlocked {
            blockedCount += isBlocked ? 1 : -1
            entries[slot].socket = isBlocked ? -1 : writer.socket ?? -1
        }
        switch outcome {
        case .idle(let deadline):
            schedule(slot, deadline)
        case .more:
            wheel.cancel(slot)
            enqueue(slot)
        case .blocked:
            schedule(slot, writer.blockedSince.map { $0 + blockedTimeout })
            if !wasBlocked { writer.stream.content.blocked() }
        case .handedOver:
            break
        case .over(let reason):
            end(slot, writer, reason)
        }
    }

    private func schedule(_ slot: Int, _ deadline: Moment?) {
        if let deadline {
            wheel.schedule(slot, at: deadline)
        } else {
            wheel.cancel(slot)
        }
    }

    private func end(_ slot: Int, _ writer: any StreamWriter, _ reason: StreamEnd) {
        remove(slot, writer)
        writer.end(output, poller, closingBody: reason == .daemonClosed)
        writer.stream.ended(reason)
    }

    private func remove(_ slot: Int, _ writer: any StreamWriter) {
        if writer.blockedSince != nil { blockedCount -= 1 }
        wheel.cancel(slot)
        batch.removeAll()
        entries[slot].writer = nil
        entries[slot].socket = -1
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
                guard id.slot < entries.count else { continue }
                // Reads the socket alone: a copy of the whole entry would retain the writer, and so access its memory.
                let socket = entries[id.slot].socket
                guard socket >= 0, entries[id.slot].generation == id.generation else { continue }
                let result = output.write(load, to: socket)
                if case .written(load.bytes) = result { continue }
                fellShort(id.slot, slice.write, result)
            }
        }
    }

    private func fellShort(_ slot: Int, _ write: SharedWrite, _ result: SocketOutput.Result) {
        guard let writer = entries[slot].writer else { return }
        switch result {
        case .written(let count):
            writer.keep(write.pieces, after: count, poller, now: now)
            settle(slot, writer, .blocked, wasBlocked: false)
        case .broken:
            end(slot, writer, .peerClosed)
        }
    }
}

/// The methods for streams whose bytes the library reads, called in its content reader.
extension StreamScheduler {
    /// The due bytes of the stream; empty if there are none.
    func fill(_ writer: SecureStreamWriter) -> ArraySlice<StreamPiece> {
        batch.removeAll()
        let progress = writer.stream.content.fill(&batch, now: now)
        switch progress {
        case .idle(let deadline):
            schedule(writer.stream.id.slot, deadline)
        case .more:
            wheel.cancel(writer.stream.id.slot)
            if batch.pieces.isEmpty { enqueue(writer.stream.id.slot) }
        case .finish:
            writer.willFinish()
        }
        let pieces = Array(batch.pieces)[...]
        batch.removeAll()
        return pieces
    }

    /// Bytes were passed to the library: the stream counts as blocked until the library reads again.
    func handedOut(_ writer: SecureStreamWriter, _ count: Int) -> Moment {
        secureBytes &+= UInt64(count)
        wheel.schedule(writer.stream.id.slot, at: now + blockedTimeout)
        return now
    }

    /// The stream's connection was suspended: the loop watches whether its client leaves.
    func suspended(_ writer: SecureStreamWriter, _ descriptor: Int32) {
        _ = poller.add(descriptor, token: writer.stream.id.rawValue, .closed)
    }

    /// The library has released the stream, or is about to.
    func closed(_ writer: SecureStreamWriter, _ reason: StreamEnd) {
        guard self.writer(of: writer.stream.id) === writer else { return }
        remove(writer.stream.id.slot, writer)
        writer.leave()
        writer.stream.ended(reason)
    }
}

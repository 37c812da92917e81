internal import CMicroHTTPD
internal import Glibc
internal import Primitives
internal import Synchronization

/// One shard as seen from other threads; its thread serves connections and writes their streams.
package final class StreamLoop: Sendable {
    let mailbox: LoopMailbox
    /// The shard's part of the figures, without the bytes of streams; set by the thread that has the turn.
    let figures = RankedMutex(DaemonFigures())
    /// The bytes written to streams so far; set by the thread that has the turn.
    let streamBytes = Atomic<UInt64>(0)
    let passes = Atomic<UInt64>(0)
    /// Held by the shard's thread while it works.
    let turn = LoopTurn()

    /// A loop without a thread; made by the daemon, and by tests of feeds.
    package init() throws(DaemonError) { mailbox = try LoopMailbox() }

    /// How often the thread has come round.
    package var rounds: UInt64 { passes.load(ordering: .relaxed) }

    /// Makes the thread come round, also if it has nothing to do. From any thread.
    package func call() { mailbox.call(.feed) }

    /// A call of `wake`, for a feed.
    package var waker: @Sendable () -> Void { { [self] in wake() } }

    /// Has the due events of the feed written: by the loop soon, or by the calling thread if the loop waits and the events
    /// are for a few streams. From any thread. Further calls before the loop collects have no effect and cost little.
    package func wake() {
        // In a pass of the loop, whose handlers call this too, the loop does not wait: the turn is never taken twice.
        // If the feed is due already, the loop waits to collect more events.
        if mailbox.isLoopIdle, let byteCount = turn.writeIfFree() {
            streamBytes.store(byteCount, ordering: .relaxed)
        } else {
            mailbox.call(.feed)
        }
    }
}

/// The turn to use the state of a loop. The loop's thread has it during a pass. While that thread waits for events, a
/// thread that publishes may take it to write to a few streams, which costs less than to wake the loop.
///
///     loop         ─ pass ─┐ waits                   ┌ pass ─
///     publisher            └ event, write ┘    event ┘ for many streams: the loop is woken
///
/// A publishing thread never waits for the turn, whatever locks it holds. The loop's thread waits for it as long as a few
/// writes to sockets take, which do not block.
final class LoopTurn: Sendable {
    /// `@unchecked`: used by the thread that has the turn.
    struct State: @unchecked Sendable { fileprivate var scheduler: StreamScheduler? }

    /// Locked by a pass of the loop, and by a thread that writes directly.
    let state = RankedMutex(State(), rank: .loopTurn)

    /// Sets the streams to which publishing threads may write from now on; nil: none.
    func offer(_ scheduler: StreamScheduler?) {
        let offered = State(scheduler: scheduler)
        state.withLock { $0 = offered }
    }

    /// Writes due events, if no other thread has the turn and they are for a few streams.
    ///
    /// - Returns: The bytes sent to all streams so far; nil if the loop has to be woken.
    func writeIfFree() -> UInt64? {
        state.withLockIfAvailable { state in
            guard let scheduler = state.scheduler, scheduler.writeDirectly(clock: Moment.monotonic) else { return nil }
            return scheduler.output.total
        } ?? nil
    }
}

/// The thread that runs a driver.
struct LoopThread {
    private let thread: pthread_t?

    /// Starts the thread. If the system refuses, the driver is freed at once.
    init(_ driver: LoopDriver) {
        var thread = pthread_t()
        let context = ThreadBox.retain(driver)
        if pthread_create(&thread, nil, loopThreadCallback, context) == 0 {
            self.thread = thread
        } else {
            self.thread = nil
            ThreadBox.release(context)?.shutDown()
        }
    }

    var isRunning: Bool { thread != nil }

    /// Waits until the thread has ended.
    func join() { if let thread { pthread_join(thread, nil) } }
}

/// The messages of other threads to a loop, in order, with an eventfd that wakes it if it sleeps. Valid as long as it
/// is referenced, so that a late call after the end of the loop has no effect.
final class LoopMailbox: Sendable {
    /// The work that other threads make due.
    enum Cause: UInt8 {
        /// The feed. Removed by `takeFeed`.
        case feed = 2
        /// Messages that the loop has not seen. Removed by `endWait`.
        case messages = 4
    }

    /// The bits of `attention`; 0: the loop runs, and nothing is due.
    private enum Bit {
        /// The loop waits for events. Set by `beginWait`, removed by `endWait`.
        static let waiting: UInt8 = 1
        static let feed = Cause.feed.rawValue
        static let messages = Cause.messages.rawValue
    }

    /// An eventfd in the loop's epoll set, watched for `raised` and never read.
    let descriptor: Int32
    private let messages = RankedMutex<[LoopMessage]?>([], rank: .mailbox)
    private let attention = Atomic<UInt8>(0)

    init() throws(DaemonError) {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard descriptor >= 0 else { throw .systemRefused(SystemText.last()) }
    }

    deinit { Glibc.close(descriptor) }

    /// Adds a message; no effect after `close`, except that a stream that will not be opened is ended.
    func post(_ message: LoopMessage) {
        let isTaken = messages.withLock { messages in
            messages?.append(message)
            return messages != nil
        }
        if isTaken { call(.messages) } else { message.refuse() }
    }

    /// Whether the loop waits, and neither its feed nor messages are due.
    var isLoopIdle: Bool { attention.load(ordering: .relaxed) == Bit.waiting }

    /// Called by the loop before it waits; false if there is something that it has not seen, so that it must not wait.
    ///
    /// - Parameter feedIsDue: Whether the loop has seen that the feed is due.
    func beginWait(feedIsDue: Bool) -> Bool {
        let seen = feedIsDue ? Bit.feed : 0
        return attention.compareExchange(
            expected: seen,
            desired: seen | Bit.waiting,
            ordering: .acquiringAndReleasing
        ).exchanged
    }

    /// Called by the loop after it waited; true if messages were posted since the last time.
    func endWait() -> Bool {
        // An exchange and not a store: it synchronizes with the writes of the threads that called.
        attention.bitwiseAnd(Bit.feed, ordering: .acquiringAndReleasing).oldValue & Bit.messages != 0
    }

    /// The messages since the last call of this function.
    func take() -> [LoopMessage] {
        messages.withLock { messages in
            guard let present = messages, !present.isEmpty else { return [] }
            messages = []
            return present
        }
    }

    /// The loop collects from its feed, which is no longer due.
    func takeFeed() { attention.bitwiseAnd(~Bit.feed, ordering: .acquiringAndReleasing) }

    var isFeedDue: Bool { attention.load(ordering: .acquiring) & Bit.feed != 0 }

    /// Rejects all later messages, and those that were not taken.
    func close() {
        let left = messages.withLock { messages in
            defer { messages = nil }
            return messages ?? []
        }
        left.forEach { $0.refuse() }
    }

    /// Makes the loop take its messages or collect from its feed. Costs a system call only while the loop waits.
    func call(_ cause: Cause) {
        let bit = cause.rawValue
        let former = attention.bitwiseOr(bit, ordering: .acquiringAndReleasing).oldValue
        guard former & Bit.waiting != 0, former & (bit | Bit.messages) == 0 else { return }
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }
}

extension LoopMessage {
    /// Completes the message without acting on it: the loop has ended.
    func refuse() {
        switch self {
        case .answer(_, let answer): answer.refuse()
        case .drain(_, let completion): completion(true)
        case .replaceCertificate(_, let completion): completion(.notRunning)
        case .answerAll, .stopAccepting, .close: break
        }
    }
}

/// A message of another thread to a loop.
enum LoopMessage: Sendable {
    /// The answer to a waiting exchange.
    case answer(UInt64, LateAnswer)
    /// The answer to the shared wait that an exchange began.
    case answerAll(UInt64, SharedAnswer)
    /// Serve new connections with this certificate, and report the error, if any.
    case replaceCertificate(DaemonConfiguration.Certificate, completion: @Sendable (DaemonError?) -> Void)
    case stopAccepting
    /// Report when no request and no stream is open, or at the deadline.
    case drain(until: Moment, completion: @Sendable (Bool) -> Void)
    /// End all streams and servers, and the thread.
    case close
}

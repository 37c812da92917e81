internal import Glibc
internal import Synchronization

/// One shard as seen from other threads; its thread serves connections and writes their streams.
package final class StreamLoop: Sendable {
    /// The messages to the loop.
    let mailbox: LoopMailbox
    /// The shard's part of the figures, without the bytes of streams; set by the thread that has the turn.
    let figures = Mutex(DaemonFigures())
    /// The bytes written to streams so far; set by the thread that has the turn.
    let streamBytes = Atomic<UInt64>(0)
    /// Counts the passes that the thread has begun.
    let passes = Atomic<UInt64>(0)
    /// Held by the shard's thread while it works.
    let turn = LoopTurn()

    /// A loop without a thread; made by the daemon, and by tests of feeds.
    package init() throws(DaemonError) {
        mailbox = try LoopMailbox()
    }

    /// How often the thread has come round.
    package var rounds: UInt64 { passes.load(ordering: .relaxed) }

    /// Makes the thread come round, also if it has nothing to do. From any thread.
    package func call() { mailbox.wakeFeed() }

    /// Has the due events of the feed written: by the loop soon, or by the calling thread if the loop waits and the events
    /// are for a few streams. From any thread. Further calls before the loop collects have no effect and cost little.
    package func wake() {
        // In a pass of the loop, whose handlers call this too, the loop does not wait: the turn is never taken twice.
        // If the feed is due already, the loop waits to collect more events.
        if mailbox.isLoopIdle, let byteCount = turn.writeIfFree() {
            streamBytes.store(byteCount, ordering: .relaxed)
        } else {
            mailbox.wakeFeed()
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
    private struct State: @unchecked Sendable {
        var scheduler: StreamScheduler?
    }

    private let state = Mutex(State())

    /// Performs a pass of the loop.
    func hold(_ pass: () -> Void) {
        state.withLock { _ in pass() }
    }

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
            guard let scheduler = state.scheduler, scheduler.writeDirectly() else { return nil }
            return scheduler.byteCount
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
            ThreadBox.release(context)?.abandon()
        }
    }

    /// Whether the thread was started.
    var isRunning: Bool { thread != nil }

    /// Waits until the thread has ended.
    func join() {
        if let thread { pthread_join(thread, nil) }
    }
}

internal import Glibc
internal import Synchronization

/// One shard as seen from other threads; its thread serves connections and writes their streams.
package final class StreamLoop: Sendable {
    /// The messages to the loop.
    let mailbox: LoopMailbox
    /// The shard's part of the figures, set by its thread.
    let figures = Mutex(DaemonFigures())

    /// A loop without a thread; made by the daemon, and by tests of feeds.
    package init() throws(DaemonError) {
        mailbox = try LoopMailbox()
    }

    /// Makes the loop collect what is due from its feed; from any thread. Further calls before that have no effect
    /// and cost little.
    package func wake() {
        mailbox.wakeFeed()
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

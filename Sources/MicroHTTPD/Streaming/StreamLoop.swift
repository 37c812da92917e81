internal import Synchronization

/// The outside of one shard: one thread that serves its connections and writes their streams.
package final class StreamLoop: Sendable {
    /// The number of the shard, from 0.
    package let index: Int
    /// The way in for messages.
    let mailbox: LoopMailbox
    /// The shard's part of the figures, set by its thread.
    let figures = Mutex(DaemonFigures())

    /// A loop without a thread; made by the daemon, and by tests of feeds.
    package init(index: Int) throws(DaemonError) {
        self.index = index
        mailbox = try LoopMailbox()
    }

    /// Makes the loop ask its feed what is due; from any thread. Calls before the loop gets to it count once and cost
    /// next to nothing.
    package func wake() {
        mailbox.wakeFeed()
    }
}

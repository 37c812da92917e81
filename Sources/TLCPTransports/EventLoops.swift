public import NIOCore
internal import NIOPosix

/// The network threads that connections and timers run on. Any number of clients share one.
public struct EventLoops: Sendable {
    /// The threads.
    package let group: any EventLoopGroup

    /// Wraps a group that the caller made, and shuts down when no client uses it any more.
    public init(_ group: any EventLoopGroup) { self.group = group }

    /// The threads of the process: as many as there are cores, started on first use, never stopped.
    public static let shared = EventLoops(MultiThreadedEventLoopGroup.singleton)

    /// One of the threads.
    package func next() -> any EventLoop { group.next() }
}

extension EventLoops {
    /// Timers of one client, all on one thread.
    package struct Timers: Sendable {
        fileprivate let loop: any EventLoop

        /// Calls the body once after a time; the returned closure cancels.
        package func schedule(
            afterNanoseconds delay: Int64,
            _ body: @escaping @Sendable () -> Void
        ) -> @Sendable () -> Void {
            let scheduled = loop.scheduleTask(in: .nanoseconds(delay), body)
            return { scheduled.cancel() }
        }
    }

    /// Timers on the next thread.
    package func timers() -> Timers { Timers(loop: next()) }

    /// Nanoseconds since an epoch of the process; never goes back.
    package static var uptimeNanoseconds: UInt64 { NIODeadline.now().uptimeNanoseconds }
}

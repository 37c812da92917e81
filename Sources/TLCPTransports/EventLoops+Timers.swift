internal import NIOCore

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

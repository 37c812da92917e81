internal import NIOCore

/// The time limit of one step of a connection attempt. It is paused while an authentication challenge waits for its
/// answer.
///
/// `@unchecked Sendable`: used on one event loop only.
final class StepDeadline: @unchecked Sendable {
    private let loop: any EventLoop
    private let expired: @Sendable () -> Void
    private var remaining: TimeAmount
    private var due = NIODeadline.distantFuture
    private var task: Scheduled<Void>?
    private var isCancelled = false

    /// Starts the deadline; `expired` is called once, on the event loop.
    init(on loop: any EventLoop, after delay: TimeAmount, expired: @escaping @Sendable () -> Void) {
        self.loop = loop
        self.expired = expired
        remaining = delay
        resume()
    }

    func pause() {
        guard let task else { return }
        task.cancel()
        self.task = nil
        remaining = max(.nanoseconds(0), due - loop.now)
    }

    func resume() {
        guard task == nil, !isCancelled else { return }
        due = loop.now + remaining
        task = loop.scheduleTask(in: remaining, expired)
    }

    func cancel() {
        isCancelled = true
        task?.cancel()
        task = nil
    }
}

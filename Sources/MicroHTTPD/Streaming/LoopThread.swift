internal import Glibc

/// The thread that runs a driver.
struct LoopThread {
    private let thread: pthread_t?

    /// Starts it. If the system refuses, the driver is freed at once.
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

    /// Whether it was started.
    var isRunning: Bool { thread != nil }

    /// Waits for its end.
    func join() {
        if let thread { pthread_join(thread, nil) }
    }
}

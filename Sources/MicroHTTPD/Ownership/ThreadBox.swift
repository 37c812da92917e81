/// A new thread's reference to the driver that it runs.
///
/// Retained before the thread is created; released once, in the thread's first function (or at once if the thread could
/// not be created).
enum ThreadBox {
    /// Retains the driver for the thread.
    static func retain(_ driver: LoopDriver) -> UnsafeMutableRawPointer {
        Unmanaged.passRetained(driver).toOpaque()
    }

    /// Takes the driver back: the one release of `retain`.
    static func release(_ context: UnsafeMutableRawPointer?) -> LoopDriver? {
        context.map { Unmanaged<LoopDriver>.fromOpaque($0).takeRetainedValue() }
    }
}

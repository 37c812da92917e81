/// The first function of a loop's thread. The context is the driver, released here at once: from now on this thread's
/// stack holds it.
func loopThreadCallback(context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    ThreadBox.release(context)?.run()
    return nil
}

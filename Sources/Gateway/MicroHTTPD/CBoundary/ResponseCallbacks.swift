internal import CMicroHTTPD

/// The content reader of a response without a body, to `HEAD` or with 304: the library requires one and never calls it.
func noContentCallback(
    context: UnsafeMutableRawPointer?,
    position: UInt64,
    buffer: UnsafeMutablePointer<CChar>?,
    size: Int
) -> Int {
    -1  // `MHD_CONTENT_READER_END_OF_STREAM`, a macro with a cast, which Swift does not import.
}

/// Called on the loop's thread when a response with shared bytes is freed: releases the bytes.
func bodyFreeCallback(context: UnsafeMutableRawPointer?) {
    BodyBox.release(context)
}

/// The first function of a loop's thread. The context is the driver, released here at once: from now on this thread's
/// stack holds it.
func loopThreadCallback(context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    ThreadBox.release(context)?.run()
    return nil
}

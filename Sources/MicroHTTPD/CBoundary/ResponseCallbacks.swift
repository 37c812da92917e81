internal import CMicroHTTPD

/// Called on the loop's thread when the library has room for bytes of an encrypted stream. The context is the stream's
/// writer, retained until `contentFreeCallback`.
func contentReaderCallback(
    context: UnsafeMutableRawPointer?,
    position: UInt64,
    buffer: UnsafeMutablePointer<CChar>?,
    size: Int
) -> Int {
    guard let writer = StreamBox.object(at: context), let buffer else { return ContentReaderCode.error }
    return writer.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: size))
}

/// Called on the loop's thread when the response of an encrypted stream is freed: releases the writer.
func contentFreeCallback(context: UnsafeMutableRawPointer?) {
    StreamBox.release(context)
}

/// The content reader of a response without a body, to `HEAD` or with 304: the library requires one and never calls it.
func noContentCallback(
    context: UnsafeMutableRawPointer?,
    position: UInt64,
    buffer: UnsafeMutablePointer<CChar>?,
    size: Int
) -> Int {
    ContentReaderCode.end
}

/// Called on the loop's thread when a response with shared bytes is freed: releases the bytes.
func bodyFreeCallback(context: UnsafeMutableRawPointer?) {
    BodyBox.release(context)
}

/// The results of a content reader other than a number of bytes; the library's macros cast, so they are not imported.
enum ContentReaderCode {
    /// `MHD_CONTENT_READER_END_OF_STREAM`.
    static let end = -1
    /// `MHD_CONTENT_READER_END_WITH_ERROR`: the connection is closed.
    static let error = -2
}

/// The first function of a loop's thread. The context is the driver, released here at once: from now on this thread's
/// stack holds it.
func loopThreadCallback(context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    ThreadBox.release(context)?.run()
    return nil
}

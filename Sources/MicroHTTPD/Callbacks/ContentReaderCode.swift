/// What a content reader returns instead of a number of bytes; the library's macros cast, so Swift does not see them.
enum ContentReaderCode {
    /// `MHD_CONTENT_READER_END_OF_STREAM`.
    static let end = -1
    /// `MHD_CONTENT_READER_END_WITH_ERROR`: the connection is closed.
    static let error = -2
}

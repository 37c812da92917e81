/// The destination of the bytes of a stream. A trivial value, which keeps nothing open.
enum StreamSink {
    case socket(Int32)
    /// A TLS session of the library, a `gnutls_session_t`. Its connection is suspended, so the library does not use it.
    case session(OpaquePointer)
}

struct StreamConnection {
    let sink: StreamSink
    /// The socket, to be watched.
    let descriptor: Int32
    /// Closes the connection, or has the library close it. Called once, after the last use of the others.
    let close: () -> Void
}

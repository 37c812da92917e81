package import StreamIO

/// A complete response.
package struct HTTPResponse: Sendable {
    /// The bytes of a response.
    package enum Body: Sendable {
        /// No bytes.
        case empty
        /// These bytes; they are copied.
        case bytes([UInt8])
        /// These bytes; they are shared, not copied, and kept until they are sent.
        case shared(SharedBytes)
        /// This number of bytes, which are not sent: for a 304 and for responses to `HEAD` only.
        case omitted(Int)

        /// The number of bytes.
        package var count: Int {
            switch self {
            case .empty: 0
            case .bytes(let bytes): bytes.count
            case .shared(let bytes): bytes.count
            case .omitted(let count): count
            }
        }
    }

    /// The status code, 200 to 599.
    package var status: Int
    /// Header lines. `Content-Length`, `Transfer-Encoding` and `Date` are added by the server and ignored here;
    /// `Connection: close` is honoured.
    package var headers: HTTPFields
    /// The body. Responses to `HEAD` and responses with status 304 carry the length of the body, but not its bytes:
    /// pass the body of the full response or its length, otherwise the length is sent as 0. A 204 is sent without a
    /// length.
    package var body: Body

    /// A response from its parts.
    package init(status: Int, headers: HTTPFields = HTTPFields(), body: Body = .empty) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

/// The head of an open response.
package struct HTTPStreamHead: Sendable {
    /// The status code; usually 200.
    package var status: Int
    /// Header lines. `Transfer-Encoding`, `Content-Length`, `Connection` and `Date` are determined by the server: the
    /// connection always closes at the end of a stream.
    package var headers: HTTPFields
    /// Whether the body is sent in chunks to clients that support them. Without chunks, the end of the connection ends
    /// the body.
    package var prefersChunks: Bool

    /// A head from its parts.
    package init(status: Int = 200, headers: HTTPFields = HTTPFields(), prefersChunks: Bool = true) {
        self.status = status
        self.headers = headers
        self.prefersChunks = prefersChunks
    }
}

/// The head of an open response.
package struct HTTPStreamHead: Sendable {
    /// The status code; usually 200.
    package var status: Int
    /// Header lines. `Transfer-Encoding`, `Content-Length`, `Connection` and `Date` are the front end's own: the
    /// connection always closes at the end of a stream.
    package var headers: HTTPFields
    /// Whether the body is sent in chunks where the client understands them. If not, its end is the end of the
    /// connection.
    package var prefersChunks: Bool

    /// A head from its parts.
    package init(status: Int = 200, headers: HTTPFields = HTTPFields(), prefersChunks: Bool = true) {
        self.status = status
        self.headers = headers
        self.prefersChunks = prefersChunks
    }
}

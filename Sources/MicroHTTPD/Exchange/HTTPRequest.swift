/// One request, complete with its body, exactly as it stood on the wire.
package struct HTTPRequest: Sendable {
    /// The method: any token, in its original case.
    package var method: String
    /// The path as sent, still percent-encoded, `%2F` and `%00` included. For the absolute form of a request target
    /// (`GET http://host/path`) only its path; for `OPTIONS *` the asterisk.
    package var rawPath: String
    /// What follows the first `?`, as sent; nil without a `?`, empty after a trailing one.
    package var rawQuery: String?
    /// 1.0, or 1.1 and everything after it.
    package var version: HTTPVersion
    /// All header lines in their order, repeated ones included.
    package var headers: HTTPFields
    /// The whole body, chunked framing removed.
    package var body: [UInt8]
    /// Who sent the request.
    package var peer: PeerAddress
    /// The connection it came on: unique in this process, the same for all requests of a connection.
    package var connectionID: UInt64
    /// True when the connection is encrypted.
    package var isSecure: Bool

    /// A request from its parts; used by the front end, and by tests of handlers.
    package init(
        method: String,
        rawPath: String,
        rawQuery: String? = nil,
        version: HTTPVersion = .http11,
        headers: HTTPFields = HTTPFields(),
        body: [UInt8] = [],
        peer: PeerAddress = PeerAddress(host: "127.0.0.1", port: 0),
        connectionID: UInt64 = 0,
        isSecure: Bool = false
    ) {
        self.method = method
        self.rawPath = rawPath
        self.rawQuery = rawQuery
        self.version = version
        self.headers = headers
        self.body = body
        self.peer = peer
        self.connectionID = connectionID
        self.isSecure = isSecure
    }
}

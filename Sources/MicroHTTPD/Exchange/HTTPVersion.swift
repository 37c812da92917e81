/// The version of a request, as far as it makes a difference to the answer.
package enum HTTPVersion: Sendable, Hashable {
    /// HTTP/1.0: no chunked framing, the connection closes after the response unless both sides agree otherwise.
    case http10
    /// HTTP/1.1 or a later minor version.
    case http11
}

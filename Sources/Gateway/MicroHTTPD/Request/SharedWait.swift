internal import StreamIO

/// The wait of requests with equal heads, whose answer is made once. A handler that returns `.wait` may offer one by
/// `HTTPResponder.share`: the answer must depend on nothing but the head and the state of the handler.
///
/// The methods are called on the thread of one loop.
package protocol SharedWait: AnyObject, Sendable {
    /// How long each request waits at most.
    var longestWait: Duration { get }

    /// Admits a request with the same head.
    func join(from peer: PeerAddress) -> SharedWaitEntry

    /// The wait was answered, or no request has a part in it. Called once.
    func end()
}

/// The outcome of a request for a shared wait.
package enum SharedWaitEntry {
    /// The request waits with the others.
    case joined(any JoinedRequest)
    case refused(HTTPResponse)
    /// The wait is not for new requests: this one is handled alone, and nothing was counted for it.
    case closed
}

/// A request that has joined a shared wait. The methods are called on the thread of one loop; one of them, and once.
package protocol JoinedRequest: AnyObject, Sendable {
    /// The header lines that only the response to this request has. Read before `answered`.
    var fields: HTTPFields { get }

    /// The shared response, with the lines of this request, is being sent.
    func answered(status: Int)

    /// The response to this request alone: it has waited as long as it may.
    func timedOut() -> HTTPResponse

    /// The client has closed its connection.
    func abandoned()
}

/// The answer to all requests of a shared wait.
package enum SharedAnswer: Sendable {
    /// One response, to which the server adds the lines of each request.
    case same(HTTPResponse)
    /// A response for each request, which is complete.
    case each(@Sendable (any JoinedRequest) -> HTTPResponse)
}

/// Begins a shared wait, whose answer goes to `deliver`, from any thread; the first one counts. Nil if there is none.
package typealias SharedWaitOffer =
    @Sendable (_ deliver: @escaping @Sendable (SharedAnswer) -> Void) -> (any SharedWait)?

/// A response as the loop sends it.
struct EncodedResponse {
    /// The status line with the lines that all requests get, a place for the lines of one request, and the end.
    let parts: [StreamPiece]
    let closesConnection: Bool
    /// The body, whose bytes all requests share.
    let body: HTTPResponse.Body
    /// The caller whose responses the memory of the body counts with.
    let caller: String?

    /// - Parameter closing: Adds `Connection: close`.
    init(_ response: HTTPResponse, date: String, closing: Bool) {
        let isClosing = closing || response.headers["Connection"]?.equalsIgnoringASCIICase("close") == true
        var end = isClosing ? "Connection: close\r\n" : ""
        if response.status != 204 { end += "Content-Length: \(response.body.count)\r\n" }
        let head = ResponseHead.statusLine(response.sendableStatus, date: date) + response.headers.sendableText
        closesConnection = isClosing
        caller = response.caller
        let hasBody = response.status != 204 && response.status != 304
        let bytes: SharedBytes? =
            switch response.body {
            case .bytes(let bytes) where hasBody: SharedBytes(bytes)
            case .shared(let bytes) where hasBody: bytes
            case .empty, .bytes, .shared, .omitted: nil
            }
        body = bytes.map { .shared($0) } ?? .empty
        let lines = [head, "", end + "\r\n"].map { SharedBytes(Array($0.utf8)) }
        parts = (lines + (bytes.map { [$0] } ?? [])).map(StreamPiece.init)
    }
}

extension StreamPiece {
    init(_ shared: SharedBytes) { self.init(owner: shared, bytes: shared.bytes) }
}

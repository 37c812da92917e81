package import StreamIO
internal import Synchronization

/// What the server end asks for every request: the one way from libmicrohttpd into the program behind it.
///
/// With more than one shard the methods are called on several threads at once, on each for its own connections. They
/// run on the thread that also writes all streams, so they must not block: what has to wait answers `.wait`.
package protocol HTTPHandler: Sendable {
    /// Answers a complete request.
    ///
    /// - Parameters:
    ///   - request: The request with its whole body.
    ///   - responder: The way to answer later, after `.wait`; needless for the other decisions.
    func handle(_ request: HTTPRequest, _ responder: HTTPResponder) -> HTTPDecision

    /// The answer to a request that the server end itself refuses; `Connection: close` is added to it.
    ///
    /// Its status should be `refusal.status`; the body is free, for example a problem document.
    func refusal(for refusal: RequestRefusal) -> HTTPResponse
}

extension HTTPHandler {
    /// A plain-text answer with the refusal's status and explanation.
    package func refusal(for refusal: RequestRefusal) -> HTTPResponse {
        HTTPResponse(
            status: refusal.status,
            headers: [HTTPField("Content-Type", "text/plain; charset=utf-8")],
            body: .bytes(Array("\(refusal.explanation)\n".utf8))
        )
    }
}

/// What a handler decides about a request.
package enum HTTPDecision {
    /// This response, now.
    case respond(HTTPResponse)
    /// The responder will be used later, exactly once, from any thread. Requests that follow on the same connection
    /// wait for it.
    case wait
    /// An open response: the feed of the connection's loop opens the stream and gives its bytes.
    case stream(HTTPStreamHead, AdmittedStream)
}

/// The way to answer a request later: after the handler returned `.wait`, exactly once, from any thread.
///
/// Only the first answer counts. A responder that is dropped without an answer answers 500 by itself, so that no
/// connection hangs.
package final class HTTPResponder: Sendable {
    private enum State {
        case unused
        case awaited
        case used
    }

    private let deliver: @Sendable (LoopMessage.Answer) -> Void
    private let state = Mutex(State.unused)

    init(mailbox: LoopMailbox, exchange: UInt64) {
        deliver = { mailbox.post(.answer(exchange, $0)) }
    }

    /// A responder that hands its answer, `.respond` or `.stream`, to a closure: to call a handler without a daemon.
    package init(deliver: @escaping @Sendable (HTTPDecision) -> Void) {
        self.deliver = { answer in
            switch answer {
            case .response(let response): deliver(.respond(response))
            case .stream(let head, let stream): deliver(.stream(head, stream))
            }
        }
    }

    deinit {
        if state.withLock({ $0 == .awaited }) {
            deliver(.response(HTTPResponse(status: 500)))
        }
    }

    /// Answers with a complete response.
    package func respond(_ response: HTTPResponse) {
        if use() {
            deliver(.response(response))
        }
    }

    /// Answers with an open response. If the request is over already, the stream ends with `neverOpened`; if the loop
    /// has ended too, on the calling thread.
    package func stream(_ head: HTTPStreamHead, _ stream: AdmittedStream) {
        if use() {
            deliver(.stream(head, stream))
        } else {
            stream.onEnd(.neverOpened)
        }
    }

    /// The handler returned `.wait`: from now on the request needs an answer.
    func expectAnswer() {
        state.withLock { if $0 == .unused { $0 = .awaited } }
    }

    private func use() -> Bool {
        state.withLock { state in
            defer { state = .used }
            return state != .used
        }
    }
}

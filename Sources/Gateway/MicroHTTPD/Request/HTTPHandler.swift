internal import Primitives
package import StreamIO

/// Handles the requests of a daemon.
///
/// With more than one shard the methods are called on several threads at once, on each for its own connections. They
/// run on the thread that also writes all streams, so they must not block: a request that has to wait is answered
/// with `.wait`.
package protocol HTTPHandler: Sendable {
    /// Answers a complete request.
    ///
    /// - Parameters:
    ///   - request: The request with its whole body.
    ///   - responder: Answers later, after `.wait`; not used for the other decisions.
    func handle(_ request: HTTPRequest, _ responder: HTTPResponder) -> HTTPDecision

    /// Checks the head of a request with a body before any of the body is kept. Requests without a body go to `handle`.
    ///
    /// - Parameter head: The request; its body is empty.
    func screen(_ head: HTTPRequest) -> HTTPScreening

    /// Whether a request serves the operation of the program, such as health checks and metrics: those are answered
    /// even when all connections are in use.
    func isOperational(_ head: HTTPRequest) -> Bool

    /// Called when the system refuses new connections; the server tries again after a pause.
    func connectionsRefused(reason: String)

    /// The answer to a request that the server itself refuses; `Connection: close` is added to it.
    ///
    /// Its status should be `refusal.status`. The handler chooses the body, for example a problem document.
    ///
    /// - Parameters:
    ///   - peer: The address that the connection comes from.
    ///   - headers: The header lines that were read, which are not checked; of a head that is refused, perhaps not all.
    func refusal(for refusal: RequestRefusal, from peer: PeerAddress, headers: HTTPFields) -> HTTPResponse
}

/// The decision of a handler on the head of a request with a body.
package enum HTTPScreening {
    /// The function handles the request once its body is complete. The memory of the body counts towards the share of a caller;
    /// nil: of none.
    case accept((HTTPRequest, HTTPResponder) -> HTTPDecision, caller: String? = nil)
    /// The function handles the request, which needs no body, once the body was read and discarded.
    case acceptIgnoringBody((HTTPRequest, HTTPResponder) -> HTTPDecision)
    /// A response; the body is read and discarded.
    case reject(HTTPResponse)
}

/// The decision of a handler on a request.
package enum HTTPDecision {
    case respond(HTTPResponse)
    /// The responder will be used later, once, from any thread; later requests on the connection wait for it.
    case wait
    /// An open response with status 200 and header lines: the feed of the connection's loop opens the stream and provides
    /// the bytes. The server determines `Transfer-Encoding`, `Content-Length`, `Connection` and `Date`: the connection always
    /// closes at the end of a stream.
    case stream(HTTPFields, AdmittedStream)
}

/// The answer to a request whose handler returned `.wait`.
package enum LateAnswer: Sendable {
    case response(HTTPResponse)
    case stream(HTTPFields, AdmittedStream)

    /// Drops the answer, whose request has ended.
    package func refuse() { if case .stream(_, let stream) = self { stream.onEnd(.neverOpened) } }
}

/// Answers a request after the handler returned `.wait`: exactly once, from any thread.
///
/// Only the first answer is sent. A responder that is released without an answer answers 500, so that no connection
/// hangs.
package final class HTTPResponder: Sendable {
    private enum Use {
        case unused
        case awaited
        case used
    }

    private struct State {
        var use: Use
        var isAbandoned: Bool
        var onAbandonment: (@Sendable () -> Void)?
        var offer: SharedWaitOffer?
        /// The memory of the body, once the client has left.
        var body: HeldBody?
    }

    private let deliver: @Sendable (LateAnswer) -> Void
    private let state: RankedMutex<State>

    /// A responder that hands its answer to a closure.
    package init(deliver: @escaping @Sendable (LateAnswer) -> Void) {
        self.deliver = deliver
        state = RankedMutex(State(use: .unused, isAbandoned: false), rank: .mailbox)
    }

    deinit { if state.withLock({ $0.use == .awaited }) { deliver(.response(HTTPResponse(status: 500))) } }

    /// Answers with a complete response.
    package func respond(_ response: HTTPResponse) { if use() { deliver(.response(response)) } }

    /// Answers with an open response. If the request is already over, the stream ends with `neverOpened`, on the
    /// calling thread if the loop has ended too.
    package func stream(_ headers: HTTPFields, _ stream: AdmittedStream) {
        if use() { deliver(.stream(headers, stream)) } else { stream.onEnd(.neverOpened) }
    }

    /// Runs an action if the client closes its connection before the answer, at once if the client has already closed
    /// it. The action runs at most once, on the loop's thread or on the calling thread, and must be quick.
    package func onAbandonment(_ action: @escaping @Sendable () -> Void) {
        let isAbandoned = state.withLock { state in
            if state.use != .used, !state.isAbandoned { state.onAbandonment = action }
            return state.isAbandoned
        }
        if isAbandoned { action() }
    }

    /// Offers to requests with equal heads to wait together; before the handler returns `.wait`.
    package func share(_ offer: @escaping SharedWaitOffer) {
        state.withLock { if $0.use != .used, !$0.isAbandoned { $0.offer = offer } }
    }

    /// Makes the body of the request count as long as the handler retains the responder, which it does while it needs the body.
    func hold(_ body: HeldBody) { state.withLock { $0.body = body } }

    /// The client closed its connection before the answer.
    package func abandon() {
        let (action, _) = state.withLock { state in
            state.isAbandoned = true
            return (state.onAbandonment.take(), state.offer.take())
        }
        action?()
    }

    /// The handler returned `.wait`: from now on the request needs an answer. Returns the offer, if there is one.
    package func expectAnswer() -> SharedWaitOffer? {
        state.withLock { state in
            if state.use == .unused { state.use = .awaited }
            return state.offer.take()
        }
    }

    private func use() -> Bool {
        // The closures are released outside the lock: the end of what they refer to may take other locks.
        let (isFirst, _, _) = state.withLock { state in
            defer { state.use = .used }
            return (state.use != .used, state.onAbandonment.take(), state.offer.take())
        }
        return isFirst
    }
}

package import StreamIO
internal import Synchronization

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

    /// A responder that hands its answer, `.respond` or `.stream`, to somebody else: to ask a handler without a daemon.
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

    /// The handler said `.wait`: from now on somebody is owed an answer.
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

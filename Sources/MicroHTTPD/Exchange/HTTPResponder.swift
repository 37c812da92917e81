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
            case .stream(let head, let content): deliver(.stream(head, content))
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

    /// Answers with an open response; the content moves to the thread of the connection's loop. Should the request be
    /// over already, the content gets `ended(.neverOpened)`; on the calling thread, if the loop has ended as well.
    package func stream(_ head: HTTPStreamHead, _ content: sending any StreamContent) {
        if use() {
            deliver(.stream(head, content))
        } else {
            content.ended(.neverOpened)
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

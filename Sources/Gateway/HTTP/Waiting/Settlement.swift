internal import SessionPool
internal import Synchronization

/// One response out of several that may come, from any thread: the first one counts.
final class Settlement: Sendable {
    private struct Body {
        var port: ResponseSender?
        var cleanups: [@Sendable () -> Void] = []
    }

    private let body: Mutex<Body>

    /// A settlement that will respond through a port.
    init(_ port: ResponseSender) { body = Mutex(Body(port: port)) }

    /// Answers, unless that was done; then cleans up.
    func settle(_ response: () -> Response) {
        let body = body.withLock { body in
            defer { body = Body() }
            return body
        }
        guard let port = body.port else { return }
        port.response(response())
        for cleanup in body.cleanups { cleanup() }
    }

    /// Does something once the response is given; at once, if it was.
    func afterwards(_ cleanup: @escaping @Sendable () -> Void) {
        let isSettled = body.withLock { body in
            if body.port != nil { body.cleanups.append(cleanup) }
            return body.port == nil
        }
        if isSettled { cleanup() }
    }

    /// Answers with this at the deadline, if nothing else did.
    func settle(after delay: Duration, by deadlines: Deadlines, _ response: @escaping @Sendable () -> Response) {
        let id = deadlines.after(delay) { self.settle(response) }
        if let id { afterwards { deadlines.cancel(id) } }
    }

    /// Whether the response was given.
    var isSettled: Bool { body.withLock { $0.port == nil } }
}

extension Watchers {
    /// Answers as soon as a state decides the response, or at the deadline with the other one; at once if the present
    /// state decides it.
    ///
    /// - Parameters:
    ///   - seconds: How long to wait at most.
    ///   - port: The way to respond later.
    ///   - deadlines: Who watches the time.
    ///   - present: The present state.
    ///   - decide: The response that a state gives; nil: it is still open.
    ///   - otherwise: The response when the time is over.
    func reply(
        within seconds: Int,
        port: ResponseSender,
        deadlines: Deadlines,
        present: () -> State,
        decide: @escaping @Sendable (State) -> Response?,
        otherwise: @escaping @Sendable () -> Response
    ) -> OperationResult {
        if let response = decide(present()) { return .response(response) }
        if seconds <= 0 { return .response(otherwise()) }
        let settlement = Settlement(port)
        settlement.settle(after: .seconds(seconds), by: deadlines, otherwise)
        let handle = add(present: present) { state in
            if settlement.isSettled { return true }
            guard let response = decide(state) else { return false }
            settlement.settle { response }
            return true
        }
        if let handle { settlement.afterwards { [self] in cancel(handle) } }
        return .deferred
    }
}

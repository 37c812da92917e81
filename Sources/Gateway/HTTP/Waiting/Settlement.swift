internal import SessionPool
internal import Synchronization

/// One answer out of several that may come, from any thread: the first one counts.
final class Settlement: Sendable {
    private struct Body {
        var port: AnswerPort?
        var cleanups: [@Sendable () -> Void] = []
    }

    private let body: Mutex<Body>

    /// A settlement that will answer through a port.
    init(_ port: AnswerPort) { body = Mutex(Body(port: port)) }

    /// Answers, unless that was done; then cleans up.
    func settle(_ answer: () -> Answer) {
        let body = body.withLock { body in
            defer { body = Body() }
            return body
        }
        guard let port = body.port else { return }
        port.answer(answer())
        for cleanup in body.cleanups { cleanup() }
    }

    /// Does something once the answer is given; at once, if it was.
    func afterwards(_ cleanup: @escaping @Sendable () -> Void) {
        let isSettled = body.withLock { body in
            if body.port != nil { body.cleanups.append(cleanup) }
            return body.port == nil
        }
        if isSettled { cleanup() }
    }

    /// Answers with this at the deadline, if nothing else did.
    func settle(after delay: Duration, by deadlines: Deadlines, _ answer: @escaping @Sendable () -> Answer) {
        let id = deadlines.after(delay) { self.settle(answer) }
        if let id { afterwards { deadlines.cancel(id) } }
    }

    /// Whether the answer was given.
    var isSettled: Bool { body.withLock { $0.port == nil } }
}

extension Watchers {
    /// Answers as soon as a state decides the answer, or at the deadline with the other one; at once if the present
    /// state decides it.
    ///
    /// - Parameters:
    ///   - seconds: How long to wait at most.
    ///   - port: The way to answer later.
    ///   - deadlines: Who watches the time.
    ///   - present: The present state.
    ///   - decide: The answer that a state gives; nil: it is still open.
    ///   - otherwise: The answer when the time is over.
    func reply(
        within seconds: Int,
        port: AnswerPort,
        deadlines: Deadlines,
        present: () -> State,
        decide: @escaping @Sendable (State) -> Answer?,
        otherwise: @escaping @Sendable () -> Answer
    ) -> Reply {
        if let answer = decide(present()) { return .answer(answer) }
        if seconds <= 0 { return .answer(otherwise()) }
        let settlement = Settlement(port)
        settlement.settle(after: .seconds(seconds), by: deadlines, otherwise)
        let handle = add(present: present) { state in
            if settlement.isSettled { return true }
            guard let answer = decide(state) else { return false }
            settlement.settle { answer }
            return true
        }
        if let handle { settlement.afterwards { [self] in cancel(handle) } }
        return .later
    }
}

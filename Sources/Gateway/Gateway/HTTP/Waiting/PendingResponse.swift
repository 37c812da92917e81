internal import Primitives
internal import SessionPool

/// The response to a long poll, which is sent by a change or at its deadline: exactly once, from any thread. Later responses
/// are ignored.
///
/// Long polls wait by callbacks, not in tasks: see the decision record *WaitingByCallbacks*.
package final class PendingResponse: Sendable {
    /// Hands a response to the HTTP server.
    package typealias Send = @Sendable (Response) -> Void

    private struct State {
        /// Nil once the response is sent.
        var send: Send?
        var cleanups: [@Sendable () -> Void] = []
    }

    private let state: RankedMutex<State>

    init(_ send: @escaping Send) { state = RankedMutex(State(send: send)) }

    /// Sends a response, unless one was sent; then runs the cleanups.
    func complete(_ response: () -> Response) {
        let taken = take()
        guard let send = taken.send else { return }
        send(response())
        for cleanup in taken.cleanups { cleanup() }
    }

    /// Ends without a response; then runs the cleanups.
    func cancel() { for cleanup in take().cleanups { cleanup() } }

    /// All closures, which are released outside the lock: the end of what they refer to may take other locks.
    private func take() -> State {
        state.withLock { state in
            defer { state = State() }
            return state
        }
    }

    /// Sends a response after a delay, unless one is sent earlier.
    func complete(after delay: Duration, by timers: TimerQueue, _ response: @escaping @Sendable () -> Response) {
        let timer = timers.schedule(after: delay) { self.complete(response) }
        if let timer { onCompletion { timers.cancel(timer) } }
    }

    /// Runs a cleanup once the response is sent; at once if it was sent before.
    func onCompletion(_ cleanup: @escaping @Sendable () -> Void) {
        let isComplete = state.withLock { state in
            if state.send != nil { state.cleanups.append(cleanup) }
            return state.send == nil
        }
        if isComplete { cleanup() }
    }

    var isComplete: Bool { state.withLock { $0.send == nil } }
}

extension Services {
    /// A pending response to a long poll, which counts as waiting. The response is a refusal if the caller loses its rights or
    /// its token expires before; there is none when the client leaves.
    ///
    /// - Parameter joined: The subscription whose values the response has; nil: none that the request has joined.
    /// - Throws: A 429 or 503 problem if too many requests wait.
    func pendingResponse(_ call: Call, reading joined: JoinedSubscription? = nil) throws(Problem) -> PendingResponse {
        let pending = PendingResponse(call.respond)
        let name = call.caller.account
        let remove = try addWaiting(of: call.caller, counted: name, reading: joined) { [weak pending] refusal in
            pending?.complete { ProblemDetails.response(to: call, for: refusal) }
        }
        pending.onCompletion(remove)
        call.onAbandonment { [weak pending] in pending?.cancel() }
        do {
            try checkPresent(call)
        } catch {
            pending.cancel()
            throw error
        }
        return pending
    }

    /// Responds as soon as a state decides the response: at once if the present state does, else when the state
    /// changes, at the latest after the requested waiting time.
    ///
    /// - Parameters:
    ///   - watchers: Where changes of the state are reported.
    ///   - decide: The response that the present state decides; nil while it is undecided.
    ///   - sharing: The rules for equal requests that join the wait; nil: each waits alone.
    func wait(
        _ call: Call,
        upTo seconds: Int,
        on watchers: Watchers,
        decide: @escaping @Sendable () -> Response?,
        timedOut: @escaping @Sendable () -> Response,
        sharing rules: SharedDecision.Rules? = nil
    ) throws(Problem) -> OperationResult {
        if let response = decide() { return .response(response) }
        if seconds <= 0 { return .response(timedOut()) }
        let pending = try pendingResponse(call)
        pending.complete(after: .seconds(seconds), by: timers, timedOut)
        let watch: SharedDecision.Watch = { complete in
            let handle = watchers.add {
                guard let response = decide() else { return false }
                complete(response)
                return true
            }
            return { if let handle { watchers.cancel(handle) } }
        }
        pending.onCompletion(watch { response in pending.complete { response } })
        if let rules { call.share?(SharedDecision(longestWait: .seconds(seconds), rules: rules, watch: watch)) }
        return .deferred
    }
}

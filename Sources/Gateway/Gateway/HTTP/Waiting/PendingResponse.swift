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

    /// A response that goes to `send`.
    init(_ send: @escaping Send) { state = RankedMutex(State(send: send)) }

    /// Sends a response, unless one was sent; then runs the cleanups.
    func complete(_ response: () -> Response) {
        let taken = state.withLock { state in
            defer { state = State() }
            return state
        }
        guard let send = taken.send else { return }
        send(response())
        for cleanup in taken.cleanups { cleanup() }
    }

    /// Ends without a response; then runs the cleanups.
    func cancel() {
        // All closures are released outside the lock: the end of what they refer to may take other locks.
        let taken = state.withLock { state in
            defer { state = State() }
            return state
        }
        for cleanup in taken.cleanups { cleanup() }
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

    /// Whether the response was sent.
    var isComplete: Bool { state.withLock { $0.send == nil } }
}

/// The waiting requests, whose number is limited for each caller.
final class WaitingRequests: Sendable {
    /// The most requests of one caller that wait at a time.
    static let limit = 1_000
    /// The refusal of a further one.
    static let refusal = Problem(.overQuota, detail: "The maximum of \(limit) waiting requests is reached.")

    struct Request {
        let caller: Caller
        /// The name under which the request counts; nil: it does not count towards the limit.
        let counted: String?
        let end: @Sendable () -> Void
    }

    struct Requests {
        var all: [UInt64: Request] = [:]
        var counts: [String: Int] = [:]
        var next: UInt64 = 0

        /// False, without counting, if as many requests as the limit count under the name. Requests without a name do not count.
        mutating func count(_ name: String?) -> Bool {
            guard let name else { return true }
            let present = counts[name, default: 0]
            if present < limit { counts[name] = present + 1 }
            return present < limit
        }

        mutating func uncount(_ name: String) {
            let left = counts[name, default: 1] - 1
            counts[name] = left > 0 ? left : nil
        }
    }

    let requests = RankedMutex(Requests())

    /// The number of requests.
    var count: Int { requests.withLock { $0.all.count } }

    /// Adds a request that `end` ends when its caller loses rights. Returns its number. Throws a 429 problem, without adding
    /// it, if as many requests as the limit count under the same name.
    func add(
        of caller: Caller,
        counted name: String?,
        end: @escaping @Sendable () -> Void
    ) throws(Problem) -> UInt64 {
        try requests.withLock { requests throws(Problem) in
            guard requests.count(name) else { throw Self.refusal }
            requests.next += 1
            requests.all[requests.next] = Request(caller: caller, counted: name, end: end)
            return requests.next
        }
    }

    /// Removes a request that does not wait any more.
    func remove(_ number: UInt64) {
        requests.withLock { requests in
            guard let name = requests.all.removeValue(forKey: number)?.counted else { return }
            requests.uncount(name)
        }
    }

    /// Counts a request that waits together with an equal request; false if as many requests as the limit count.
    func count(_ name: String?) -> Bool {
        requests.withLock { $0.count(name) }
    }

    /// Removes a request that `count` has counted.
    func uncount(_ name: String?) {
        if let name { requests.withLock { $0.uncount(name) } }
    }

    /// The name under which a request counts. Callers are distinguished by their credentials or else by their network.
    /// Without credentials, requests from loopback do not count: behind a local proxy they come from different callers.
    static func name(of call: Call) -> String? {
        let host = call.request.peer.host
        return call.caller.identity ?? (ListeningAddress.isLoopback(host) ? nil : IPNetwork.subscriber(of: host))
    }

    /// Ends the requests of some callers.
    func end(where isEnded: (Caller) -> Bool) {
        let all = requests.withLock { $0.all }
        for request in all.values where isEnded(request.caller) { request.end() }
    }
}

extension Services {
    /// A pending response to a long poll, which counts as waiting. The response is a refusal if the caller loses its rights
    /// before; there is none when the client leaves.
    ///
    /// - Throws: A 429 problem if too many requests of the caller wait.
    func pendingResponse(_ call: Call) throws(Problem) -> PendingResponse {
        let pending = PendingResponse(call.respond)
        let number = try waiting.add(of: call.caller, counted: WaitingRequests.name(of: call)) { [weak pending] in
            pending?.complete { ProblemDetails.response(to: call, for: Challenge.changed()) }
        }
        pending.onCompletion { [waiting] in waiting.remove(number) }
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
    ///   - call: The request.
    ///   - seconds: The longest wait.
    ///   - watchers: Where changes of the state are reported.
    ///   - present: The present state.
    ///   - decide: The response for a state; nil while it is undecided.
    ///   - timedOut: The response after the longest wait.
    ///   - sharing: The rules for equal requests that join the wait; nil: each waits alone.
    func wait<State>(
        _ call: Call,
        upTo seconds: Int,
        on watchers: Watchers<State>,
        present: @escaping @Sendable () -> State,
        decide: @escaping @Sendable (State) -> Response?,
        timedOut: @escaping @Sendable () -> Response,
        sharing rules: SharedDecision.Rules? = nil
    ) throws(Problem) -> OperationResult {
        if let response = decide(present()) { return .response(response) }
        if seconds <= 0 { return .response(timedOut()) }
        let pending = try pendingResponse(call)
        pending.complete(after: .seconds(seconds), by: timers, timedOut)
        let watch: SharedDecision.Watch = { complete in
            let handle = watchers.add(present: present) { state in
                guard let response = decide(state) else { return false }
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

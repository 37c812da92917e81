internal import MicroHTTPD
package import Primitives
internal import SessionPool

/// The task of a request that may wait. The task runs on the thread of the HTTP server until the request waits.
final class RequestTask: Sendable {
    enum State {
        /// The HTTP server has no decision yet.
        case beginning(isCancelled: Bool)
        /// The task has ended before it waited. No answer: a long poll answers, or the client has left.
        case ended(LateAnswer?)
        case waiting(Task<Void, Never>)
    }

    private let state = RankedMutex(State.beginning(isCancelled: false))

    /// Enters a state, unless the beginning is over. Returns the former state.
    func enter(_ next: State) -> State {
        state.withLock { state in
            let former = state
            if case .beginning = former { state = next }
            return former
        }
    }

    func cancel() { if case .waiting(let task) = enter(.beginning(isCancelled: true)) { task.cancel() } }
}

/// The waiting requests, whose number is limited, in all and for each caller. A request with an `Idempotency-Key` waits on
/// when its client has left, so that the limit of connections does not limit such requests.
final class WaitingRequests: Sendable {
    /// The most requests of one caller that wait at a time.
    static let limit = 1_000
    static let refusal = Problem(
        .overQuota,
        detail: "The maximum of \(limit) waiting requests of one caller is reached."
    )

    struct Request {
        let caller: Caller
        /// The subscription whose values the request waits for; nil: it waits for something else.
        let joined: JoinedSubscription?
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
    /// The most requests that wait at a time, without those that wait together with an equal one.
    private let most: Int

    init(most: Int = .max) { self.most = most }

    var count: Int { requests.withLock { $0.all.count } }

    /// Adds a request that `end` ends when the caller loses rights. Returns the number of the request. If the limit of requests
    /// under the same name is reached, throws a 429 problem and adds nothing; at the limit of all requests, a 503 problem.
    func add(
        of caller: Caller,
        counted name: String?,
        reading joined: JoinedSubscription? = nil,
        end: @escaping @Sendable () -> Void
    ) throws(Problem) -> UInt64 {
        try requests.withLock { requests throws(Problem) in
            guard requests.all.count < most else {
                let detail = "The maximum of \(most) waiting requests is reached (http.maxConnections)."
                throw Problem(.gatewayFull, detail: detail)
            }
            guard requests.count(name) else { throw Self.refusal }
            requests.next += 1
            requests.all[requests.next] = Request(caller: caller, joined: joined, counted: name, end: end)
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
    func count(_ name: String?) -> Bool { requests.withLock { $0.count(name) } }

    func uncount(_ name: String?) { if let name { requests.withLock { $0.uncount(name) } } }

    func end(where isEnded: (Request) -> Bool) {
        let all = requests.withLock { $0.all }
        for request in all.values where isEnded(request) { request.end() }
    }
}

extension Services {
    /// Adds a request that waits. `end` ends it with a refusal when its caller loses rights, or when the token of the caller
    /// expires.
    ///
    /// - Returns: Removes the request.
    /// - Throws: A 429 or 503 problem, without adding it, if too many requests count under the same name, or wait.
    func addWaiting(
        of caller: Caller,
        counted name: String?,
        reading joined: JoinedSubscription? = nil,
        end: @escaping @Sendable (Problem) -> Void
    ) throws(Problem) -> @Sendable () -> Void {
        let number = try waiting.add(of: caller, counted: name, reading: joined) { end(Challenge.changed()) }
        let timer = whenExpired(caller) { end(Challenge.expired()) }
        return { [waiting, timers] in
            waiting.remove(number)
            if let timer { timers.cancel(timer) }
        }
    }

    /// Has a function called when the token of a caller expires; nil: the token does not expire.
    private func whenExpired(_ caller: Caller, _ run: @escaping @Sendable () -> Void) -> TimerID? {
        access.remaining(of: caller).flatMap { timers.schedule(after: $0, runsAtStop: false, run) }
    }

    /// Awaits the result of an action for a request that only reads. When the token of the caller expires, the action is
    /// cancelled, and the request refused.
    package func untilExpiry<Value: Sendable>(
        of caller: Caller,
        _ action: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard caller.expiry != nil else { return try await action() }
        return try await result(of: action) { awaited in
            whenExpired(caller) { awaited.end(.failure(Challenge.expired())) }
        }
    }

    /// Awaits the result of an action; nil after a time, and when the gateway stops. The action is cancelled then.
    package func untilStop<Value: Sendable>(
        within time: Duration,
        _ action: @escaping @Sendable () async throws -> Value
    ) async throws -> Value? {
        try await result(of: action) { awaited in
            timers.schedule(after: time) { awaited.end(.success(nil)) }
        }
    }

    /// Awaits the result of an action, which goes on when the gateway stops: `stop` ends then, or after a time.
    package func ending<Value>(
        _ stop: Awaited<Void>,
        after time: Duration,
        _ action: () async throws -> Value
    ) async rethrows -> Value {
        let timer = timers.schedule(after: time) { stop.end(.success(())) }
        defer { if let timer { timers.cancel(timer) } }
        return try await action()
    }

    /// Awaits the result of an action, unless a timer provides another one first; the action is cancelled then.
    private func result<Value: Sendable>(
        of action: @escaping @Sendable () async throws -> Value,
        or schedule: (Awaited<Value>) -> TimerID?
    ) async throws -> Value {
        let awaited = Awaited<Value>()
        let timer = schedule(awaited)
        defer { if let timer { timers.cancel(timer) } }
        let task = Task.immediate {
            do { awaited.end(.success(try await action())) } catch { awaited.end(.failure(error)) }
        }
        awaited.onEnd { task.cancel() }
        return try await awaited.value
    }

    /// Waits for a value, which is nil after a time, and when the gateway stops. The value is nil also when the token of the
    /// caller expires, except for a request that only reads: a client that renews the token would repeat a request that was
    /// performed.
    ///
    /// - Parameter begin: Has the value provided.
    /// - Throws: `CancellationError` if the client leaves; a 429 or 503 problem if too many requests wait; a refusal
    ///   if the caller loses its rights, or the token of a request that only reads expires; the error of `begin`.
    func wait<Value: Sendable>(
        _ call: Call,
        upTo time: Duration,
        for begin: (Awaited<Value?>) throws -> Void
    ) async throws -> Value? {
        let awaited = Awaited<Value?>()
        let number = try waiting.add(of: call.caller, counted: call.caller.account) {
            awaited.end(.failure(Challenge.changed()))
        }
        defer { waiting.remove(number) }
        try checkPresent(call)
        try begin(awaited)
        call.waitEnd?.onEnd { awaited.end(.success(nil)) }
        let timer = timers.schedule(after: time) { awaited.end(.success(nil)) }
        defer { if let timer { timers.cancel(timer) } }
        guard call.caller.expiry != nil else { return try await awaited.value }
        let expiry = whenExpired(call.caller) {
            awaited.end(call.request.method == "GET" ? .failure(Challenge.expired()) : .success(nil))
        }
        defer { if let expiry { timers.cancel(expiry) } }
        return try await awaited.value
    }

    /// Waits until a state decides an outcome, and returns the outcome; nil after some seconds, and at once if too many
    /// requests wait: a client would repeat a request that was performed.
    ///
    /// - Parameters:
    ///   - watchers: Where changes of the state are reported.
    ///   - decide: The outcome that the present state decides; nil while it is undecided.
    /// - Throws: As the wait for a value, but no 429 or 503 problem.
    func wait<Outcome: Sendable>(
        _ call: Call,
        upTo seconds: Int,
        on watchers: Watchers,
        decide: @escaping @Sendable () -> Outcome?
    ) async throws -> Outcome? {
        if let outcome = decide() { return outcome }
        if seconds <= 0 { return nil }
        var handle: UInt64?
        defer { if let handle { watchers.cancel(handle) } }
        do {
            return try await wait(call, upTo: .seconds(seconds)) { awaited in
                handle = watchers.add {
                    guard let outcome = decide() else { return false }
                    awaited.end(.success(outcome))
                    return true
                }
            }
        } catch let problem as Problem where [.overQuota, .gatewayFull].contains(problem.code) {
            return nil
        }
    }
}

internal import MicroHTTPD

/// How requests that are equal to one that waits get its response.
struct SharedDecision: Sendable {
    /// What a request that joins depends on.
    struct Rules: Sendable {
        /// The present response to a call; equal for equal calls, unless it reports a problem.
        let response: @Sendable (Call) -> Response
        /// Whether the caller of a call sees the resource, which then counts as used.
        let admits: @Sendable (Call) -> Bool
    }

    /// Registers a closure that gets the response as soon as the state decides it. The result ends this.
    typealias Watch = @Sendable (_ complete: @escaping @Sendable (Response) -> Void) -> @Sendable () -> Void

    let longestWait: Duration
    let rules: Rules
    let watch: Watch
}

/// The wait that long polls with equal heads share: one watcher, one response, one entry of the requests that a
/// reload may end. A request that joins passes all steps before the handler as any other, with its own id, rate limits,
/// metrics and log.
final class SharedPoll: SharedWait {
    fileprivate let host: HTTPHost
    fileprivate let first: Call
    fileprivate let decision: SharedDecision
    private let policy: AccessPolicy
    private let deliver: @Sendable (SharedAnswer) -> Void
    /// Its cleanups end the wait.
    private let pending = PendingResponse { _ in }
    /// The timer of a wait runs only at the end of the gateway.
    private static let never = Duration.seconds(1 << 32)

    /// The wait of requests that are equal to `first`; nil if its caller has lost rights, or too many requests wait.
    init?(
        of first: Call,
        _ decision: SharedDecision,
        host: HTTPHost,
        deliver: @escaping @Sendable (SharedAnswer) -> Void
    ) {
        (self.first, self.decision, self.host, self.deliver) = (first, decision, host, deliver)
        policy = host.services.access.policy
        let services = host.services
        let remove = try? services.addWaiting(of: first.caller, counted: nil) { [weak self] refusal in
            self?.answer { ProblemDetails.response(to: $0, for: refusal) }
        }
        guard let remove else { return nil }
        pending.onCompletion(remove)
        let timer = services.timers.schedule(after: Self.never) { [weak self] in self?.answer(decision.rules.response) }
        if let timer { pending.onCompletion { services.timers.cancel(timer) } }
        pending.onCompletion(decision.watch { [weak self] in self?.answer($0, decision.rules.response) })
        guard (try? services.checkPresent(first)) != nil else {
            end()
            return nil
        }
    }

    var longestWait: Duration { decision.longestWait }

    func join(from peer: PeerAddress) -> SharedWaitEntry {
        let services = host.services
        // Under the same policy, equal credentials are those of the same caller.
        guard services.coordination.contact == .all, services.access.policy === policy, decision.rules.admits(first)
        else { return .closed }
        var request = first.request
        request.peer = peer
        switch host.admit(request) {
        case .response(let response): return .refused(response)
        case .admitted(let call, _):
            let counted = call.caller.account
            guard services.waiting.count(counted) else {
                return .refused(host.rejection(WaitingRequests.refusal, of: call))
            }
            return .joined(JoinedPoll(self, call.record, counted: counted))
        }
    }

    func end() { pending.cancel() }

    private func answer(_ make: @escaping @Sendable (Call) -> Response) { answer(make(first), make) }

    /// Responds to all requests. A problem has the id of its request.
    private func answer(_ response: Response, _ make: @escaping @Sendable (Call) -> Response) {
        guard response.problem != nil else { return deliver(.same(host.shared(response, with: first))) }
        deliver(.each { ($0 as? JoinedPoll)?.finish(make) ?? HTTPResponse(status: 500) })
    }
}

/// A long poll that waits with an equal one.
private final class JoinedPoll: JoinedRequest {
    private let poll: SharedPoll
    private let record: CallRecord
    private let counted: String?

    init(_ poll: SharedPoll, _ record: CallRecord, counted: String?) {
        (self.poll, self.record, self.counted) = (poll, record, counted)
    }

    var fields: HTTPFields { HTTPFields([HTTPField("X-Request-Id", record.requestID)] + record.headers) }

    func answered(status: Int) {
        abandoned()
        poll.host.finished(record, status: status, problem: nil)
    }

    func timedOut() -> HTTPResponse { finish(poll.decision.rules.response) }

    func abandoned() { poll.host.services.waiting.uncount(counted) }

    func finish(_ make: (Call) -> Response) -> HTTPResponse {
        abandoned()
        var call = poll.first
        call.record = record
        return poll.host.finish(make(call), record, of: counted)
    }
}

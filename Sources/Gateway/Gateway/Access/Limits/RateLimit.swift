internal import MicroHTTPD

/// Limits the rate of requests: 429 with `Retry-After` beyond it, and `RateLimit` headers on every response
/// (draft-ietf-httpapi-ratelimit-headers).
struct RateLimit: Middleware {
    /// The subject whose requests are counted.
    enum Scope: String, Sendable {
        /// The address that a request comes from. Checked before credentials, which take time to verify.
        case address
        /// The key or token, with its own rate.
        case caller
    }

    /// The subject whose requests are counted.
    let scope: Scope
    let access: AccessControl
    /// Counts the requests.
    let coordination: any Coordination

    func admit(_ call: inout Call, operation: Operation?) throws {
        if let operation, !operation.isRateLimited { return }
        guard let (name, rate, burst) = subject(of: call) else { return }
        let verdict = coordination.take("\(scope.rawValue) \(name)", rate: rate, burst: burst)
        let (seconds, attoseconds) = verdict.wait.components
        let wait = max(1, seconds + (attoseconds > 0 ? 1 : 0))
        let window = max(1, Int((burst / rate).rounded(.up)))
        call.record = call.record.with([
            HTTPField("RateLimit-Policy", "\"\(scope.rawValue)\";q=\(Int(burst));w=\(window)"),
            HTTPField("RateLimit", "\"\(scope.rawValue)\";r=\(verdict.remaining);t=\(wait)"),
        ])
        if verdict.isAdmitted { return }
        let limit = "\(SettingValue.text(rate)) a second (\(setting(of: call)))"
        let detail = "Too many requests from this \(scope.rawValue): the limit is \(limit)."
        var problem = Problem(.rateLimited, detail: detail)
        problem.headers.append("Retry-After", "\(wait)")
        throw problem
    }

    private func setting(of call: Call) -> String {
        switch scope {
        case .address: "limits.rate"
        case .caller: Caller.setting("rate", of: call.caller.identity)
        }
    }

    private func subject(of call: Call) -> (name: String, rate: Double, burst: Double)? {
        switch scope {
        case .address:
            let rules = access.policy.configuration.limits
            let host = call.request.peer.host
            guard rules.rate > 0 else { return nil }
            if !rules.countsLoopback, ListeningAddress.isLoopback(host) { return nil }
            return (IPNetwork.subscriber(of: host), rules.rate, max(rules.burst, 1))
        case .caller:
            guard let identity = call.caller.identity, let rate = call.caller.rights.rate else { return nil }
            return (identity, rate, max(rate, 1))
        }
    }
}

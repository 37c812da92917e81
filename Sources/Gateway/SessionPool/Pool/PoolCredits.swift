internal import JSONText
package import SessionCore

extension UpstreamConfiguration {
    /// Whether sessions are opened in the same way: server, adapter set, credentials, options, TLS and proxy.
    func hasSameSessions(as other: UpstreamConfiguration) -> Bool {
        // Equal texts can have other bytes.
        guard withoutQuotas == other.withoutQuotas, serverAddress.hasSameBytes(as: other.serverAddress) else {
            return false
        }
        return adapterSet.hasSameBytes(as: other.adapterSet) && user.hasSameBytes(as: other.user)
            && password.hasSameBytes(as: other.password)
    }

    /// The configuration as far as its sessions depend on it.
    private var withoutQuotas: UpstreamConfiguration {
        var rest = self
        rest.isDefault = false
        (rest.maxSessions, rest.maxSubscriptionsPerSession, rest.maxSubscriptions) = (0, 0, 0)
        (rest.maxItems, rest.maxValueBytes) = (0, 0)
        return rest
    }
}

/// The credits of an upstream that a subscription needs and a pool does not have.
package struct CreditShortage: Equatable, Sendable {
    package let upstream: String
    package let missing: UpstreamCredits
    /// The credits of the pool at that time.
    package let held: UpstreamCredits
    /// Whether a session is missing that the pool can do without, because a present one has room.
    package let isOptional: Bool

    /// The error if the credits cannot be had: the first of the quotas whose free credits are less.
    package func refusal(free: UpstreamCredits, limits: UpstreamCredits) -> PoolError {
        if missing.subscriptions > free.subscriptions {
            return .overQuota(.subscriptions(upstream: upstream, limit: limits.subscriptions))
        }
        if missing.items > free.items { return .overQuota(.items(upstream: upstream, limit: limits.items)) }
        return .overQuota(.sessions(upstream: upstream, limit: limits.sessions))
    }
}

/// The credits of a pool: how much of the limits of its upstreams this process may use. Other processes have the rest.
package struct PoolCredits: Sendable, Equatable {
    private struct Upstream: Equatable {
        /// The sessions, subscriptions and items that may be open.
        var held = UpstreamCredits.none
        /// The held credits that belong to open sessions and subscriptions, and end with them.
        var bound = UpstreamCredits.none
        /// The bound credits that have ended, and were not taken yet.
        var ended = UpstreamCredits.none
        /// The credits that were unused throughout the present interval.
        var idle = UpstreamCredits.none
        /// Whether no further session can be had.
        var sharesSessions = false
    }

    private var upstreams: [String: Upstream] = [:]

    package init() {}

    /// The upstreams with credits, in the order of their names.
    package var names: [String] { upstreams.filter { !($0.value.held + $0.value.ended).isNone }.keys.sorted() }

    package func held(of name: String) -> UpstreamCredits { upstreams[name]?.held ?? .none }

    /// Whether subscriptions share a session instead of opening one, because no further session can be had.
    func sharesSessions(of name: String) -> Bool { upstreams[name]?.sharesSessions ?? false }

    package mutating func add(_ credits: UpstreamCredits, of name: String) {
        upstreams[name, default: Upstream()].held += credits
        if credits.sessions > 0 { upstreams[name]?.sharesSessions = false }
    }

    /// No further session can be had: subscriptions share those that are open, until there are credits for another one.
    package mutating func sessionsRefused(of name: String) {
        upstreams[name, default: Upstream()].sharesSessions = true
    }

    /// Records the credits that are in use now.
    mutating func used(_ used: UpstreamCredits, of name: String) {
        guard let upstream = upstreams[name] else { return }
        upstreams[name]?.idle = upstream.idle.limited(to: upstream.held - used)
    }

    /// Records the credits of sessions and subscriptions that were closed.
    mutating func closed(_ closed: UpstreamCredits, of name: String) {
        guard let upstream = upstreams[name], !upstream.bound.isNone else { return }
        let ended = upstream.bound.limited(to: closed)
        upstreams[name]?.bound -= ended
        upstreams[name]?.held -= ended
        upstreams[name]?.ended += ended
    }

    /// Removes and returns the credits that are not in use.
    ///
    /// - Parameter reserved: Unused credits that remain.
    package mutating func takeUnused(
        of name: String,
        used: UpstreamCredits,
        reserved: UpstreamCredits
    ) -> UpstreamCredits {
        guard let upstream = upstreams[name] else { return .none }
        return take(upstream.held - used - reserved, of: name)
    }

    /// Ends an interval: removes and returns the credits that were not in use throughout.
    ///
    /// - Parameter reserved: Unused credits that remain.
    package mutating func takeIdle(
        of name: String,
        used: UpstreamCredits,
        reserved: UpstreamCredits
    ) -> UpstreamCredits {
        guard let upstream = upstreams[name] else { return .none }
        let taken = take(upstream.idle.limited(to: upstream.held - used - reserved), of: name)
        let unused = held(of: name) - used
        upstreams[name]?.idle = unused
        return taken
    }

    /// Adds what is in use beyond the credits, bound to that use, and returns it.
    package mutating func coverUse(of name: String, used: UpstreamCredits) -> UpstreamCredits {
        let missing = used - held(of: name)
        if !missing.isNone { add(missing, of: name) }
        upstreams[name]?.bound += missing
        return missing
    }

    /// Sets the credits to what is in use, and binds them to that use.
    package mutating func keep(used: UpstreamCredits, of name: String) {
        upstreams[name] = Upstream(held: used, bound: used)
    }

    /// Takes unused credits, and those that have ended.
    private mutating func take(_ credits: UpstreamCredits, of name: String) -> UpstreamCredits {
        let ended = upstreams[name]?.ended ?? .none
        upstreams[name]?.ended = .none
        upstreams[name]?.held -= credits
        return credits + ended
    }
}

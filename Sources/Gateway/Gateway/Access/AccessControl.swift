internal import FoundationEssentials
internal import MicroHTTPD
internal import Primitives

/// Authentication and authorization: finds the caller of a request and checks the right that its operation needs.
/// `Permissions` decides which resources the caller sees.
package final class AccessControl: Sendable {
    package let owners = ResourceOwners()
    /// Tickets, each of which opens one stream.
    let tickets: any Tickets
    let openStreams = OpenStreamCounts()
    /// Tells the loader of the JWK set that `load` was called.
    let reloads = ReloadSignal()

    private typealias LoadedKeySet = (url: String, text: String, keys: Int, at: Moment)

    private struct State {
        var policy: AccessPolicy
        /// The JWK set that was loaded last, with its URL, the number of keys that can be used, and the time.
        var keySet: LoadedKeySet?
    }

    private let state: RankedMutex<State>
    let clock: @Sendable () -> Moment
    private let wallTime: @Sendable () -> Double

    /// Access control by a configuration. Tokens are refused until `load` has been called.
    init(
        _ configuration: AccessConfiguration,
        tickets: any Tickets = TicketStore(),
        clock: @escaping @Sendable () -> Moment = Moment.monotonic,
        wallTime: @escaping @Sendable () -> Double = { Date().timeIntervalSince1970 }
    ) {
        self.tickets = tickets
        self.clock = clock
        self.wallTime = wallTime
        state = RankedMutex(State(policy: AccessPolicy(configuration, verifier: nil)))
    }

    /// Applies a configuration with its keys, at the start and after each reload. Requests in progress keep their
    /// rights.
    ///
    /// - Returns: What callers have lost, for `Services.end`.
    /// - Throws: The mistake in a key for tokens; nothing has changed then.
    func load(_ configuration: AccessConfiguration) throws -> Revocation {
        let verifier = configuration.modes.contains(.jwt) ? try verifier(configuration.webTokens) : nil
        let newer = AccessPolicy(configuration, verifier: verifier)
        let older = state.withLock { state in
            defer { state.policy = newer }
            return state.policy
        }
        reloads.set()
        let revocation = Revocation(from: older, to: newer)
        tickets.revoke(where: revocation.ends)
        return revocation
    }

    /// Uses a JWK set that was loaded from a URL; a set without usable keys withdraws all keys. Throws, and keeps the present
    /// keys, if the set is not valid; does nothing if the URL is no longer configured.
    ///
    /// - Returns: What callers have lost, for `Services.end`; nil: the policy has not changed.
    func use(keySet text: String, from url: String) throws -> Revocation? {
        let configuration = configuration
        guard configuration.webTokens.keySetURL == url else { return nil }
        let keys: Int
        do throws(KeyMaterial.Mistake) {
            keys = try KeyMaterial.keySet(text).keys.count
        } catch {
            throw KeySetError(reason: error.rule)
        }
        let now = clock()
        state.withLock { $0.keySet = (url, text, keys, now) }
        let verifier = try verifier(configuration.webTokens)
        let revocation = state.withLock { state -> Revocation? in
            let older = state.policy
            guard older.configuration == configuration, older.verifier != nil else { return nil }
            state.policy = AccessPolicy(configuration, verifier: verifier)
            return Revocation(from: older, to: state.policy)
        }
        if let revocation { tickets.revoke(where: revocation.ends) }
        return revocation
    }

    /// The time since the JWK set of the configured URL was loaded, and the number of usable keys in the set; nil: no set was
    /// loaded, or no URL is configured.
    var keySetFigures: (age: Duration, keys: Int)? {
        guard let set = keySet, set.url == configuration.webTokens.keySetURL else { return nil }
        return (clock() - set.at, set.keys)
    }

    /// A verifier with the configured keys and the JWK set that was loaded last.
    private func verifier(_ tokens: WebTokenConfiguration) throws -> TokenVerifier {
        let set = keySet.flatMap { $0.url == tokens.keySetURL ? $0 : nil }
        return try TokenVerifier(tokens, loaded: set?.text)
    }

    var policy: AccessPolicy { state.withLock { $0.policy } }

    private var keySet: LoadedKeySet? { state.withLock { $0.keySet } }

    var configuration: AccessConfiguration { policy.configuration }

    /// Issues a ticket to a caller; nil if there are too many unused tickets. Throws 503 if it cannot be known which
    /// tickets are used.
    func ticket(for caller: Caller) throws(Problem) -> IssuedTicket? {
        try tickets.issue(to: caller, policy, at: ticketTime)
    }

    private var ticketTime: TicketTime { TicketTime(moment: clock(), wall: wallTime()) }

    /// A request has opened a stream by a ticket. Returns another stream that the ticket had opened; nil: none.
    func opened(_ stream: String, by redemption: TicketRedemption?) -> String? {
        let former = redemption.flatMap { tickets.opened($0, stream: stream) }
        return former == stream ? nil : former
    }

    /// A request has opened no stream by its ticket.
    func giveBack(_ redemption: TicketRedemption) { tickets.giveBack(redemption, at: ticketTime) }

    /// The stream that a request has opened by a ticket has closed.
    func closed(_ stream: String, by redemption: TicketRedemption?) {
        if let redemption { tickets.closed(redemption, stream: stream, at: ticketTime) }
    }

    /// The time until a caller's rights expire; nil: they do not expire.
    package func remaining(of caller: Caller) -> Duration? {
        caller.expiry.map { .seconds(min(max(0, $0 - wallTime()), 1e9)) }
    }
}

/// An access configuration with the objects that are made from it. All requests share it, and it does not change.
package final class AccessPolicy: Sendable {
    package let configuration: AccessConfiguration
    package let keys: APIKeys
    /// Nil while tokens are not accepted, and before `load`.
    let verifier: TokenVerifier?
    /// Whether callers need no credentials.
    let isOpen: Bool
    let proxies: TrustedProxies?

    init(_ configuration: AccessConfiguration, verifier: TokenVerifier?) {
        self.configuration = configuration
        self.verifier = verifier
        keys = APIKeys(configuration.keys)
        isOpen = configuration.isOpen
        let networks = configuration.trustedProxies
        proxies = networks.isEmpty ? nil : TrustedProxies(networks: networks)
    }

    /// A digest of what makes the credential of an identity valid, with its rights: equal in every process.
    package func digest(of identity: String?) -> [UInt8] {
        guard let identity else { return [] }
        let line = TokenVerifier.isIdentity(identity) ? configuration.webTokens.line : keys.line(of: identity) ?? ""
        return KeyHash.digest(of: "\(identity) \(line)")
    }
}

extension AccessControl: Middleware {
    func admit(_ call: inout Call, operation: Operation?) throws {
        // Without an operation the response contains only what openapi.yaml documents.
        guard let operation, operation.authorization != .open else { return }
        if operation.acceptsTickets { call.query.remove("ticket") }
        let policy = policy
        let opensStream = operation.acceptsTickets ? Self.opensStream(call, operation) : false
        let forgery = RequestForgery(origins: policy.configuration.origins)
        var credential: Credential?
        if policy.isOpen {
            if call.request.rawQuery != nil { try Credential.refusingTokens(in: call.request) }
            try forgery.check(call.request, withCookie: false, opensStream: opensStream)
        } else {
            credential = try Credential.find(
                in: call.request,
                cookie: policy.configuration.cookie,
                takesTickets: operation.acceptsTickets
            )
        }
        guard let credential else {
            if !policy.isOpen {
                guard operation.authorization == .publicFeeds, policy.configuration.hasPublicFeeds else {
                    throw Challenge.missing()
                }
                call.caller = .anonymous
            }
            return count(&call.caller, from: call.request.peer.host)
        }
        if case .ticket = credential, !opensStream { throw Challenge.uselessTicket() }
        let caller = try caller(showing: credential, policy, &call)
        if case .cookie = credential {
            try forgery.check(call.request, withCookie: true, opensStream: opensStream)
        }
        try Self.check(operation.authorization, of: caller.rights)
        call.caller = caller
    }

    /// Makes what a caller without credentials uses count for the network of its address.
    package func count(_ caller: inout Caller, from host: String) {
        if caller.identity != nil { return }
        let limits = policy.configuration.limits
        // Requests of this machine may come from many callers, through a proxy.
        if !limits.countsLoopback, ListeningAddress.isLoopback(host) { return }
        caller.account = Caller.addressPrefix + IPNetwork.subscriber(of: host)
        caller.rights.maxSubscriptions = limits.maxSubscriptions
        caller.rights.maxItems = limits.maxItems
    }

    /// Whether a request of an operation that accepts tickets opens a stream. A short URL of a feed is one only if the request
    /// asks for it.
    private static func opensStream(_ call: Call, _ operation: Operation) -> Bool {
        operation.pattern.segments.first != .literal("feeds") || FeedsResource.wantsStream(call)
    }

    private static func check(_ authorization: Operation.Authorization, of rights: Rights) throws(Problem) {
        switch authorization {
        case .open, .authenticated, .publicFeeds: break
        case .right(let right), .rightOnAllUpstreams(let right):
            guard rights.operations.contains(right) else {
                throw Challenge.insufficient(right, "The credentials do not have the right \(right.rawValue).")
            }
        }
        if case .rightOnAllUpstreams = authorization, !rights.coversAllUpstreams {
            throw Challenge.insufficient(nil, "The operation needs credentials that cover all upstreams.")
        }
    }

    private func caller(
        showing credential: Credential,
        _ policy: AccessPolicy,
        _ call: inout Call
    ) throws(Problem) -> Caller {
        switch credential {
        case .bearer(let text), .cookie(let text): return try caller(of: text, policy)
        case .ticket(let text):
            guard let caller = try caller(ofTicket: text, policy, &call) else { throw Challenge.uselessTicket() }
            return caller
        }
    }

    /// The caller that a ticket was issued to; nil if it may not be used. `HEAD` opens no stream and leaves the ticket
    /// valid.
    private func caller(ofTicket text: String, _ policy: AccessPolicy, _ call: inout Call) throws(Problem) -> Caller? {
        guard let holder = tickets.present(text, for: StreamTarget(call), policy, at: ticketTime),
            let caller = try present(holder.caller, policy)
        else { return nil }
        switch holder.use {
        case .left: break
        case .redeemed(let redemption): call.redemption = redemption
        case .due(let redemption):
            call.ticket = text
            call.redemption = redemption
        }
        return caller
    }

    private func caller(of text: String, _ policy: AccessPolicy) throws(Problem) -> Caller {
        let modes = policy.configuration.modes
        if modes.contains(.keys), let key = policy.keys.find(text) {
            return Caller(identity: APIKeys.identity(of: key.name), rights: key.rights)
        }
        guard modes.contains(.jwt), let verifier = policy.verifier, WebToken.isOne(text) else {
            throw Challenge.invalid("The key or token is unknown.")
        }
        do throws(TokenRefusal) {
            return try verifier.caller(of: text, now: wallTime())
        } catch {
            throw error.problem
        }
    }

    /// The holder of a ticket, if its rights are still those with which the ticket was issued; nil otherwise. Throws a 503
    /// problem if that is not known yet.
    private func present(_ caller: Caller, _ policy: AccessPolicy) throws(Problem) -> Caller? {
        if let expiry = caller.expiry, expiry <= wallTime() { return nil }
        if policy.awaitsKey(of: caller) { throw TokenRefusal.withoutKeySet.problem }
        return caller.identity != nil && policy.recognises(caller) ? caller : nil
    }
}

package struct Caller: Sendable, Equatable {
    /// `key:` and the name of a key, or `jwt:` and the subject of a token; nil without authentication.
    package var identity: String? { didSet { account = identity } }
    /// The name under which shares and quotas of the caller are counted: its identity or, without credentials, the network of
    /// its address; nil: it has none.
    package fileprivate(set) var account: String?
    package var rights: Rights
    /// The time at which the rights expire, in seconds since 1970; nil: never.
    package var expiry: Double?
    /// The digest of the key that has verified the token of the caller; nil: an API key, or unknown.
    package var verifiedBy: [UInt8]?

    /// A caller from its parts; by default one without authentication.
    package init(identity: String? = nil, rights: Rights = .all, expiry: Double? = nil) {
        (self.identity, account) = (identity, identity)
        self.rights = rights
        self.expiry = expiry
    }

    static let unauthenticated = Caller()
    /// A caller without credentials where they are required, for data that needs none.
    static let anonymous = Caller(rights: .none)

    /// The beginning of the accounts of callers without credentials.
    fileprivate static let addressPrefix = "address:"

    /// Whether an account is that of callers without credentials.
    static func isAddress(_ account: String) -> Bool { account.hasPrefix(addressPrefix) }

    /// The identity that has an account; nil for that of callers without credentials.
    package static func identity(of account: String?) -> String? { account.flatMap { isAddress($0) ? nil : $0 } }

    /// Makes what the caller uses count for another account.
    package mutating func count(for account: String?) {
        identity = Self.identity(of: account)
        self.account = account
    }

    /// The setting of a limit of an account. A claim of a token may replace the setting.
    package static func setting(_ limit: String, of account: String?) -> String {
        let account = account ?? ""
        if isAddress(account) { return "limits.\(limit)" }
        return APIKeys.name(of: account).map { "auth.keys.\($0).\(limit)" } ?? "auth.jwt.\(limit)"
    }

    /// Whether the caller has shown no credentials although they are required.
    var isAnonymous: Bool { identity == nil && rights.operations.isEmpty }
}

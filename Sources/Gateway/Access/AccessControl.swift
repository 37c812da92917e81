internal import MicroHTTPD
internal import SessionCore
internal import Synchronization

/// Authentication and authorization: finds the caller of a request and checks the right that its operation needs.
/// `Permissions` decides which resources the caller sees.
package final class AccessControl: Sendable {
    /// What holds at a moment.
    private struct Policy: Sendable {
        let configuration: AccessConfiguration
        let ring: APIKeys
        /// Nil while no tokens are taken, and until the keys are loaded.
        let verifier: TokenVerifier?
    }

    /// Who made what.
    let owners = ResourceOwners()
    /// The tickets that wait for their streams.
    let tickets = TicketStore()
    /// How many streams each caller has open.
    let openStreams = OpenStreamCounts()

    private let policy: Mutex<Policy>
    private let clock: @Sendable () -> Moment
    private let wallTime: @Sendable () -> Double

    /// The access that a configuration gives. Tokens are refused until `load` has been called.
    package convenience init(_ configuration: AccessConfiguration) {
        self.init(configuration, clock: Moment.monotonic, wallTime: WallTime.secondsSince1970)
    }

    init(
        _ configuration: AccessConfiguration,
        clock: @escaping @Sendable () -> Moment,
        wallTime: @escaping @Sendable () -> Double
    ) {
        self.clock = clock
        self.wallTime = wallTime
        let ring = APIKeys(configuration.keys)
        policy = Mutex(Policy(configuration: configuration, ring: ring, verifier: nil))
    }

    /// Takes over a configuration with its keys, the first one included; requests that are under way keep their rights.
    ///
    /// - Returns: Tells of an identity, or of nobody, whether its rights are no longer those that it came in with, so
    ///   that its streams should end.
    /// - Throws: The mistake in a key that tokens are verified with; nothing has changed then.
    package func load(_ configuration: AccessConfiguration) async throws -> @Sendable (String?) -> Bool {
        let takesTokens = configuration.modes.contains(.jwt)
        let verifier = takesTokens ? try await TokenVerifier(configuration.webTokens) : nil
        let newer = Policy(configuration: configuration, ring: APIKeys(configuration.keys), verifier: verifier)
        let older = policy.withLock { policy in
            defer { policy = newer }
            return policy
        }
        let changedKeys = older.ring.identitiesChanged(in: newer.ring)
        let losesKeys = !configuration.modes.contains(.keys)
        let losesTokens = !takesTokens || older.configuration.webTokens != configuration.webTokens
        let isOpen = configuration.isOpen
        return { identity in
            if isOpen { return false }
            guard let identity else { return true }
            return identity.hasPrefix("jwt:") ? losesTokens : losesKeys || changedKeys.contains(identity)
        }
    }

    /// What holds at present.
    var configuration: AccessConfiguration { policy.withLock { $0.configuration } }

    /// A ticket for a caller, as long as not too many wait to be used.
    func ticket(for caller: Caller) -> TicketStore.Ticket? {
        tickets.issue(to: caller, lifetime: configuration.ticketLifetime, now: clock())
    }

    /// How long a caller's rights last; nil: they do not end by themselves.
    func remaining(of caller: Caller) -> Duration? {
        caller.expiry.map { .seconds(min(max(0, $0 - wallTime()), 1e9)) }
    }
}

extension AccessControl: Middleware {
    func admit(_ call: inout Call, operation: Operation?) throws -> Response? {
        // Without an operation the response holds nothing but what openapi.yaml says.
        guard let operation, operation.authorization != .open else { return nil }
        if operation.acceptsTickets { call.query.remove("ticket") }
        let policy = policy.withLock { $0 }
        let forgery = RequestForgery(origins: policy.configuration.origins)
        if policy.configuration.isOpen {
            try forgery.check(call.request, withCookie: false)
            return nil
        }
        let credential = try Credential.find(
            in: call.request,
            cookie: policy.configuration.cookie,
            takesTickets: operation.acceptsTickets
        )
        guard let credential else { throw Challenge.missing() }
        let caller = try caller(showing: credential, policy)
        if case .cookie = credential { try forgery.check(call.request, withCookie: true) }
        try Self.check(operation.authorization, of: caller.rights)
        call.caller = caller
        return nil
    }

    private static func check(_ authorization: Operation.Authorization, of rights: Rights) throws(Problem) {
        switch authorization {
        case .open, .authenticated: break
        case .right(let right), .rightOnAllUpstreams(let right):
            guard rights.operations.contains(right) else {
                throw Challenge.insufficient(right, "The credentials do not allow to \(right.rawValue).")
            }
        }
        if case .rightOnAllUpstreams = authorization, !rights.coversAllUpstreams {
            throw Challenge.insufficient(nil, "The operation needs credentials that cover all upstreams.")
        }
    }

    private func caller(showing credential: Credential, _ policy: Policy) throws(Problem) -> Caller {
        switch credential {
        case .bearer(let text), .cookie(let text): return try caller(of: text, policy)
        case .ticket(let text):
            guard let caller = tickets.redeem(text, now: clock()), let present = present(caller, policy) else {
                throw Challenge.invalid("The ticket was used, has expired, or never was.")
            }
            return present
        }
    }

    private func caller(of text: String, _ policy: Policy) throws(Problem) -> Caller {
        let modes = policy.configuration.modes
        if modes.contains(.keys), let key = policy.ring.find(text) {
            return Caller(identity: APIKeys.identity(of: key.name), rights: key.rights)
        }
        guard modes.contains(.jwt), let verifier = policy.verifier, WebToken.isOne(text) else {
            throw Challenge.invalid("The key or token is not known.")
        }
        do throws(TokenRefusal) {
            return try verifier.caller(of: text, now: wallTime())
        } catch {
            throw Challenge.invalid(error.sentence)
        }
    }

    /// The holder of a ticket with the rights that it has now; nil if there are none left.
    private func present(_ caller: Caller, _ policy: Policy) -> Caller? {
        if let expiry = caller.expiry, expiry <= wallTime() { return nil }
        guard let identity = caller.identity else { return nil }
        if identity.hasPrefix("jwt:") { return policy.configuration.modes.contains(.jwt) ? caller : nil }
        guard policy.configuration.modes.contains(.keys), let rights = policy.ring.rights(of: identity) else {
            return nil
        }
        return Caller(identity: identity, rights: rights)
    }
}

/// Who makes a request, as far as the gateway knows.
struct Caller: Sendable, Equatable {
    /// `key:` and the name of a key, or `jwt:` and the subject of a token; nil where nobody has to say who they are.
    var identity: String?
    /// What the caller may do.
    var rights = Rights.all
    /// When the rights end, in seconds since 1970; nil: not by themselves.
    var expiry: Double?
}

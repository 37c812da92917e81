internal import Primitives
internal import SessionCore

/// Sessions that a server refuses with an error that another attempt repeats: a wrong adapter set, wrong credentials.
struct RefusedSessions {
    typealias Refused = (client: PooledClient, refusal: UpstreamRefusal)
    /// A resource that was to move to a subscription of a refused client.
    typealias Move = (resource: SubscriptionResource, target: SharedSubscription, refusal: UpstreamRefusal)

    /// How long a refusal is repeated without asking the server, so that its readers cause one attempt a minute at most.
    static let lifetime = Duration.seconds(60)
    /// How long a refusal is reported if no other attempt is made: several times as long as alerts wait.
    static let reportTime = Duration.seconds(600)

    private var recent: [SessionKey: (refused: Refused, since: Moment)] = [:]
    private var moves: [Move] = []
    private var messengers: [Refused] = []

    mutating func refused(_ client: PooledClient, of session: SessionKey, _ refusal: UpstreamRefusal, at now: Moment) {
        recent[session.account] = ((client, refusal), now)
    }

    /// The refusal of the account of a session, if the last one was refused a short time ago.
    mutating func recentRefusal(of session: SessionKey, at now: Moment) -> UpstreamRefusal? {
        guard let last = recent[session.account] else { return nil }
        if last.since + Self.lifetime > now { return last.refused.refusal }
        recent[session.account] = nil
        return nil
    }

    /// The client of an upstream that was refused by the last attempt, a while ago at most; nil: there is none.
    func client(of upstream: String, at now: Moment) -> PooledClient? {
        recent.first { $0.key.upstream == upstream && $0.value.since + Self.reportTime > now }?.value.refused.client
    }

    /// The configuration has changed: servers are asked again.
    mutating func configurationChanged() { recent = [:] }

    /// Adds moves to a subscription that was refused before it was opened, for the next tick of the pool.
    mutating func add(_ refused: [Move]) { moves += refused }

    /// Adds a client that was opened for messages, for the next tick of the pool.
    mutating func add(_ messenger: Refused) { messengers.append(messenger) }

    /// Takes what was added since the last tick.
    mutating func take() -> (moves: [Move], messengers: [Refused]) {
        defer { (moves, messengers) = ([], []) }
        return (moves, messengers)
    }
}

extension SessionKey {
    /// The account that the server accepts or refuses: upstream and credentials.
    fileprivate var account: SessionKey { SessionKey(upstream: upstream, user: user, password: password) }
}

package import Changes
internal import OrderedCollections
package import SessionCore

/// Decides which upstream session carries which shared subscription, and when either is closed.
///
/// The machine does no I/O: time and the ids of new clients are arguments. A client that has the id of a new one is to be
/// opened, as is a subscription with another id than all before; `timePassed` returns what to close.
package struct PoolMachine: ~Copyable {
    struct Shared {
        let key: SharedKey
        let client: ClientID
        var users = 1
        var closesAt: Moment?
    }

    private struct Session {
        let key: SessionKey
        var shared = 0
        var closesAt: Moment?
        /// Until when messages keep the session.
        var keptUntil = Moment.zero
        /// Whether the upstream was removed from the configuration, or its sessions are opened in another way now. Further
        /// subscriptions use other sessions, if there may be one.
        var isOutdated = false
    }

    private var subscriptionLinger: Duration
    private var sessionLinger: Duration
    /// The upstreams by name, with their limits.
    private var limits: [String: UpstreamConfiguration]
    /// Oldest first.
    private var sessions: OrderedDictionary<ClientID, Session> = [:]
    private(set) var shared: [SharedID: Shared] = [:]
    private var byKey: [SharedKey: SharedID] = [:]
    private var nextShared: UInt64 = 1
    /// The credits of what is open, by upstream.
    private var figures: [String: UpstreamCredits] = [:]
    /// The credits of the pool, if other processes share the limits; nil: the pool may open all that the limits admit.
    private(set) var credits: PoolCredits?

    package init(configuration: PoolConfiguration) {
        subscriptionLinger = configuration.subscriptionLinger
        sessionLinger = configuration.sessionLinger
        limits = Self.limits(of: configuration)
    }

    /// Replaces quotas and lingers; open sessions and subscriptions stay open.
    package mutating func configurationChanged(_ configuration: PoolConfiguration) {
        subscriptionLinger = configuration.subscriptionLinger
        sessionLinger = configuration.sessionLinger
        let former = limits
        limits = Self.limits(of: configuration)
        for (client, session) in sessions {
            let (old, new) = (former[session.key.upstream], limits[session.key.upstream])
            if let old, new?.hasSameSessions(as: old) != true { sessions[client]?.isOutdated = true }
        }
    }

    private static func limits(of configuration: PoolConfiguration) -> [String: UpstreamConfiguration] {
        Dictionary(configuration.upstreams.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Ends the lingers of the subscriptions that are in the way of a new one, those that have lingered longest first: they
    /// are to be closed now. None if that does not suffice.
    package mutating func makeRoom(for key: SharedKey) -> [SharedID] {
        guard byKey[key] == nil, let limit = limits[key.session.upstream] else { return [] }
        var (rest, hasSession) = (figures(of: key.session.upstream), true)
        do throws(PoolError) { _ = try sessionWithRoom(key.session) } catch { hasSession = false }
        func isFull() -> Bool {
            !hasSession || rest.subscriptions >= limit.maxSubscriptions
                || rest.items + key.properties.countedItems > limit.maxItems
        }
        guard isFull() else { return [] }
        let lingering = shared.filter { $0.value.users == 0 && $0.value.key.session.upstream == key.session.upstream }
            .sorted { ($0.value.closesAt ?? .zero, $0.key.rawValue) < ($1.value.closesAt ?? .zero, $1.key.rawValue) }
        var ended: [SharedID] = []
        for (id, entry) in lingering where isFull() {
            ended.append(id)
            rest.closed(entry.key)
            hasSession = hasSession || sessions[entry.client]?.key.hasSameAccount(as: key.session) ?? false
        }
        if isFull() { return [] }
        for id in ended { sharedEnded(id, at: shared[id]?.closesAt ?? .zero) }
        return ended
    }

    /// Adds a user to the open subscription of this key. If none is open, opens one on a session below its limit, else
    /// on a new session with the id `freshClient`. Returns the subscription and its client.
    package mutating func acquired(
        _ key: SharedKey,
        freshClient: ClientID
    ) throws(PoolError) -> (shared: SharedID, client: ClientID) {
        if let id = byKey[key], let client = shared[id]?.client, reclaimed(id) { return (id, client) }
        try checkQuotas(key)
        let present = try sessionWithRoom(key.session)
        if credits != nil { try checkCredits(key, needsSession: present == nil) }
        let client: ClientID
        if let present {
            client = present
        } else {
            client = freshClient
            sessions[client] = Session(key: key.session)
            figures[key.session.upstream, default: .none].sessions += 1
        }
        let id = open(key, on: client)
        let used = figures(of: key.session.upstream)
        credits?.used(used, of: key.session.upstream)
        return (id, client)
    }

    /// The session that carries messages for this key: the oldest open session, else a new session with the id `freshClient`.
    /// The session stays open until `until` at least, also if its subscriptions are closed before.
    package mutating func messenger(
        _ key: SessionKey,
        freshClient: ClientID,
        until end: Moment
    ) throws(PoolError) -> ClientID {
        let isFull = figures(of: key.upstream).sessions >= limits[key.upstream]?.maxSessions ?? 0
        let open = sessions.elements.filter { $0.value.key == key }
        if let (client, session) = open.first(where: { !$0.value.isOutdated }) ?? (isFull ? open.first : nil) {
            sessions[client]?.keptUntil = max(session.keptUntil, end)
            if let closesAt = session.closesAt { sessions[client]?.closesAt = max(closesAt, end) }
            return client
        }
        guard let limit = limits[key.upstream] else { throw .unknownUpstream(key.upstream) }
        if isFull { throw .overQuota(.sessions(upstream: key.upstream, limit: limit.maxSessions)) }
        try checkCredits(UpstreamCredits(sessions: 1), of: key)
        sessions[freshClient] = Session(key: key, closesAt: end, keptUntil: end)
        figures[key.upstream, default: .none].sessions += 1
        let used = figures(of: key.upstream)
        credits?.used(used, of: key.upstream)
        return freshClient
    }

    /// Adds a session that another process has opened, with its subscriptions and one user for each of them. Quotas do
    /// not prevent it. Nil if a subscription with one of the keys is open.
    package mutating func adopted(_ client: ClientID, _ session: SessionKey, _ keys: [SharedKey]) -> [SharedID]? {
        guard keys.allSatisfy({ byKey[$0] == nil }) else { return nil }
        sessions[client] = Session(key: session)
        figures[session.upstream, default: .none].sessions += 1
        return keys.map { open($0, on: client) }
    }

    private mutating func open(_ key: SharedKey, on client: ClientID) -> SharedID {
        let id = SharedID(nextShared)
        nextShared += 1
        shared[id] = Shared(key: key, client: client)
        byKey[key] = id
        sessions[client]?.shared += 1
        sessions[client]?.closesAt = nil
        figures[key.session.upstream, default: .none].opened(key)
        return id
    }

    /// Removes a user of the subscription; with the last one the linger begins. No effect without users.
    package mutating func released(_ id: SharedID, at now: Moment) {
        guard var entry = shared[id], entry.users > 0 else { return }
        entry.users -= 1
        if entry.users == 0 { entry.closesAt = now + subscriptionLinger }
        shared[id] = entry
    }

    /// Ends the linger of a subscription, which is to be closed now. False if it has users, or was closed.
    package mutating func closedIfUnused(_ id: SharedID, at now: Moment) -> Bool {
        guard shared[id]?.users == 0 else { return false }
        sharedEnded(id, at: now)
        return true
    }

    /// Adds a user to a subscription by its id, which ends its linger. False if it was closed already.
    package mutating func reclaimed(_ id: SharedID) -> Bool {
        guard var entry = shared[id] else { return false }
        entry.users += 1
        entry.closesAt = nil
        shared[id] = entry
        return true
    }

    /// Changes the properties of an open subscription for its only user; false if it has other users, or if a subscription
    /// with the new properties is open.
    package mutating func rekeyed(_ id: SharedID, to properties: SubscriptionProperties) -> Bool {
        guard let entry = shared[id], entry.users == 1 else { return false }
        let key = SharedKey(session: entry.key.session, properties: properties)
        guard byKey[key] == nil else { return false }
        byKey[entry.key] = nil
        byKey[key] = id
        shared[id] = Shared(key: key, client: entry.client)
        figures[key.session.upstream]?.items += key.properties.countedItems - entry.key.properties.countedItems
        return true
    }

    /// The server refused or removed the subscription: it takes no further users.
    package mutating func sharedEnded(_ id: SharedID, at now: Moment) {
        guard let entry = shared[id] else { return }
        forget(id, entry)
        vacate(entry.client, at: now)
    }

    private mutating func forget(_ id: SharedID, _ entry: Shared) {
        shared[id] = nil
        if byKey[entry.key] == id { byKey[entry.key] = nil }
        figures[entry.key.session.upstream]?.closed(entry.key)
        credits?.closed(entry.key.properties.credits, of: entry.key.session.upstream)
    }

    private mutating func forgetSession(_ client: ClientID) {
        guard let session = sessions.removeValue(forKey: client) else { return }
        figures[session.key.upstream]?.sessions -= 1
        credits?.closed(UpstreamCredits(sessions: 1), of: session.key.upstream)
    }

    /// A session was closed by a caller: its subscriptions are gone.
    package mutating func clientRemoved(_ client: ClientID) {
        forgetSession(client)
        for (id, entry) in shared where entry.client == client { forget(id, entry) }
    }

    /// Removes an outdated session whose upstream is still configured; false for any other session. The credits of the session
    /// stay, for the subscriptions that continue on other sessions.
    package mutating func outdatedRemoved(_ client: ClientID) -> Bool {
        guard let session = sessions[client], session.isOutdated, limits[session.key.upstream] != nil else {
            return false
        }
        let present = credits
        clientRemoved(client)
        credits = present
        return true
    }

    /// Time has passed: closes what has lingered long enough, subscriptions before the sessions that carried them.
    package mutating func timePassed(at now: Moment) -> [PoolAction] {
        var actions: [PoolAction] = []
        var expired: [SharedID] = []
        for (id, entry) in shared {
            if let closesAt = entry.closesAt, closesAt <= now { expired.append(id) }
        }
        for id in expired.sorted(by: { $0.rawValue < $1.rawValue }) {
            actions.append(.closeShared(id))
            sharedEnded(id, at: now)
        }
        for (client, session) in sessions {
            guard let closesAt = session.closesAt, closesAt <= now else { continue }
            actions.append(.closeClient(client))
            forgetSession(client)
        }
        return actions
    }

    package func session(of client: ClientID) -> SessionKey? { sessions[client]?.key }

    /// The open sessions, subscriptions and items of one upstream.
    package func figures(of upstream: String) -> UpstreamCredits { figures[upstream] ?? .none }

    private func checkQuotas(_ key: SharedKey) throws(PoolError) {
        let upstream = key.session.upstream
        guard let limit = limits[upstream] else { throw .unknownUpstream(upstream) }
        let figures = figures(of: upstream)
        if figures.subscriptions >= limit.maxSubscriptions {
            throw .overQuota(.subscriptions(upstream: upstream, limit: limit.maxSubscriptions))
        }
        if figures.items + key.properties.countedItems > limit.maxItems {
            throw .overQuota(.items(upstream: upstream, limit: limit.maxItems))
        }
    }

    private func sessionWithRoom(_ key: SessionKey) throws(PoolError) -> ClientID? {
        guard let limit = limits[key.upstream] else { throw .unknownUpstream(key.upstream) }
        if let open = firstSession(of: key, below: limit.maxSubscriptionsPerSession) { return open }
        let isFull = figures(of: key.upstream).sessions >= limit.maxSessions
        guard isFull || credits?.sharesSessions(of: key.upstream) ?? false else { return nil }
        // Without a session of its own, the group shares one with another group.
        if let open = firstSession(of: key, ofAnyGroup: true, below: limit.maxSubscriptionsPerSession) { return open }
        guard isFull else { return nil }
        throw .overQuota(.sessions(upstream: key.upstream, limit: limit.maxSessions))
    }

    /// The first session below its limit of a key, or of any group of the same account: then also one that is outdated, if
    /// there is no other.
    private func firstSession(of key: SessionKey, ofAnyGroup: Bool = false, below limit: Int) -> ClientID? {
        var outdated: ClientID?
        for (client, session) in sessions where session.shared < limit {
            guard ofAnyGroup ? session.key.hasSameAccount(as: key) : session.key == key else { continue }
            if !session.isOutdated { return client }
            if ofAnyGroup { outdated = outdated ?? client }
        }
        return outdated
    }

    /// Throws `creditsNeeded` if credits are missing for a subscription of this key, and the other errors of `acquired`.
    package func check(_ key: SharedKey) throws(PoolError) {
        guard credits != nil, byKey[key] == nil else { return }
        try checkQuotas(key)
        try checkCredits(key, needsSession: try sessionWithRoom(key.session) == nil)
    }

    private func checkCredits(_ key: SharedKey, needsSession: Bool) throws(PoolError) {
        var needed = key.properties.credits
        needed.sessions = needsSession ? 1 : 0
        try checkCredits(needed, of: key.session)
    }

    private func checkCredits(_ needed: UpstreamCredits, of session: SessionKey) throws(PoolError) {
        let upstream = session.upstream
        guard let credits, let limit = limits[upstream] else { return }
        let held = credits.held(of: upstream)
        let missing = figures(of: upstream) + needed - held
        guard !missing.isNone else { return }
        let shared = firstSession(of: session, ofAnyGroup: true, below: limit.maxSubscriptionsPerSession)
        throw .creditsNeeded(
            CreditShortage(
                upstream: upstream,
                missing: missing,
                held: held,
                isOptional: missing.sessions > 0 && shared != nil
            )
        )
    }

    // MARK: - Credits

    /// The pool opens no more than it has credits for from now on.
    package mutating func requireCredits() { if credits == nil { credits = PoolCredits() } }

    /// Changes the credits of an upstream; `change` gets what is in use.
    package mutating func changeCredits<Result: Sendable>(
        of upstream: String,
        _ change: (inout PoolCredits, _ used: UpstreamCredits) -> Result
    ) -> Result? {
        guard var credits else { return nil }
        let result = change(&credits, figures(of: upstream))
        self.credits = credits
        return result
    }

    private mutating func vacate(_ client: ClientID, at now: Moment) {
        guard var session = sessions[client] else { return }
        session.shared -= 1
        if session.shared == 0 { session.closesAt = max(now + sessionLinger, session.keptUntil) }
        sessions[client] = session
    }
}

/// An order of the pool's machine to its driver.
package enum PoolAction: Equatable, Sendable {
    /// Unsubscribe and release the subscription.
    case closeShared(SharedID)
    case closeClient(ClientID)
}

extension UpstreamCredits {
    /// Counts a subscription that is opened.
    fileprivate mutating func opened(_ key: SharedKey) {
        subscriptions += 1
        items += key.properties.countedItems
    }

    fileprivate mutating func closed(_ key: SharedKey) {
        subscriptions -= 1
        items -= key.properties.countedItems
    }
}

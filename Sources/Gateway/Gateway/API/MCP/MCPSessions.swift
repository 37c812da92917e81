internal import JSONText
internal import Primitives

/// A session of the Model Context Protocol. It has nothing but the subscriptions to resources, so that all other requests
/// are the same with and without a session, on every gateway.
final class MCPSession: Sendable {
    /// The most resources that a session subscribes to.
    static let mostResources = 20
    /// The most bytes of their URIs together.
    static let mostBytes = 16_384

    private struct State {
        /// The subscribed resources with the tags of the values that the client knows; nil: no values yet.
        var cursors: [(uri: String, cursor: String?)] = []
        var notifiedAt: Moment?
        /// Ends the present `GET`, which the client then repeats.
        var wake: (@Sendable () -> Void)?

        /// The bytes of the URIs.
        var size: Int { cursors.reduce(0) { $0 + $1.uri.utf8.count } }

        /// The place of a resource. The bytes of a URI name an item by the bytes of the item's name.
        func index(of uri: String) -> Int? { cursors.firstIndex { $0.uri.hasSameBytes(as: uri) } }
    }

    /// The identity of the caller that has made the session.
    let owner: String?
    private let state = RankedMutex(State())

    init(owner: String?) { self.owner = owner }

    /// The subscribed resources with the tags of the values that the client knows.
    var cursors: [(uri: String, cursor: String?)] { state.withLock { $0.cursors } }

    /// Subscribes to a resource; false if there are too many, or their URIs are too long.
    func subscribe(_ uri: String, cursor: String?) -> Bool {
        let (isAdded, wake) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
            if let index = state.index(of: uri) {
                state.cursors[index].cursor = cursor
            } else {
                guard state.cursors.count < Self.mostResources, state.size + uri.utf8.count <= Self.mostBytes
                else { return (false, nil) }
                state.cursors.append((uri, cursor))
            }
            return (true, state.wake.take())
        }
        wake?()
        return isAdded
    }

    /// Ends the subscription to a resource.
    func unsubscribe(_ uri: String) {
        state.withLock { state in
            if let index = state.index(of: uri) { state.cursors.remove(at: index) }
            return state.wake.take()
        }?()
    }

    /// A resource has other values; false if the session does not subscribe to it any more.
    func changed(_ uri: String, cursor: String) -> Bool {
        state.withLock { state in
            guard let index = state.index(of: uri) else { return false }
            state.cursors[index].cursor = cursor
            return true
        }
    }

    /// A `GET` waits for changes; an earlier one ends.
    func waits(_ wake: @escaping @Sendable () -> Void) {
        state.withLock { state in
            defer { state.wake = wake }
            return state.wake
        }?()
    }

    func end() { state.withLock { $0.wake.take() }?() }

    /// The time until the next notification, which is sent a second after the last one at the earliest.
    func pause(at now: Moment) -> Duration {
        state.withLock { $0.notifiedAt.map { max(.zero, .seconds(1) - (now - $0)) } ?? .zero }
    }

    func notified(at now: Moment) { state.withLock { $0.notifiedAt = now } }
}

/// The sessions of this gateway. A further session of a caller makes room by the end of its session that was used least
/// recently. Without room for any, it ends one of the caller with the most, if these are more than the caller then has: ten
/// callers could keep all others away. Callers are distinguished by their credentials, or else by their network.
final class MCPSessions: Sendable {
    /// The most sessions of callers with credentials, and of those without: neither take the room of the others.
    private static let capacity = 1_000
    /// The most sessions of one caller.
    private static let share = 100
    /// How long a session is kept unused if there is no room for another one.
    private static let idleLifetime = Duration.seconds(600)

    private struct Entry {
        let session: MCPSession
        /// The caller by which the session counts.
        let name: String
        var usedAt: Moment
    }

    private let entries = RankedMutex<[String: Entry]>([:])
    /// The ids of sessions that have ended: the last ones, as many as there is room for, and those before them.
    private let ended = RankedMutex<(last: Set<String>, former: Set<String>)>(([], []))

    /// A new session of a caller at a host; returns its id. Throws a 503 problem if there is no room.
    func make(for caller: Caller, from host: String, at now: Moment) throws(Problem) -> String {
        let id = "m" + Base64URL.encode(APIKey.randomBytes())
        let name = caller.identity ?? IPNetwork.subscriber(of: host)
        // Behind a local proxy, requests without credentials come from different callers.
        let isShared = caller.identity == nil && ListeningAddress.isLoopback(host)
        let share = isShared ? Self.capacity : Self.share
        let removed = try entries.withLock { entries throws(Problem) -> [(String, Entry)] in
            let isNamed = caller.identity != nil
            let kind = entries.filter { ($0.value.session.owner != nil) == isNamed }
            let own = kind.filter { $0.value.name == name }
            var leaving: [String] = []
            if own.count >= share {
                leaving = Self.leastRecent(own)
            } else if kind.count >= Self.capacity {
                leaving = kind.filter { now - $0.value.usedAt >= Self.idleLifetime }.map(\.key)
                if leaving.isEmpty {
                    let most = Dictionary(grouping: kind) { $0.value.name }.values.max { $0.count < $1.count } ?? []
                    if most.count > own.count + 1 { leaving = Self.leastRecent(most) }
                }
                guard !leaving.isEmpty else {
                    throw Problem(.gatewayFull, detail: "The maximum of \(Self.capacity) sessions is reached.")
                }
            }
            let removed = leaving.compactMap { id in entries.removeValue(forKey: id).map { (id, $0) } }
            entries[id] = Entry(session: MCPSession(owner: caller.identity), name: name, usedAt: now)
            return removed
        }
        for (id, entry) in removed { end(entry, id) }
        return id
    }

    /// The id of the session that was used least recently.
    private static func leastRecent(_ sessions: some Sequence<(key: String, value: Entry)>) -> [String] {
        sessions.min { $0.value.usedAt < $1.value.usedAt }.map { [$0.key] } ?? []
    }

    /// The session of an id, if the caller has made it.
    func session(_ id: String, of caller: Caller, at now: Moment) -> MCPSession? {
        entries.withLock { entries in
            guard let session = entries[id]?.session, session.owner.hasSameBytes(as: caller.identity) else {
                return nil
            }
            entries[id]?.usedAt = now
            return session
        }
    }

    func remove(_ id: String) {
        if let entry = entries.withLock({ $0.removeValue(forKey: id) }) { end(entry, id) }
    }

    private func end(_ entry: Entry, _ id: String) {
        ended.withLock { ended in
            if ended.last.count == Self.capacity { ended = ([], ended.last) }
            ended.last.insert(id)
        }
        entry.session.end()
    }

    /// Whether a session of this gateway has ended, if that was not long ago.
    func hasEnded(_ id: String) -> Bool { ended.withLock { $0.last.contains(id) || $0.former.contains(id) } }

    /// Whether an id may be one of a session, of this gateway or of another one.
    static func isID(_ id: String) -> Bool { id.hasPrefix("m") && id.isLettersDigits(and: "-_", length: 44...44) }
}

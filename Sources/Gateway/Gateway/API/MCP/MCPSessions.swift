internal import Primitives

/// A session of the Model Context Protocol. It has nothing but the subscriptions to resources, so that all other requests
/// are the same with and without a session, on every gateway.
final class MCPSession: Sendable {
    /// The most resources that a session subscribes to.
    static let mostResources = 20

    private struct State {
        /// The tags of the values that the client knows, by URI; nil: no values yet.
        var cursors: [String: String?] = [:]
        var notifiedAt: Moment?
        /// Ends the present `GET`, which the client then repeats.
        var wake: (@Sendable () -> Void)?
    }

    /// The identity of the caller that has made the session.
    let owner: String?
    private let state = RankedMutex(State())

    init(owner: String?) { self.owner = owner }

    /// The subscribed resources with the tags of the values that the client knows.
    var cursors: [String: String?] { state.withLock { $0.cursors } }

    /// Subscribes to a resource; false if there are too many.
    func subscribe(_ uri: String, cursor: String?) -> Bool {
        let (isAdded, wake) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
            guard state.cursors[uri] != nil || state.cursors.count < Self.mostResources else { return (false, nil) }
            state.cursors[uri] = .some(cursor)
            return (true, state.wake.take())
        }
        wake?()
        return isAdded
    }

    /// Ends the subscription to a resource.
    func unsubscribe(_ uri: String) {
        state.withLock { state in
            _ = state.cursors.removeValue(forKey: uri)
            return state.wake.take()
        }?()
    }

    /// A resource has other values; false if the session does not subscribe to it any more.
    func changed(_ uri: String, cursor: String) -> Bool {
        state.withLock { state in
            guard state.cursors[uri] != nil else { return false }
            state.cursors[uri] = .some(cursor)
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

    /// The session has ended.
    func end() { state.withLock { $0.wake.take() }?() }

    /// The time until the next notification, which is sent a second after the last one at the earliest.
    func pause(at now: Moment) -> Duration {
        state.withLock { $0.notifiedAt.map { max(.zero, .seconds(1) - (now - $0)) } ?? .zero }
    }

    /// A notification is sent.
    func notified(at now: Moment) { state.withLock { $0.notifiedAt = now } }
}

/// The sessions of this gateway. The one that was used least recently makes room for another one.
final class MCPSessions: Sendable {
    /// The most sessions.
    private static let capacity = 1_000
    /// The most sessions of one caller.
    private static let share = 100

    private struct Entry {
        let session: MCPSession
        var usedAt: Moment
    }

    private let entries = RankedMutex<[String: Entry]>([:])

    /// A new session of a caller; returns its id.
    func make(for caller: Caller, at now: Moment) -> String {
        let id = "m" + Base64URL.encode(APIKey.randomBytes())
        let entry = Entry(session: MCPSession(owner: caller.identity), usedAt: now)
        let removed = entries.withLock { entries -> Entry? in
            defer { entries[id] = entry }
            let own = caller.identity == nil ? [:] : entries.filter { $0.value.session.owner == caller.identity }
            let crowded = own.count >= Self.share ? own : entries.count >= Self.capacity ? entries : [:]
            return crowded.min { $0.value.usedAt < $1.value.usedAt }.flatMap { entries.removeValue(forKey: $0.key) }
        }
        removed?.session.end()
        return id
    }

    /// The session of an id, if the caller has made it.
    func session(_ id: String, of caller: Caller, at now: Moment) -> MCPSession? {
        entries.withLock { entries in
            guard let session = entries[id]?.session, session.owner == caller.identity else { return nil }
            entries[id]?.usedAt = now
            return session
        }
    }

    /// Removes a session.
    func remove(_ id: String) { entries.withLock { $0.removeValue(forKey: id) }?.session.end() }

    /// Whether an id may be one of a session, of this gateway or of another one.
    static func isID(_ id: String) -> Bool {
        id.utf8.count == 44 && id.utf8.first == UInt8(ascii: "m")
            && id.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            }
    }
}

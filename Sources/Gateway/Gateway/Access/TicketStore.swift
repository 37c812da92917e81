internal import SessionCore
internal import Synchronization

/// Single-use tickets, each of which opens one stream within a short time. Only hashes are stored.
final class TicketStore: Sendable {
    /// An issued ticket.
    struct Ticket: Sendable {
        /// The text that the holder presents, once.
        let text: String
        /// How long it is valid.
        let lifetime: Duration
    }

    struct Entry {
        let caller: Caller
        let expiresAt: Moment
    }

    struct State {
        var entries: [[UInt8]: Entry] = [:]
        /// The hashes in the order of issue, which is also the order of expiry.
        var order: [[UInt8]] = []
        var counts: [String: Int] = [:]
    }

    static let prefix = "lst_"

    private let maxTickets: Int
    private let maxTicketsPerCaller: Int
    let state = Mutex(State())

    /// An empty store.
    init(maxTickets: Int = 100_000, maxTicketsPerCaller: Int = 1_000) {
        self.maxTickets = maxTickets
        self.maxTicketsPerCaller = maxTicketsPerCaller
    }

    /// Issues a ticket to a caller; nil if the caller, or the store, has too many unused tickets.
    func issue(to caller: Caller, lifetime: Duration, now: Moment) -> Ticket? {
        let text = Self.prefix + Base64URL.encode(APIKey.randomBytes())
        let hash = KeyHash.digest(of: text)
        let name = caller.identity ?? ""
        return state.withLock { state in
            Self.dropExpired(&state, now: now)
            let limit = caller.identity == nil ? maxTickets : maxTicketsPerCaller
            guard state.entries.count < maxTickets, state.counts[name, default: 0] < limit else { return nil }
            state.entries[hash] = Entry(caller: caller, expiresAt: now + lifetime)
            state.order.append(hash)
            state.counts[name, default: 0] += 1
            return Ticket(text: text, lifetime: lifetime)
        }
    }

    /// Uses a ticket and returns the caller that it was issued to; nil if the ticket is unknown, used or expired.
    func redeem(_ text: String, now: Moment) -> Caller? {
        let hash = KeyHash.digest(of: text)
        return state.withLock { state in
            Self.dropExpired(&state, now: now)
            guard let entry = Self.take(hash, from: &state), entry.expiresAt > now else { return nil }
            return entry.caller
        }
    }

    /// The caller that a ticket was issued to, without using it; nil if the ticket is unknown, used or expired.
    func holder(of text: String, now: Moment) -> Caller? {
        let hash = KeyHash.digest(of: text)
        return state.withLock { state in
            state.entries[hash].flatMap { $0.expiresAt > now ? $0.caller : nil }
        }
    }

    /// Invalidates the tickets of some callers.
    func revoke(where isRevoked: (Caller) -> Bool) {
        state.withLock { state in
            for (hash, entry) in state.entries where isRevoked(entry.caller) { _ = Self.take(hash, from: &state) }
        }
    }

    private static func take(_ hash: [UInt8], from state: inout State) -> Entry? {
        guard let entry = state.entries.removeValue(forKey: hash) else { return nil }
        let name = entry.caller.identity ?? ""
        let left = state.counts[name, default: 1] - 1
        state.counts[name] = left > 0 ? left : nil
        return entry
    }

    /// Removes expired tickets from the front. Used tickets behind valid ones are removed when they are the majority.
    private static func dropExpired(_ state: inout State, now: Moment) {
        var dropped = 0
        for hash in state.order {
            if let entry = state.entries[hash] {
                if entry.expiresAt > now { break }
                _ = take(hash, from: &state)
            }
            dropped += 1
        }
        if dropped > 0 { state.order.removeFirst(dropped) }
        if state.order.count > 64 + 2 * state.entries.count {
            state.order = state.order.filter { state.entries[$0] != nil }
        }
    }
}

internal import SessionCore
internal import Synchronization

/// Single-use tickets: each lets its holder open one stream, within seconds. Only their hashes are kept.
final class TicketStore: Sendable {
    /// A ticket that was given out.
    struct Ticket: Sendable {
        /// What the holder shows, once.
        let text: String
        /// How long it is good for.
        let lifetime: Duration
    }

    private struct Entry {
        let caller: Caller
        let expiresAt: Moment
    }

    private struct State {
        var entries: [[UInt8]: Entry] = [:]
        /// The hashes in the order of their making, which is that of their expiry as well.
        var order: [[UInt8]] = []
        var counts: [String: Int] = [:]
    }

    static let prefix = "lst_"

    private let maxTickets: Int
    private let maxTicketsPerCaller: Int
    private let state = Mutex(State())

    /// An office that has given out nothing.
    init(maxTickets: Int = 100_000, maxTicketsPerCaller: Int = 1_000) {
        self.maxTickets = maxTickets
        self.maxTicketsPerCaller = maxTicketsPerCaller
    }

    /// Makes a ticket for a caller; nil if too many wait to be used.
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

    /// The caller that a ticket was made for. It is used up by this, whatever comes of it; nil if it was used up
    /// before, has expired or never was.
    func redeem(_ text: String, now: Moment) -> Caller? {
        let hash = KeyHash.digest(of: text)
        return state.withLock { state in
            Self.dropExpired(&state, now: now)
            guard let entry = Self.take(hash, from: &state), entry.expiresAt > now else { return nil }
            return entry.caller
        }
    }

    /// How many hashes are held, those of used tickets included.
    var held: Int { state.withLock { $0.order.count } }

    /// How many tickets wait to be used.
    var count: Int { state.withLock { $0.entries.count } }

    private static func take(_ hash: [UInt8], from state: inout State) -> Entry? {
        guard let entry = state.entries.removeValue(forKey: hash) else { return nil }
        let name = entry.caller.identity ?? ""
        let left = state.counts[name, default: 1] - 1
        state.counts[name] = left > 0 ? left : nil
        return entry
    }

    /// Drops what is over from the front. Used ones between others that wait are dropped once they are the most.
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

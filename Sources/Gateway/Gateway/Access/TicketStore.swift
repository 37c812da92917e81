internal import Primitives

/// Tickets, each of which opens one stream within a short time, and reopens that stream until some time after it has
/// closed. Only hashes are stored.
final class TicketStore: Sendable {
    struct Entry {
        let caller: Caller
        let expiresAt: Moment
    }

    struct OpenedStream {
        let caller: Caller
        let target: StreamTarget
        /// The id of the stream; nil: the ticket has opened none yet.
        let stream: String?
        /// When the stream has closed, or was refused.
        var closedAt: Moment?

        func canReopen(_ target: StreamTarget, at now: Moment) -> Bool {
            target == self.target && (target.isResumed || stream == nil)
                && closedAt.map { now < $0 + IssuedTicket.reopeningTime } ?? true
        }
    }

    struct State {
        var entries: [[UInt8]: Entry] = [:]
        /// The hashes in the order of expiry, which is the order of issue unless a reload has changed the lifetime.
        var order: [(hash: [UInt8], expiresAt: Moment)] = []
        var counts: [String: Int] = [:]
        var streams: [[UInt8]: OpenedStream] = [:]
        /// The hashes of tickets whose streams have closed, with the times, oldest first. A ticket that was used again
        /// meanwhile has another time.
        fileprivate var closed: [(hash: [UInt8], at: Moment)] = []
    }

    private let maxTickets: Int
    private let maxTicketsPerCaller: Int
    let state = RankedMutex(State())

    init(maxTickets: Int = 100_000, maxTicketsPerCaller: Int = 1_000) {
        self.maxTickets = maxTickets
        self.maxTicketsPerCaller = maxTicketsPerCaller
    }

    /// Issues a ticket to a caller; nil if the caller, or the store, has too many unused tickets.
    func issue(to caller: Caller, lifetime: Duration, now: Moment) -> IssuedTicket? {
        let text = IssuedTicket.prefix + Base64URL.encode(APIKey.randomBytes())
        let hash = KeyHash.digest(of: text)
        let name = caller.identity ?? ""
        return state.withLock { state in
            Self.dropExpired(&state, now: now)
            let limit = caller.identity == nil ? maxTickets : maxTicketsPerCaller
            guard state.entries.count < maxTickets, state.counts[name, default: 0] < limit else { return nil }
            let expiresAt = now + lifetime
            state.entries[hash] = Entry(caller: caller, expiresAt: expiresAt)
            let last = state.order.lastIndex { $0.expiresAt <= expiresAt }
            state.order.insert((hash, expiresAt), at: last.map { $0 + 1 } ?? 0)
            state.counts[name, default: 0] += 1
            return IssuedTicket(text: text, lifetime: lifetime)
        }
    }

    /// Uses a ticket for a stream. Nil if the ticket is unknown or expired, or was used for another stream, or if its
    /// stream has closed too long ago.
    func redeem(_ text: String, for target: StreamTarget, now: Moment) -> TicketRedemption? {
        let hash = KeyHash.digest(of: text)
        return state.withLock { state in
            Self.dropExpired(&state, now: now)
            if let entry = Self.take(hash, from: &state), entry.expiresAt > now {
                return TicketRedemption(hash: hash, target: target, caller: entry.caller)
            }
            guard let opened = state.streams[hash], opened.canReopen(target, at: now) else { return nil }
            var redemption = TicketRedemption(hash: hash, target: target, caller: opened.caller)
            redemption.replaced = opened.stream
            redemption.isReopening = opened.stream != nil
            // As the first use.
            if opened.stream == nil { state.streams[hash] = nil }
            return redemption
        }
    }

    /// The caller whose ticket `redeem` would accept, without using it; nil if `redeem` would refuse it.
    func holder(of text: String, for target: StreamTarget, now: Moment) -> Caller? {
        let hash = KeyHash.digest(of: text)
        return state.withLock { state in
            if let entry = state.entries[hash] { return entry.expiresAt > now ? entry.caller : nil }
            return state.streams[hash].flatMap { $0.canReopen(target, at: now) ? $0.caller : nil }
        }
    }

    /// A used ticket has opened a stream. Returns the stream that the ticket had, also that of a request which was admitted
    /// together with this one; nil: none.
    func opened(_ redemption: TicketRedemption, stream: String) -> String? {
        let opened = OpenedStream(caller: redemption.caller, target: redemption.target, stream: stream)
        return state.withLock { $0.streams.updateValue(opened, forKey: redemption.hash) }?.stream
    }

    /// A use of a ticket has opened no stream: within the time after the end of a stream, the ticket opens the same one.
    func giveBack(_ redemption: TicketRedemption, now: Moment) {
        state.withLock { state in
            if !redemption.isReopening {
                state.streams[redemption.hash] = OpenedStream(
                    caller: redemption.caller,
                    target: redemption.target,
                    stream: nil
                )
            } else if state.streams[redemption.hash]?.closedAt == nil {
                // Its stream is still open.
                return
            }
            close(redemption.hash, &state, now: now)
        }
    }

    /// The stream of a ticket has closed. No effect if the ticket has opened another one since.
    func closed(_ redemption: TicketRedemption, stream: String, now: Moment) {
        state.withLock { state in
            guard state.streams[redemption.hash]?.stream == stream else { return }
            close(redemption.hash, &state, now: now)
        }
    }

    private func close(_ hash: [UInt8], _ state: inout State, now: Moment) {
        state.streams[hash]?.closedAt = now
        state.closed.append((hash, now))
        Self.dropClosed(&state, now: now, most: maxTickets)
    }

    func revoke(where isRevoked: (Caller) -> Bool) {
        state.withLock { state in
            for (hash, entry) in state.entries where isRevoked(entry.caller) { _ = Self.take(hash, from: &state) }
            state.streams = state.streams.filter { !isRevoked($0.value.caller) }
        }
    }

    /// Forgets streams that cannot be reopened any more, and the oldest of too many closed ones.
    private static func dropClosed(_ state: inout State, now: Moment, most: Int) {
        // The majority is of tickets that were used again since, by one client perhaps: others must not lose theirs for it.
        if state.closed.count > 64 + 2 * state.streams.count {
            state.closed = state.closed.filter { state.streams[$0.hash]?.closedAt == $0.at }
        }
        var dropped = 0
        for (hash, time) in state.closed {
            guard time + IssuedTicket.reopeningTime <= now || state.closed.count - dropped > most else { break }
            if state.streams[hash]?.closedAt == time { state.streams[hash] = nil }
            dropped += 1
        }
        if dropped > 0 { state.closed.removeFirst(dropped) }
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
        for (hash, expiresAt) in state.order {
            if state.entries[hash] != nil {
                if expiresAt > now { break }
                _ = take(hash, from: &state)
            }
            dropped += 1
        }
        if dropped > 0 { state.order.removeFirst(dropped) }
        if state.order.count > 64 + 2 * state.entries.count {
            state.order = state.order.filter { state.entries[$0.hash] != nil }
        }
    }
}

/// The stream that a request asks for: a ticket reopens the stream that it has opened, and no other stream.
package struct StreamTarget: Sendable, Equatable {
    /// A digest of path and query, without the ticket and the id of the last event.
    package let digest: [UInt8]
    /// Whether the request names the last event that its client has read.
    package let isResumed: Bool
    /// Whether the request asks for the head of the stream only: it leaves the ticket valid.
    package var isHead = false

    package static func == (left: StreamTarget, right: StreamTarget) -> Bool { left.digest == right.digest }
}

extension StreamTarget {
    /// The target of a request whose ticket was removed from the query.
    init(_ call: Call) {
        // With their lengths, so that no two queries have the same text.
        let pairs = call.query.pairs.filter { $0.name != "lastEventId" }.map {
            "\($0.name.utf8.count),\($0.value.utf8.count):\($0.name)\($0.value)"
        }
        digest = KeyHash.digest(of: ([call.request.rawPath] + pairs).joined(separator: "\n"))
        let ids = [call.header("Last-Event-ID"), call.query.values("lastEventId").first]
        isResumed = ids.contains { !($0 ?? "").isEmpty }
        isHead = call.isHead
    }
}

extension Call {
    /// Whether the ticket of the request has opened the stream before.
    package var reopensStream: Bool { redemption?.isReopening == true }
}

package struct TicketRedemption: Sendable {
    /// The hash of the ticket, or another name of it.
    package let hash: [UInt8]
    /// The stream that the request asks for.
    package let target: StreamTarget
    /// The caller that the ticket was issued to.
    let caller: Caller
    /// A random number that tells this use of the ticket from any other.
    package let use = UInt64.random(in: .min ... .max)
    /// The stream of this process that the ticket has opened before; nil: none.
    var replaced: String?
    /// Whether the ticket has opened its stream before, in any process.
    package var isReopening = false

    /// The first use of a ticket.
    package init(hash: [UInt8], target: StreamTarget, caller: Caller) {
        self.hash = hash
        self.target = target
        self.caller = caller
    }
}

extension TicketStore: Tickets {
    func issue(to caller: Caller, _ policy: AccessPolicy, at now: TicketTime) -> IssuedTicket? {
        issue(to: caller, lifetime: policy.configuration.ticketLifetime, now: now.moment)
    }

    func present(_ text: String, for target: StreamTarget, _: AccessPolicy, at now: TicketTime) -> TicketHolder? {
        if target.isHead {
            return holder(of: text, for: target, now: now.moment).map { TicketHolder(caller: $0, use: .left) }
        }
        return redeem(text, for: target, now: now.moment).map { TicketHolder(caller: $0.caller, use: .redeemed($0)) }
    }

    func giveBack(_ redemption: TicketRedemption, at now: TicketTime) { giveBack(redemption, now: now.moment) }

    func closed(_ redemption: TicketRedemption, stream: String, at now: TicketTime) {
        closed(redemption, stream: stream, now: now.moment)
    }
}

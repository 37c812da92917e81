internal import Synchronization

/// Counts the connections of all shards, in all and by address, and the bytes of request bodies, against their limits.
final class ConnectionLedger: Sendable {
    private struct Counts {
        var limit: Int
        var open = 0
        var byAddress: [String: Int] = [:]
        var accepted: UInt64 = 0
        var refused: UInt64 = 0
    }

    private let limitPerAddress: Int
    private let group: @Sendable (String) -> String?
    private let counts: Mutex<Counts>
    private let bodyBudget: Int
    private let bodyBytes = Atomic(0)

    /// - Parameters:
    ///   - limit: Connections at a time.
    ///   - limitPerAddress: Connections at a time from one address; 0 for no limit.
    ///   - group: The group that an address counts in; nil: it is not limited.
    ///   - bodyBudget: Bytes of all request bodies at a time.
    init(
        limit: Int,
        limitPerAddress: Int,
        group: @escaping @Sendable (String) -> String?,
        bodyBudget: Int
    ) {
        self.limitPerAddress = limitPerAddress
        self.group = group
        self.bodyBudget = bodyBudget
        counts = Mutex(Counts(limit: limit))
    }

    /// Lowers the limit to what the system can bear.
    func lower(to limit: Int) {
        counts.withLock { $0.limit = min($0.limit, limit) }
    }

    /// Whether one more connection from there is allowed; a no is counted.
    func admits(_ peer: PeerAddress) -> Bool {
        let group = limitedGroup(of: peer)
        return counts.withLock { counts in
            let isAllowed =
                counts.open < counts.limit
                && (group.map { counts.byAddress[$0, default: 0] < limitPerAddress } ?? true)
            if !isAllowed { counts.refused += 1 }
            return isAllowed
        }
    }

    /// Counts a new connection, and numbers it.
    func opened(_ peer: PeerAddress) -> UInt64 {
        let group = limitedGroup(of: peer)
        return counts.withLock { counts in
            counts.open += 1
            counts.accepted += 1
            if let group { counts.byAddress[group, default: 0] += 1 }
            return counts.accepted
        }
    }

    /// Takes a connection out of the counts.
    func closed(_ peer: PeerAddress) {
        let group = limitedGroup(of: peer)
        counts.withLock { counts in
            counts.open -= 1
            guard let group, let count = counts.byAddress[group] else { return }
            counts.byAddress[group] = count > 1 ? count - 1 : nil
        }
    }

    private func limitedGroup(of peer: PeerAddress) -> String? { limitPerAddress > 0 ? group(peer.host) : nil }

    /// Reserves memory for a part of a body; false if the budget is used up.
    func reserveBody(_ count: Int) -> Bool {
        let total = bodyBytes.wrappingAdd(count, ordering: .relaxed).newValue
        if total <= bodyBudget { return true }
        bodyBytes.wrappingSubtract(count, ordering: .relaxed)
        return false
    }

    /// Returns memory that was reserved for bodies.
    func releaseBody(_ count: Int) {
        if count > 0 { bodyBytes.wrappingSubtract(count, ordering: .relaxed) }
    }

    /// The counts, written into the figures.
    func report(in figures: inout DaemonFigures) {
        counts.withLock { counts in
            figures.connections = counts.open
            figures.acceptedConnections = counts.accepted
            figures.refusedConnections = counts.refused
        }
    }
}

/// What is remembered of a connection for as long as the library has it. Confined to its loop's thread.
final class ConnectionRecord {
    /// Unique in the process.
    let id: UInt64
    /// Who is at the other end.
    let peer: PeerAddress
    /// The library's descriptor of it.
    let descriptor: Int32
    /// The connection became a stream, which goes on, and is counted, without the library.
    var isTakenOver = false
    /// The place in the loop's table of connections.
    let slot: Int

    init(id: UInt64, peer: PeerAddress, descriptor: Int32, slot: Int) {
        self.id = id
        self.peer = peer
        self.descriptor = descriptor
        self.slot = slot
    }
}

internal import StreamIO
internal import Synchronization

/// Counts the connections of all shards, in all and by address, and the bytes of request bodies, against their limits.
final class ConnectionLedger: Sendable {
    private struct Counts {
        var limit: Int
        var open = 0
        var byAddress: [String: Int] = [:]
        /// Connections beyond the limit, in all and by address.
        var reserved = 0
        var reservedByAddress: [String: Int] = [:]
        var accepted: UInt64 = 0
        var refused: UInt64 = 0
    }

    /// The part of the reserve that one address can take.
    private static let reserveShare = 4
    /// The least time between two reports that the system refuses connections.
    private static let reportInterval = Duration.seconds(60)

    private let limitPerAddress: Int
    private let reserve: Int
    private let group: @Sendable (String) -> String?
    private let counts: Mutex<Counts>
    private let bodyBudget: Int
    private let bodyBytes = Atomic(0)
    private let lastReport = Mutex<Moment?>(nil)

    /// - Parameters:
    ///   - limit: Connections at a time.
    ///   - reserve: Connections beyond that limit, for operational requests.
    ///   - limitPerAddress: Connections at a time from one address; 0 for no limit.
    ///   - group: The group that an address counts in; nil: it is not limited.
    ///   - bodyBudget: Bytes of all request bodies at a time.
    init(
        limit: Int,
        reserve: Int,
        limitPerAddress: Int,
        group: @escaping @Sendable (String) -> String?,
        bodyBudget: Int
    ) {
        self.reserve = reserve
        self.limitPerAddress = limitPerAddress
        self.group = group
        self.bodyBudget = bodyBudget
        counts = Mutex(Counts(limit: limit))
    }

    /// Lowers the limit to that of the system.
    func lower(to limit: Int) {
        counts.withLock { $0.limit = min($0.limit, limit) }
    }

    /// A place for one more connection, counted from now on; nil, and counted as refused, if a limit is reached.
    ///
    /// - Parameter beyondLimit: True if only a place of the reserve may be given, as if the limit were reached.
    func admit(_ peer: PeerAddress, beyondLimit: Bool = false) -> ConnectionPlace? {
        let group = limitedGroup(of: peer)
        return counts.withLock { counts in
            if let group, counts.byAddress[group, default: 0] >= limitPerAddress {
                counts.refused += 1
                return nil
            }
            // Connections of the reserve count as well: two loops may admit connections out of their order of arrival.
            let isReserved = beyondLimit || counts.open + counts.reserved >= counts.limit
            if isReserved {
                let share = group == nil ? reserve : max(1, reserve / Self.reserveShare)
                guard counts.reserved < reserve, counts.reservedByAddress[peer.host, default: 0] < share else {
                    counts.refused += 1
                    return nil
                }
                counts.reserved += 1
                counts.reservedByAddress[peer.host, default: 0] += 1
            } else {
                counts.open += 1
            }
            if let group { counts.byAddress[group, default: 0] += 1 }
            counts.accepted += 1
            return ConnectionPlace(peer: peer, isReserved: isReserved)
        }
    }

    /// Removes a connection from the counts.
    func release(_ place: ConnectionPlace) {
        let group = limitedGroup(of: place.peer)
        counts.withLock { counts in
            if place.isReserved {
                counts.reserved -= 1
                counts.reservedByAddress.decrement(place.peer.host)
            } else {
                counts.open -= 1
            }
            if let group { counts.byAddress.decrement(group) }
        }
    }

    /// Whether to report now that the system refuses connections: true at most once in each `reportInterval`.
    func mayReportRefusal(at now: Moment) -> Bool {
        lastReport.withLock { last in
            if let last, now - last < Self.reportInterval { return false }
            last = now
            return true
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
            figures.connections = counts.open + counts.reserved
            figures.acceptedConnections = counts.accepted
            figures.refusedConnections = counts.refused
        }
    }
}

extension [String: Int] {
    /// Subtracts one from a count, and removes a count that becomes zero.
    fileprivate mutating func decrement(_ key: String) {
        guard let count = self[key] else { return }
        self[key] = count > 1 ? count - 1 : nil
    }
}

/// The place of a connection in the counts of the ledger.
struct ConnectionPlace: Sendable {
    /// The address of the client.
    let peer: PeerAddress
    /// The connection is beyond the limit: it may only send operational requests.
    let isReserved: Bool
}

/// The record of a connection while the library has it. Confined to its loop's thread.
final class ConnectionRecord {
    /// The server that has it; it outlives its connections.
    unowned let server: HTTPServer
    /// Its place in the counts.
    let place: ConnectionPlace
    /// The descriptor that the library uses for the connection.
    let descriptor: Int32
    /// The descriptor is in the loop's epoll set, since a request of the connection waited.
    var isWatched = false
    /// The connection became a stream, which continues, and is counted, without the library.
    var isTakenOver = false
    /// The connection is encrypted and has not sent a request yet.
    var isHandshaking = false
    /// A response of the handler is being queued.
    var isQueueing = false
    /// The head of the present request has a line that begins with a colon, where the library ends the head.
    var hasNamelessLine = false
    /// The place in the loop's table of connections.
    let slot: Int

    init(server: HTTPServer, place: ConnectionPlace, descriptor: Int32, slot: Int) {
        self.server = server
        self.place = place
        self.descriptor = descriptor
        self.slot = slot
    }
}

internal import Glibc
internal import Primitives
internal import Synchronization

/// Counts the connections of all shards, in all and by address, and the bytes of request bodies and large responses, against
/// their limits.
final class ConnectionLedger: Sendable {
    fileprivate struct Counts {
        var limit: Int
        var open = 0
        var byAddress: [String: Int] = [:]
        /// The bytes of request bodies by address, and by caller.
        var bodies: [String: Int] = [:]
        /// Connections beyond the limit, in all and by address.
        var reserved = 0
        var reservedByAddress: [String: Int] = [:]
        /// Connections of the reserve whose requests are not complete, oldest first.
        var silent: [ConnectionPlace] = []
        /// Connections that lost their places in the reserve to newer ones and are not closed yet.
        var displaced: Set<Int32> = []
        var accepted: UInt64 = 0
        var refused: UInt64 = 0
        var responses: ResponseBudget
        /// The last report that the system refuses connections; nil: none.
        var lastReport: Moment?
    }

    /// The part of the reserve that one address can take.
    private static let reserveShare = 4
    /// The most connections that have lost their places and are not closed yet.
    private static let mostDisplaced = 64
    /// The least time between two reports that the system refuses connections.
    private static let reportInterval = Duration.seconds(60)

    private let configuration: DaemonConfiguration
    private let counts: RankedMutex<Counts>
    private let bodyBytes = Atomic(0)
    /// The bytes of the request bodies from one address, and of one caller, at a time.
    private let bodyShare: Int

    init(_ configuration: DaemonConfiguration) {
        self.configuration = configuration
        bodyShare = max(configuration.bodyBudget / 2, configuration.bodyLimit)
        let responses = ResponseBudget(limit: configuration.responseBudget)
        // The end of a request, which may come under any lock, releases its body.
        counts = RankedMutex(Counts(limit: configuration.connectionLimit, responses: responses), rank: .mailbox)
    }

    /// Lowers the limit to that of the system.
    func lower(to limit: Int) { counts.withLock { $0.limit = min($0.limit, limit) } }

    /// A place for one more connection, counted from now on; nil, and counted as refused, if a limit is reached.
    ///
    /// If the reserve is used up, the oldest of its connections whose request is not complete loses its place and is shut
    /// down: silent connections cannot keep operational requests away.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor of the connection.
    ///   - beyondLimit: True if only a place of the reserve may be given, as if the limit were reached.
    func admit(_ peer: PeerAddress, descriptor: Int32, beyondLimit: Bool = false) -> ConnectionPlace? {
        let (limitPerAddress, reserve) = (configuration.connectionLimitPerAddress, configuration.connectionReserve)
        let group = limitPerAddress > 0 ? configuration.addressGroup(peer.host) : nil
        return counts.withLock { counts in
            if let group, counts.byAddress[group, default: 0] >= limitPerAddress {
                counts.refused += 1
                return nil
            }
            // Connections of the reserve count as well: two loops may admit connections out of their order of arrival.
            let isReserved = beyondLimit || counts.open + counts.reserved >= counts.limit
            if isReserved {
                let share = group == nil ? reserve : max(1, reserve / Self.reserveShare)
                let isShareFull = counts.reservedByAddress[peer.host, default: 0] >= share
                if isShareFull || counts.reserved >= reserve {
                    guard counts.displaced.count < Self.mostDisplaced,
                        counts.displace(from: isShareFull ? peer.host : nil)
                    else {
                        counts.refused += 1
                        return nil
                    }
                }
                counts.reserved += 1
                counts.reservedByAddress[peer.host, default: 0] += 1
            } else {
                counts.open += 1
            }
            if let group { counts.byAddress[group, default: 0] += 1 }
            counts.accepted += 1
            return ConnectionPlace(peer: peer, group: group, descriptor: descriptor, isReserved: isReserved)
        }
    }

    /// The library has the connection, which is open until `release`, and waits for its request.
    func requestAwaited(on place: ConnectionPlace) {
        if place.isReserved { counts.withLock { $0.silent.append(place) } }
    }

    /// A request is complete: its connection keeps its place until the response has been sent.
    func requestArrived(on place: ConnectionPlace) {
        guard place.isReserved else { return }
        counts.withLock { $0.removeSilent(place) }
    }

    func release(_ place: ConnectionPlace) {
        counts.withLock { counts in
            if !place.isReserved {
                counts.open -= 1
            } else if counts.displaced.remove(place.descriptor) == nil {
                counts.leaveReserve(place)
            }
            if let group = place.group { counts.byAddress.decrement(group) }
        }
    }

    /// Whether to report now that the system refuses connections: true at most once in each `reportInterval`.
    func mayReportRefusal(at now: Moment) -> Bool {
        counts.withLock { counts in
            if let last = counts.lastReport, now - last < Self.reportInterval { return false }
            counts.lastReport = now
            return true
        }
    }

    /// Reserves memory for a part of a body; false if the budget, or the share of the address or caller, is used up. The
    /// address has no share if it is that of a proxy.
    func reserveBody(_ count: Int, on place: ConnectionPlace, of caller: String?) -> Bool {
        let total = bodyBytes.wrappingAdd(count, ordering: .relaxed).newValue
        if total <= configuration.bodyBudget {
            if place.group == nil, caller == nil { return true }
            if isWithinShares(count, of: place.group, caller) { return true }
        }
        bodyBytes.wrappingSubtract(count, ordering: .relaxed)
        return false
    }

    /// Counts a part of a body for its address and caller; false, without counting it, if the share of one of them is used up.
    private func isWithinShares(_ count: Int, of address: String?, _ caller: String?) -> Bool {
        counts.withLock { counts in
            if let address, counts.bodies[address, default: 0] + count > bodyShare { return false }
            if let caller, counts.bodies[caller, default: 0] + count > bodyShare { return false }
            if let address { counts.bodies[address, default: 0] += count }
            if let caller { counts.bodies[caller, default: 0] += count }
            return true
        }
    }

    func releaseBody(_ count: Int, on place: ConnectionPlace, of caller: String?) {
        bodyBytes.wrappingSubtract(count, ordering: .relaxed)
        if place.group == nil, caller == nil { return }
        counts.withLock { counts in
            if let group = place.group { counts.bodies.decrement(group, by: count) }
            if let caller { counts.bodies.decrement(caller, by: count) }
        }
    }

    /// Reserves memory for a response; false if the budget is used up.
    func reserve(_ response: HeldResponse) -> Bool { counts.withLock { $0.responses.reserve(response) } }

    func release(_ response: HeldResponse) { counts.withLock { $0.responses.release(response) } }

    func report(in figures: inout DaemonFigures) {
        counts.withLock { counts in
            figures.connections = counts.open + counts.reserved
            figures.acceptedConnections = counts.accepted
            figures.refusedConnections = counts.refused
            figures.responses = MemoryUse(used: counts.responses.used, limit: counts.responses.limit)
        }
        figures.bodies = MemoryUse(used: bodyBytes.load(ordering: .relaxed), limit: configuration.bodyBudget)
    }
}

/// The memory of a request body whose connection has ended: the ledger counts the bytes as long as this object exists.
final class HeldBody: Sendable {
    private let ledger: ConnectionLedger
    private let count: Int
    private let place: ConnectionPlace
    private let caller: String?

    init(ledger: ConnectionLedger, count: Int, place: ConnectionPlace, caller: String?) {
        (self.ledger, self.count, self.place, self.caller) = (ledger, count, place, caller)
    }

    deinit { ledger.releaseBody(count, on: place, of: caller) }
}

extension ConnectionLedger.Counts {
    /// Shuts down the oldest silent connection of the reserve, of one address if there is a host; false if there is none.
    fileprivate mutating func displace(from host: String?) -> Bool {
        guard let place = silent.first(where: { host == nil || $0.peer.host == host }) else { return false }
        leaveReserve(place)
        displaced.insert(place.descriptor)
        // The library detects the end of input and closes the connection.
        shutdown(place.descriptor, Int32(SHUT_RDWR))
        return true
    }

    fileprivate mutating func leaveReserve(_ place: ConnectionPlace) {
        removeSilent(place)
        reserved -= 1
        reservedByAddress.decrement(place.peer.host)
    }

    fileprivate mutating func removeSilent(_ place: ConnectionPlace) {
        if let index = silent.firstIndex(where: { $0.descriptor == place.descriptor }) { silent.remove(at: index) }
    }
}

extension [String: Int] {
    /// Subtracts a number from a count, and removes a count that becomes zero.
    fileprivate mutating func decrement(_ key: String, by number: Int = 1) {
        guard let count = self[key] else { return }
        self[key] = count > number ? count - number : nil
    }
}

/// The place of a connection in the counts of the ledger.
struct ConnectionPlace: Sendable {
    let peer: PeerAddress
    /// The group that the address counts in; nil: it is not limited.
    let group: String?
    let descriptor: Int32
    /// The connection is beyond the limit: it may only send operational requests.
    let isReserved: Bool
    /// The bytes of the first request, if the loop has seen them before the library.
    var knownHead: [UInt8]?
    /// How many bytes were read from the connection before; negative: unknown.
    var readBytes: Int64 = 0
}

/// The record of a connection while the library has it, or the loop between long polls. Confined to its loop's thread.
final class ConnectionRecord {
    /// The server that has it; it outlives its connections.
    unowned let server: HTTPServer
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
    /// When the client is late with its request, or with the acceptance of the response.
    var limit = Moment.zero
    /// A request was answered, and the line of the next one has not been read.
    var isIdle = false
    /// The bytes of the present request, if the loop has seen them before the library.
    var knownHead: [UInt8]?
    /// How many bytes of the connection the requests up to the present one have; negative: unknown.
    var requestBytes: Int64
    /// The action at a deadline of a connection that the library does not have.
    var onDeadline: (() -> Void)?

    init(server: HTTPServer, place: ConnectionPlace, slot: Int) {
        self.server = server
        self.slot = slot
        descriptor = place.descriptor
        requestBytes = place.readBytes
        var place = place
        knownHead = place.knownHead.take()
        self.place = place
    }
}

package import TLCP

/// The control requests that the session itself makes: pending ones, and those waiting for a reply.
struct RequestLedger {
    /// The purpose of a request. At most one of each kind is open.
    enum Purpose: Equatable {
        /// `force_rebind`, with its `LS_cause`.
        case transportSwitch(cause: String?)
        /// `constrain`.
        case bandwidth(RequestedMaxBandwidth)
        /// `register` of a device for push notifications.
        case deviceRegistration(MPNRegisterRequest)
        /// `reset_badge`.
        case badgeReset(deviceID: String)

        /// The order among pending requests; the requests of subscriptions are sent between ranks 1 and 2.
        fileprivate var rank: Int {
            switch self {
            case .transportSwitch: 0
            case .bandwidth: 1
            case .deviceRegistration: 2
            case .badgeReset: 3
            }
        }

        /// Whether the request goes out before those of subscriptions.
        fileprivate var precedesSubscriptions: Bool { rank < 2 }
    }

    /// The position of requests relative to those of subscriptions.
    enum Position {
        case beforeSubscriptions
        case afterSubscriptions
    }

    private struct Entry {
        var purpose: Purpose
        /// The identifier of the copy that was sent last; nil: to be sent.
        var sentAs: RequestID?
    }

    private var entries: [Entry] = []

    /// Whether something is to be sent.
    var hasPending: Bool { entries.contains { $0.sentAs == nil } }

    /// Makes a request; it replaces an earlier one of the same kind.
    mutating func ask(_ purpose: Purpose) {
        entries.removeAll { $0.purpose.rank == purpose.rank }
        let place = entries.firstIndex { $0.purpose.rank > purpose.rank } ?? entries.endIndex
        entries.insert(Entry(purpose: purpose, sentAs: nil), at: place)
    }

    /// The next pending request of a position, in order.
    func nextPending(_ position: Position) -> Purpose? {
        entries.first { $0.sentAs == nil && $0.purpose.precedesSubscriptions == (position == .beforeSubscriptions) }?
            .purpose
    }

    /// A request was sent with this identifier.
    mutating func sent(_ purpose: Purpose, as id: RequestID) {
        guard let index = entries.firstIndex(where: { $0.purpose == purpose }) else { return }
        entries[index].sentAs = id
    }

    /// A reply arrived. Nil: it does not belong to a request of this ledger, or belongs to an outdated copy.
    mutating func answered(_ id: RequestID) -> Purpose? {
        guard let index = entries.firstIndex(where: { $0.sentAs == id }) else { return nil }
        return entries.remove(at: index).purpose
    }

    /// A request is not needed any more, or cannot be sent.
    mutating func remove(_ purpose: Purpose) { entries.removeAll { $0.purpose == purpose } }

    /// The connection that carried the requests is gone: unanswered requests, except held ones, are to be sent again.
    mutating func channelLost(except held: Set<RequestID> = []) {
        for index in entries.indices {
            if let id = entries[index].sentAs, held.contains(id) { continue }
            entries[index].sentAs = nil
        }
    }

    /// Whether a request for a bandwidth limit is to be sent.
    var hasPendingBandwidth: Bool { entries.contains { $0.purpose.rank == 1 && $0.sentAs == nil } }

    /// The request for a bandwidth limit is not needed any more.
    mutating func dropBandwidth() { entries.removeAll { $0.purpose.rank == 1 } }

    /// The transport switch is done or no longer needed.
    mutating func dropTransportSwitch() { entries.removeAll { $0.purpose.rank == 0 } }

    mutating func sessionEnded() { entries.removeAll() }
}

/// The server's answer to one control or message request.
package enum RequestAnswer: Sendable, Equatable {
    /// `REQOK`.
    case accepted
    /// `REQERR`, with its code and its message.
    case refused(code: Int, message: String)
}

/// Generates an identifier for each copy of each request; one generator per client, never reset.
package struct RequestIDGenerator: Sendable {
    private var last = 0

    /// A generator whose first identifier is 1.
    package init() {}

    /// A generator whose first identifier is the next number.
    init(after last: Int) { self.last = last }

    /// The number of the next identifier.
    var following: Int { last &+ 1 }

    package mutating func next() -> RequestID {
        last &+= 1
        return RequestID(last)
    }
}

/// Keeps the bandwidth limit requested from the server equal to the option, one `constrain` at a time.
struct BandwidthNegotiation {
    var option = RequestedMaxBandwidth.unlimited
    private var requested: RequestedMaxBandwidth?
    /// The limit in force; nil: not known.
    private var real: RealMaxBandwidth?
    private var isUnderWay = false
    /// Whether a `CONS` will answer a `constrain`.
    private var isConfirmationDue = false

    /// A session is being created with this limit.
    mutating func begin(with limit: RequestedMaxBandwidth) {
        self = BandwidthNegotiation(option: limit)
        requested = limit
    }

    /// The limit to request now; nil: none. A returned limit counts as requested.
    mutating func next() -> RequestedMaxBandwidth? {
        guard !isUnderWay, real != .unmanaged, option != requested else { return nil }
        requested = option
        isUnderWay = true
        isConfirmationDue = true
        return option
    }

    /// The `constrain` was answered. A refused limit is not requested again until the option changes.
    mutating func answered(isAccepted: Bool) {
        isUnderWay = false
        if !isAccepted { isConfirmationDue = false }
    }

    /// A `CONS` with this limit arrived; true: it answers a `constrain`. `isRequestPending`: the `constrain` is still to be sent.
    mutating func confirmed(_ limit: RealMaxBandwidth, isRequestPending: Bool = false) -> Bool {
        real = limit
        if isRequestPending { return false }
        defer { isConfirmationDue = false }
        return isConfirmationDue
    }
}

/// How many removed elements the order of a `DueQueue` may keep beyond the number of present ones.
private let spareEntries = 64

/// A queue of pending identifiers, returned in ascending order.
///
/// Identifiers are mostly inserted in ascending order, many at a time, and removed in small batches. A heap would not
/// support removal by identifier, so the order is kept beside a set and rebuilt after an insertion out of order.
struct DueQueue<ID: Comparable & Hashable & Sendable>: Sendable {
    private var waiting: Set<ID> = []
    /// The elements of `waiting` in order from `head` on, among removed ones; invalid unless `isOrdered`.
    private var order: [ID] = []
    private var head = 0
    private var isOrdered = true

    var isEmpty: Bool { waiting.isEmpty }

    /// Adds an identifier; false if it is already in the queue.
    @discardableResult
    mutating func insert(_ id: ID) -> Bool {
        guard waiting.insert(id).inserted else { return false }
        if order.count > 2 * waiting.count + spareEntries {
            order.removeAll()
            isOrdered = false
        }
        guard isOrdered else { return true }
        if let last = order.last, last >= id { isOrdered = false } else { order.append(id) }
        return true
    }

    mutating func remove(_ id: ID) { waiting.remove(id) }

    mutating func removeAll() { self = DueQueue() }

    /// The least identifier; it stays in the queue until it is removed.
    mutating func first() -> ID? {
        if waiting.isEmpty {
            removeAll()
            return nil
        }
        if !isOrdered {
            order = waiting.sorted()
            head = 0
            isOrdered = true
        }
        while !waiting.contains(order[head]) { head += 1 }
        return order[head]
    }
}

internal import CMicroHTTPD
internal import Glibc
internal import StreamIO

/// The large responses of a loop that are being sent. Confined to the loop's thread.
///
/// Above the budget of all loops the caller, or address, with the most bytes on the loop has its oldest responses cut off, whose
/// clients are the slowest: no caller can have the responses of other callers cut off. A response for which that frees too little
/// is refused; a response larger than the budget is refused at once.
struct LargeResponses {
    /// Smaller responses do not count: the number of connections limits them.
    static let leastSize = 4096

    private let ledger: ConnectionLedger
    private let budget: Int
    /// By their numbers, in the order of their beginnings.
    private var holders: [UInt64: any LargeResponseHolder] = [:]
    /// The bytes of the responses of each owner on the loop; shared ones count once for an owner.
    private var owners: [String: ResponseBudget] = [:]
    private var count: UInt64 = 0

    init(ledger: ConnectionLedger, budget: Int) {
        self.ledger = ledger
        self.budget = budget
    }

    /// A response to a caller follows; nil: to the address of the connection. False if the budget has no room for the response.
    mutating func begin(_ holder: any LargeResponseHolder, _ body: HTTPResponse.Body, of caller: String?) -> Bool {
        guard var held = HeldResponse(body), holder.heldResponse == nil else { return true }
        held.owner = caller ?? holder.record.place.group ?? ""
        while !ledger.reserve(held) {
            guard held.size <= budget, let oldest = firstToLeave(for: held) else { return false }
            end(oldest)
            // The library, or the loop, detects the end of the connection and frees the response.
            shutdown(oldest.record.descriptor, Int32(SHUT_RDWR))
        }
        count += 1
        held.number = count
        holder.heldResponse = held
        holders[count] = holder
        _ = owners[held.owner, default: ResponseBudget(limit: 0)].reserve(held)
        return true
    }

    /// The oldest response of the owner that has the most bytes, a new response included.
    private func firstToLeave(for new: HeldResponse) -> (any LargeResponseHolder)? {
        var sizes = owners.mapValues(\.used)
        sizes[new.owner]? += new.size
        guard let most = sizes.values.max() else { return nil }
        let candidates = holders.filter { sizes[$1.heldResponse?.owner ?? ""] == most }
        return candidates.min { $0.key < $1.key }?.value
    }

    /// A request is over, or its response is cut off.
    mutating func end(_ holder: any LargeResponseHolder) {
        guard let held = holder.heldResponse else { return }
        holder.heldResponse = nil
        holders[held.number] = nil
        owners[held.owner]?.release(held)
        if owners[held.owner]?.used == 0 { owners[held.owner] = nil }
        ledger.release(held)
    }
}

/// A request whose response may be large.
protocol LargeResponseHolder: AnyObject {
    var record: ConnectionRecord { get }
    /// The memory of the response, if that is large, until it is sent.
    var heldResponse: HeldResponse? { get set }
}

extension Exchange: LargeResponseHolder {}

extension PollingConnection: LargeResponseHolder {}

/// The memory of the body of a large response until it is sent.
struct HeldResponse: Sendable {
    let size: Int
    /// The shared bytes, which count once for all responses with them; nil if the bytes are those of one response.
    let shared: ObjectIdentifier?
    /// The number of the response on its loop.
    var number: UInt64 = 0
    /// The caller of the response, or the group of its address; empty: neither is known.
    var owner = ""

    /// The memory of a body; nil if it is small or not sent.
    init?(_ body: HTTPResponse.Body) {
        switch body {
        case .empty, .omitted: return nil
        case .bytes(let bytes): (size, shared) = (bytes.count, nil)
        case .shared(let bytes): (size, shared) = (bytes.count, ObjectIdentifier(bytes))
        }
        if size < LargeResponses.leastSize { return nil }
    }
}

/// The bytes of the large responses of all loops, compared with a budget.
struct ResponseBudget: Sendable {
    let limit: Int
    private(set) var used = 0
    private var uses: [ObjectIdentifier: Int] = [:]

    /// No responses. A limit of 0 is none.
    init(limit: Int) { self.limit = limit > 0 ? limit : .max }

    /// Counts a response; false, without counting, if there is no room for it.
    mutating func reserve(_ response: HeldResponse) -> Bool {
        let isCounted = response.shared.map { uses[$0] != nil } ?? false
        guard isCounted || response.size <= limit - used else { return false }
        if let shared = response.shared { uses[shared, default: 0] += 1 }
        if !isCounted { used += response.size }
        return true
    }

    mutating func release(_ response: HeldResponse) {
        if let shared = response.shared, let count = uses[shared], count > 1 { return uses[shared] = count - 1 }
        if let shared = response.shared { uses[shared] = nil }
        used -= response.size
    }
}

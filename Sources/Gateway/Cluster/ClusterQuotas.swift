internal import MicroHTTPD
internal import Replication
internal import StreamIO

/// The streams of this member that count against the limits of their callers on all members together: for each of them
/// the units, and whether the log has accepted them.
struct StreamClaims: Sendable {
    private var units: [String: [QuotaUnit: Bool]] = [:]

    /// Whether the log has accepted a unit.
    func isAccepted(_ unit: QuotaUnit) -> Bool { units[unit.id]?[unit] ?? false }

    /// The units that the log has accepted.
    var accepted: [QuotaUnit] { units.values.flatMap { $0.filter(\.value).keys } }

    /// Stores a unit.
    mutating func set(_ unit: QuotaUnit, isAccepted: Bool) { units[unit.id, default: [:]][unit] = isAccepted }

    /// The log has accepted a unit; false if it was removed meanwhile.
    mutating func accept(_ unit: QuotaUnit) -> Bool { units[unit.id]?.updateValue(true, forKey: unit) != nil }

    /// Removes a unit.
    mutating func remove(_ unit: QuotaUnit) { units[unit.id]?[unit] = nil }

    /// Removes and returns the units of a stream.
    mutating func removeAll(of stream: String) -> [QuotaUnit] {
        units.removeValue(forKey: stream)?.keys.map(\.self) ?? []
    }
}

/// Limits of callers on all members together. The log decides about each stream, so that they are not exceeded; a stream
/// counts as long as its member has it, open or prepared.
extension ClusterNode {
    /// Opens a stream, unless its caller has reached the limit of open and prepared streams.
    func open(_ head: HTTPStreamHead, _ stream: AdmittedStream, for call: Call) {
        guard let (identity, limit) = call.streamLimit else { return call.open(head, stream) }
        claim(.stream(stream.id, of: identity), limit: limit) { outcome in
            if outcome == .accepted { return call.open(head, stream) }
            stream.onEnd(.neverOpened)
            call.complete {
                .response(
                    outcome == .refused
                        ? try StreamOpener.overLimit(limit, "for these credentials", call)
                        : try StreamOpener.closing("behind", .notInTouch, call)
                )
            }
        }
    }

    /// Claims a unit, and calls back with the decision of the log; nil if it is not known in time.
    func claim(_ unit: QuotaUnit, limit: Int, _ done: @escaping @Sendable (RecordOutcome?) -> Void) {
        let isAccepted = claims.withLock { claims in
            if claims.isAccepted(unit) { return true }
            claims.set(unit, isAccepted: false)
            return false
        }
        if isAccepted { return done(.accepted) }
        let now = clock()
        // In a new epoch, the other members claim the units that they have before new ones are decided.
        guard state.withLock({ $0.machine.isComplete(at: now) }) else { return done(settle(unit, nil)) }
        decide(.quota(unit), by: .quota(.claim(unit, limit: limit))) { [self] outcome in
            done(settle(unit, outcome))
        }
    }

    private func settle(_ unit: QuotaUnit, _ outcome: RecordOutcome?) -> RecordOutcome? {
        claims.withLock { claims in
            if outcome == .accepted, claims.accept(unit) { return .accepted }
            claims.remove(unit)
            // The log may have accepted the unit, or may do so later.
            if outcome != .refused { write(.quota(.release(unit))) }
            return outcome == .refused ? .refused : nil
        }
    }

    /// This member has taken over a prepared stream, which counts for its owner if it did before.
    func takeOver(_ unit: QuotaUnit) {
        let isInUse = state.withLock { $0.machine.ledger?.isInUse(unit, by: $0.machine.member) ?? false }
        if isInUse { claims.withLock { $0.set(unit, isAccepted: true) } }
    }

    /// This member no longer has a stream.
    func releaseClaims(of stream: String) {
        // Inside the lock, so that no claim of `claimAgain` follows.
        claims.withLock { claims in
            for unit in claims.removeAll(of: stream) { write(.quota(.release(unit))) }
        }
    }

    /// Claims all units again, after this member has joined under another number.
    func claimAgain() {
        claims.withLock { claims in
            for unit in claims.accepted { write(.quota(.claim(unit, limit: nil))) }
        }
    }
}

extension Call {
    /// The caller and its limit of open and prepared streams; nil if it has no limit, or if the request opens no stream.
    var streamLimit: (identity: String, limit: Int)? {
        guard !isHead, let identity = caller.identity, let limit = caller.rights.streams else { return nil }
        return (identity, limit)
    }
}

internal import TLCP

/// The arguments of `SUBOK` and `SUBCMD`.
struct SubscriptionAnnouncement: Sendable, Equatable {
    /// The 1-based positions of the key and command fields.
    struct CommandPositions: Sendable, Equatable {
        var key: Int
        var command: Int
    }

    var itemCount: Int
    var fieldCount: Int
    /// `SUBCMD` only.
    var positions: CommandPositions?

    /// Throws if the announcement does not belong to a subscription in this mode, or if a count is negative.
    func check(for mode: SubscriptionMode) throws(ProtocolViolation) {
        guard (mode == .command) == (positions != nil) else {
            let tag = positions == nil ? "SUBOK" : "SUBCMD"
            throw ProtocolViolation(reason: "\(tag) for a subscription in \(mode.rawValue) mode")
        }
        guard itemCount >= 0, fieldCount >= 0 else {
            throw ProtocolViolation(reason: "Negative size: \(itemCount) items, \(fieldCount) fields")
        }
    }

    /// The reason why the counts are refused: too large, or not those of the lists; nil if they are accepted.
    func mismatch(with properties: SubscriptionProperties) -> String? {
        guard SubscriptionLimits.admit(itemCount: itemCount, fieldCount: fieldCount) else {
            return "Too large: \(itemCount) items with \(fieldCount) fields"
        }
        if let count = properties.items.names?.count, count != itemCount {
            return "Expected \(count) items but got \(itemCount)"
        }
        if let count = properties.fields.names?.count, count != fieldCount {
            return "Expected \(count) fields but got \(fieldCount)"
        }
        return nil
    }

    /// Throws if the positions are not those of two fields.
    func checkPositions() throws(ProtocolViolation) {
        guard let positions else { return }
        let (key, command) = (positions.key, positions.command)
        guard key >= 1, key <= fieldCount, command >= 1, command <= fieldCount, key != command else {
            throw ProtocolViolation(
                reason: "Key position \(key) and command position \(command) among \(fieldCount) fields"
            )
        }
    }
}

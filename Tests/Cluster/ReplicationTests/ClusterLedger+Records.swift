@testable import Replication

extension ClusterLedger {
    /// Applies the frame at the position that follows the last one.
    mutating func apply(_ stored: StoredFrame) -> FrameResult { apply(LogEntry(stored)) }

    /// Applies a record without a frame, and adds its effects to some.
    mutating func apply(_ record: ClusterRecord, by member: UInt64, _ effects: inout [LedgerEffect]) {
        apply(record, by: member)
        effects += self.effects
        self.effects = []
    }

    mutating func apply(_ record: CreditRecord, by member: UInt64, _ effects: inout [LedgerEffect]) {
        apply(.credit(record), by: member, &effects)
    }

    mutating func apply(_ record: PreparedStreamRecord, by member: UInt64, _ effects: inout [LedgerEffect]) {
        apply(.stream(record), by: member, &effects)
    }

    mutating func apply(_ record: QuotaRecord, by member: UInt64, _ effects: inout [LedgerEffect]) {
        apply(.quota(record), by: member, &effects)
    }

    mutating func apply(_ record: RequestRecord, by member: UInt64, _ effects: inout [LedgerEffect]) {
        apply(.request(record), by: member, &effects)
    }
}

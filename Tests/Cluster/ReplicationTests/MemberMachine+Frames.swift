@testable import Replication

extension MemberMachine {
    /// A frame that another member of epoch 7 writes after all that this member has read.
    func frame(of other: UInt64, counter: UInt64, _ records: [ClusterRecord]) -> [UInt8] {
        ClusterFrame(
            member: other,
            epoch: 7,
            previous: position,
            digest: ledger?.digest.value ?? 0,
            counter: counter,
            payload: records.flatMap(\.encoded)[...]
        )
        .bytes
    }
}

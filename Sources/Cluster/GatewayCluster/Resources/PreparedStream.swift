internal import Changes
internal import EventHub
internal import Replication

/// A prepared stream as the log describes it.
struct PreparedStream: Sendable {
    let definition: StreamDefinition
    /// The identity of its creator; nil without authentication.
    let owner: String?
    let holder: ResourceHolder
    let isOpen: Bool
}

extension ClusterNode {
    /// The present epoch; nil while this member has no state of the cluster.
    var epoch: UInt64? { state.withLock { $0.machine.ledger?.epoch } }

    /// The processes of all members, in an order that does not change.
    var processes: [UInt64] {
        state.withLock { ($0.machine.ledger?.members.values.map(\.info.process) ?? []).sorted() }
    }

    /// A prepared stream of any member; nil if there is none of this id.
    func preparedStream(_ id: String) -> PreparedStream? {
        let found = state.withLock { state in
            state.machine.ledger?.specified[id].map { ($0, state.machine.holder(of: id)) }
        }
        guard let (entry, holder) = found, let isOpen = entry.isOpen,
            let definition = try? StreamDefinition(entry.specification.content)
        else { return nil }
        return PreparedStream(definition: definition, owner: entry.specification.owner, holder: holder, isOpen: isOpen)
    }

    /// The greatest id of an event that a client can have without the sources that were added to a prepared stream last, by the log;
    /// nil: none were added.
    func lastIDWithoutAdditions(toStream id: String) -> String? {
        state.withLock { state in
            guard let epoch = state.machine.ledger?.epoch, let position = state.machine.additions[id]
            else { return nil }
            let sequence = EventNumber.number(position: position, index: EventNumber.complete)
            return EventID(epoch: ClusterApplier.name(of: epoch), sequence: sequence).text
        }
    }

    /// The ids of the prepared streams whose creators meet a condition, in the order of the ids.
    func preparedStreamIDs(_ isIncluded: (String?) -> Bool) -> [String] {
        let streams = state.withLock { $0.machine.ledger?.specified.filter { $0.value.isOpen != nil } ?? [:] }
        return streams.filter { isIncluded($0.value.specification.owner) }.map(\.key).sorted()
    }

    func isPrepared(_ id: String) -> Bool { state.withLock { $0.machine.ledger?.specified[id]?.isOpen != nil } }

    /// The beginning of the ids of the streams that a process creates, so that every member can find that process.
    static func streamPrefix(of process: UInt64) -> String {
        // Five digits of five bits: enough to distinguish some hundred processes.
        let digits = (0..<5).map { RandomID.character(of: process >> (5 * $0)) }
        return "t" + String(decoding: digits, as: UTF8.self)
    }
}

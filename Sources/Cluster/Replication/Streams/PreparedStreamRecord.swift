/// A change of a prepared stream, which any member can open, one at a time.
package enum PreparedStreamRecord: Sendable, Equatable {
    /// The writer has made the stream, or has changed it. Void if another member owns it.
    case prepare(id: String, ResourceSpecification)
    /// The writer opens the stream for a client, and owns it from then on. Refused while it is open.
    case open(id: String)
    /// The stream has ended and may be opened again.
    case close(id: String)
    /// The owner removes the stream; `evenIfOpen` false: unless it was opened meanwhile.
    case remove(id: String, evenIfOpen: Bool)
}

extension ClusterLedger {
    mutating func apply(_ record: PreparedStreamRecord, by member: UInt64, _ effects: inout [LedgerEffect]) {
        switch record {
        case .prepare(let id, let specification):
            prepare(id, specification, by: member, &effects)
        case .open(let id):
            open(id, by: member, &effects)
        case .close(let id):
            if isOwner(member, ofStream: id) { specified[id]?.isOpen = false }
        case .remove(let id, let evenIfOpen):
            if isOwner(member, ofStream: id), evenIfOpen || specified[id]?.isOpen == false { specified[id] = nil }
        }
    }

    private mutating func prepare(
        _ id: String,
        _ specification: ResourceSpecification,
        by member: UInt64,
        _ effects: inout [LedgerEffect]
    ) {
        guard specified[id] != nil else {
            guard subscriptions[id] == nil, clients[id] == nil, topics[id] == nil else { return }
            specified[id] = SpecifiedResource(specification: specification, owner: member, isOpen: false)
            return
        }
        guard isOwner(member, ofStream: id) else {
            effects.append(.streamLost(id, by: member))
            return
        }
        specified[id]?.specification = specification
    }

    private mutating func open(_ id: String, by member: UInt64, _ effects: inout [LedgerEffect]) {
        guard let stream = specified[id], let isOpen = stream.isOpen else {
            effects.append(.decided(.stream(id), by: member, .unknown))
            return
        }
        guard !isOpen else {
            effects.append(.decided(.stream(id), by: member, .refused))
            return
        }
        specified[id]?.owner = member
        specified[id]?.isOpen = true
        if let owner = stream.owner, owner != member {
            moveQuotas(of: id, from: owner, to: member)
            effects.append(.streamLost(id, by: owner))
        }
        effects.append(.decided(.stream(id), by: member, .accepted))
    }

    private func isOwner(_ member: UInt64, ofStream id: String) -> Bool {
        specified[id].map { $0.owner == member && $0.isOpen != nil } ?? false
    }
}

/// One byte for each case of a `PreparedStreamRecord`.
private enum StreamTag {
    static let prepare: UInt8 = 1
    static let open: UInt8 = 2
    static let close: UInt8 = 3
    static let remove: UInt8 = 4
}

extension ByteWriter {
    mutating func stream(_ record: PreparedStreamRecord) {
        switch record {
        case .prepare(let id, let specification):
            byte(StreamTag.prepare)
            string(id)
            self.specification(specification)
        case .open(let id):
            byte(StreamTag.open)
            string(id)
        case .close(let id):
            byte(StreamTag.close)
            string(id)
        case .remove(let id, let evenIfOpen):
            byte(StreamTag.remove)
            string(id)
            bool(evenIfOpen)
        }
    }
}

extension ByteReader {
    mutating func stream() throws(CodingError) -> PreparedStreamRecord {
        switch try byte() {
        case StreamTag.prepare: return .prepare(id: try string(), try specification())
        case StreamTag.open: return .open(id: try string())
        case StreamTag.close: return .close(id: try string())
        case StreamTag.remove: return .remove(id: try string(), evenIfOpen: try bool())
        default: throw .malformed
        }
    }
}

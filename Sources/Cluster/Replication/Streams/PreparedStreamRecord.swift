internal import Changes

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

    static let wire = Wire<Self>(cases: [
        Case(1, .string, ResourceSpecification.wire, make: Self.prepare) {
            if case .prepare(let id, let specification) = $0 { (id, specification) } else { nil }
        },
        Case(2, .string, make: Self.open) { if case .open(let id) = $0 { id } else { nil } },
        Case(3, .string, make: Self.close) { if case .close(let id) = $0 { id } else { nil } },
        Case(4, .string, .bool, make: Self.remove) {
            if case .remove(let id, let evenIfOpen) = $0 { (id, evenIfOpen) } else { nil }
        },
    ])
}

extension ClusterLedger {
    mutating func apply(_ record: PreparedStreamRecord, by member: UInt64) {
        switch record {
        case .prepare(let id, let specification): prepare(id, specification, by: member)
        case .open(let id): open(id, by: member)
        case .close(let id): if isOwner(member, ofStream: id) { specified[id]?.isOpen = false }
        case .remove(let id, let evenIfOpen):
            guard isOwner(member, ofStream: id), evenIfOpen || specified[id]?.isOpen == false else { return }
            specified[id] = nil
            // An opening that the log decided before may have recreated the stream.
            effects.append(.streamLost(id, by: member))
        }
    }

    private mutating func prepare(_ id: String, _ specification: ResourceSpecification, by member: UInt64) {
        guard specified[id] != nil else {
            guard subscriptions[id] == nil, clients[id] == nil, topics.byID[id] == nil else { return }
            specified[id] = SpecifiedResource(specification: specification, owner: member, isOpen: false)
            return
        }
        guard isOwner(member, ofStream: id) else { return effects.append(.streamLost(id, by: member)) }
        if let earlier = specified[id]?.specification, specification.addsSources(to: earlier) {
            effects.append(.sourcesAdded(id))
        }
        specified[id]?.specification = specification
    }

    private mutating func open(_ id: String, by member: UInt64) {
        guard let stream = specified[id], let isOpen = stream.isOpen else {
            return effects.append(.order(.report(.stream(id), .unknown), to: member))
        }
        guard !isOpen else { return effects.append(.order(.report(.stream(id), .refused), to: member)) }
        specified[id]?.owner = member
        specified[id]?.isOpen = true
        if let owner = stream.owner, owner != member {
            moveQuotas(of: id, from: owner, to: member)
            effects.append(.streamLost(id, by: owner))
        }
        effects.append(.order(.report(.stream(id), .accepted), to: member))
    }

    private func isOwner(_ member: UInt64, ofStream id: String) -> Bool {
        specified[id].map { $0.owner == member && $0.isOpen != nil } ?? false
    }
}

extension ResourceSpecification {
    /// Whether the stream that it defines has sources which an earlier definition does not have.
    fileprivate func addsSources(to earlier: ResourceSpecification) -> Bool {
        guard content != earlier.content, let present = try? StreamDefinition(content),
            let former = try? StreamDefinition(earlier.content)
        else { return false }
        return !Set(present.request.sources).isSubset(of: former.request.sources)
    }
}

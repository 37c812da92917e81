/// The prepared streams of this member that other members have opened. This member keeps each of them until the new owner has
/// read the opening: if an epoch begins before, only this member can report the stream.
struct HandedOverStreams: Sendable {
    /// The owners, and the positions of the openings in the log.
    private(set) var openings: [String: (owner: UInt64, position: UInt64)] = [:]

    /// A member has lost a stream, which another one has opened by a record at a position; `owner` nil, or this member: to nobody.
    mutating func lost(_ id: String, to owner: UInt64?, of me: UInt64, at position: UInt64) -> [MemberAction] {
        guard let owner, owner != me else { return [.releaseStream(id)] }
        openings[id] = (owner, position)
        return []
    }

    /// The owner of a resource was removed: another member, or this one, owns the resource. A member that was removed while it was
    /// paused may have the resource still: it must not report the resource again when it joins.
    mutating func inherited(_ id: String, _ resource: SpecifiedResource, by me: UInt64) -> MemberAction {
        openings[id] = nil
        let (isOwn, isStream) = (resource.owner == me, resource.isOpen != nil)
        if !isOwn { return isStream ? .releaseStream(id) : .releaseResource(id) }
        return isStream ? .inheritStream(id, resource.specification) : .inherit(id, resource.specification)
    }

    /// A member has read the log up to a position; returns orders to release the streams whose opening it has read.
    mutating func read(_ position: UInt64, by reader: UInt64) -> [MemberAction] {
        release { $0.owner == reader && $0.position <= position }
    }

    mutating func releaseAll() -> [MemberAction] { release { _ in true } }

    private mutating func release(_ isDue: ((owner: UInt64, position: UInt64)) -> Bool) -> [MemberAction] {
        let due = openings.filter { isDue($0.value) }.keys.sorted()
        for id in due { openings[id] = nil }
        return due.map { .releaseStream($0) }
    }
}

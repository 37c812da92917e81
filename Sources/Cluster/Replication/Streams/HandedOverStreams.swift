/// The prepared streams of this member that other members have opened. This member keeps each of them until the new owner has
/// read the opening: if an epoch begins before, only this member can report the stream.
struct HandedOverStreams: Sendable {
    /// The owners, and the positions of the openings in the log.
    private(set) var openings: [String: (owner: UInt64, position: UInt64)] = [:]

    /// A member has opened a stream; the log has the opening at a position.
    mutating func add(_ id: String, to owner: UInt64, at position: UInt64) { openings[id] = (owner, position) }

    /// The member that has opened a stream was removed: another one, or this one, owns the stream.
    mutating func forget(_ id: String) { openings[id] = nil }

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

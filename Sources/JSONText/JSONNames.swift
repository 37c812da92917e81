/// The names met so far in one object: searched in order while they are few, by hash when they are many.
struct JSONNames {
    private struct Name: Hashable {
        let text: String

        static func == (left: Name, right: Name) -> Bool { left.text.hasSameBytes(as: right.text) }
        func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
    }

    private static let few = 16
    private var hashed: Set<Name> = []

    /// Adds a name; false if it was there. `members` are those that stand before it.
    mutating func insert(_ name: String, among members: [JSONObject.Member]) -> Bool {
        if members.count < Self.few { return !members.contains { $0.name.hasSameBytes(as: name) } }
        if hashed.isEmpty { hashed = Set(members.map { Name(text: $0.name) }) }
        return hashed.insert(Name(text: name)).inserted
    }
}

/// A tag of a representation, and its comparison with `If-None-Match` and `If-Match` (RFC 9110 section 13.1).
struct EntityTag: Sendable, Hashable, CustomStringConvertible {
    /// The text between the quotes.
    let opaque: String
    /// Whether equal tags mean equivalent, not identical, representations.
    let isWeak: Bool

    /// A tag; `opaque` consists of letters, digits and hyphens.
    init(_ opaque: String, isWeak: Bool = false) {
        self.opaque = opaque
        self.isWeak = isWeak
    }

    /// A tag over bytes.
    init(of bytes: [UInt8], isWeak: Bool = false) {
        self.init(String(Self.hash(bytes), radix: 16), isWeak: isWeak)
    }

    /// The tag as in a header.
    var description: String { isWeak ? "W/\"\(opaque)\"" : "\"\(opaque)\"" }

    /// Whether an `If-None-Match` names this tag: weak comparison.
    func matches(ifNoneMatch header: String?) -> Bool {
        guard let header else { return false }
        return header.trimmed == "*" || Self.tags(in: header).contains { $0.opaque == opaque }
    }

    /// Whether an `If-Match` admits this tag: strong comparison; without the header always.
    func matches(ifMatch header: String?) -> Bool {
        guard let header else { return true }
        if header.trimmed == "*" { return true }
        return Self.tags(in: header).contains { !$0.isWeak && !isWeak && $0.opaque == opaque }
    }

    private static func tags(in header: String) -> [EntityTag] {
        var tags: [EntityTag] = []
        var rest = header[...]
        while let quote = rest.firstIndex(of: "\"") {
            let isWeak = rest[..<quote].hasSuffix("W/")
            let start = rest.index(after: quote)
            guard let end = rest[start...].firstIndex(of: "\"") else { break }
            tags.append(EntityTag(String(rest[start..<end]), isWeak: isWeak))
            rest = rest[rest.index(after: end)...]
        }
        return tags
    }

    /// FNV-1a over 64 bits: the same in every process, unlike `Hasher`.
    private static func hash(_ bytes: [UInt8]) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return hash
    }
}

extension String {
    /// The text without blanks and tabs around it.
    var trimmed: Substring { self[...].trimmed }
}

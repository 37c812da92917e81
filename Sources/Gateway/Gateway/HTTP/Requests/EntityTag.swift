internal import Primitives

/// A tag of a representation, and its comparison with `If-None-Match` and `If-Match` (RFC 9110 section 13.1).
package struct EntityTag: Sendable, Hashable, CustomStringConvertible {
    /// The text between the quotes.
    let opaque: String
    /// Whether equal tags mean equivalent, not identical, representations.
    let isWeak: Bool
    /// The tag as in a header.
    package let description: String

    /// A tag; `opaque` consists of letters, digits and hyphens.
    init(_ opaque: String, isWeak: Bool = false) {
        self.opaque = opaque
        self.isWeak = isWeak
        description = (isWeak ? "W/\"" : "\"") + opaque + "\""
    }

    /// A tag over bytes: their hash.
    init(of bytes: [UInt8]) { self.init(String(hexadecimal: FNV1a(of: bytes).value)) }

    package static func == (left: EntityTag, right: EntityTag) -> Bool { left.description == right.description }

    package func hash(into hasher: inout Hasher) { hasher.combine(description) }

    /// Whether an `If-None-Match` names this tag: weak comparison.
    func matches(ifNoneMatch header: String?) -> Bool {
        guard let header else { return false }
        return header == "*" || header == description || header.trimmed == "*"
            || Self.tags(in: header).contains { $0.opaque == opaque }
    }

    /// Whether an `If-Match` admits this tag: strong comparison; true without the header.
    func matches(ifMatch header: String?) -> Bool {
        guard let header else { return true }
        if header.trimmed == "*" { return true }
        return Self.tags(in: header).contains { !$0.isWeak && !isWeak && $0.opaque == opaque }
    }

    private static func tags(in header: String) -> [EntityTag] {
        var tags: [EntityTag] = []
        var rest = header.utf8[...]
        while let quote = rest.firstIndex(of: UInt8(ascii: "\"")) {
            let isWeak = rest[..<quote].suffix(2).elementsEqual("W/".utf8)
            let start = rest.index(after: quote)
            guard let end = rest[start...].firstIndex(of: UInt8(ascii: "\"")) else { break }
            tags.append(EntityTag(String(Substring(rest[start..<end])), isWeak: isWeak))
            rest = rest[rest.index(after: end)...]
        }
        return tags
    }
}

extension String {
    /// The text without blanks and tabs around it.
    var trimmed: Substring { self[...].trimmed }

    /// The 16 hexadecimal digits of a number, after a prefix.
    init(_ prefix: StaticString = "", hexadecimal number: UInt64) {
        let start = prefix.utf8CodeUnitCount
        self.init(unsafeUninitializedCapacity: start + 16) { text in
            for index in 0..<start { text[index] = prefix.utf8Start[index] }
            for index in 0..<16 {
                let digit = UInt8(truncatingIfNeeded: number >> UInt64(60 - 4 * index)) & 15
                text[start + index] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
            }
            return start + 16
        }
    }
}

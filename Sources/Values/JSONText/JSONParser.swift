extension JSONValue {
    /// The deepest nesting of arrays and objects that is accepted by default.
    package static let maxDepth = 128

    /// Parses a whole text in the grammar of RFC 8259. Surrounding white space is allowed; a byte order mark and
    /// duplicate names in one object are not.
    ///
    /// - Parameters:
    ///   - bytes: UTF-8.
    ///   - maxDepth: the deepest nesting of arrays and objects; a plain value has depth 0.
    package init(parsing bytes: some Collection<UInt8>, maxDepth: Int = Self.maxDepth) throws(JSONParseError) {
        let parsed = bytes.withContiguousStorageIfAvailable { Self.parse($0, maxDepth) }
        let result = parsed ?? Array(bytes).withUnsafeBufferPointer { Self.parse($0, maxDepth) }
        self = try result.get()
    }

    /// Parses a whole text in the grammar of RFC 8259.
    package init(parsing text: String, maxDepth: Int = Self.maxDepth) throws(JSONParseError) {
        try self.init(parsing: text.utf8, maxDepth: maxDepth)
    }

    private static func parse(
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ maxDepth: Int
    ) -> Result<JSONValue, JSONParseError> {
        var parser = JSONParser(bytes: bytes, maxDepth: maxDepth)
        do throws(JSONParseError) {
            return .success(try parser.document())
        } catch {
            return .failure(error)
        }
    }
}

/// A recursive-descent parser over bytes that outlive it; `maxDepth` bounds the recursion.
struct JSONParser {
    let bytes: UnsafeBufferPointer<UInt8>
    let maxDepth: Int
    var position = 0

    init(bytes: UnsafeBufferPointer<UInt8>, maxDepth: Int) {
        self.bytes = bytes
        self.maxDepth = maxDepth
    }

    func failure(_ reason: JSONParseError.Reason, at offset: Int? = nil) -> JSONParseError {
        JSONParseError(reason, at: offset ?? position, in: bytes)
    }

    /// The error for a byte that cannot stand here, or for the end of the text.
    func unexpected() -> JSONParseError {
        failure(position < bytes.count ? .unexpectedByte(bytes[position]) : .unexpectedEnd)
    }

    var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func document() throws(JSONParseError) -> JSONValue {
        skipWhitespace()
        let value = try value(depth: 0)
        skipWhitespace()
        guard position == bytes.count else { throw failure(.trailingBytes) }
        return value
    }

    mutating func skipWhitespace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    private mutating func value(depth: Int) throws(JSONParseError) -> JSONValue {
        guard let byte = current else { throw unexpected() }
        switch byte {
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "{"): return .object(try object(depth: depth + 1))
        case UInt8(ascii: "["): return .array(try array(depth: depth + 1))
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number())
        default: throw unexpected()
        }
    }

    private mutating func literal(_ word: StaticString, _ value: JSONValue) throws(JSONParseError) -> JSONValue {
        for offset in 0..<word.utf8CodeUnitCount {
            guard current == word.utf8Start[offset] else { throw unexpected() }
            position += 1
        }
        return value
    }

    private mutating func array(depth: Int) throws(JSONParseError) -> [JSONValue] {
        guard depth <= maxDepth else { throw failure(.tooDeep(limit: maxDepth)) }
        position += 1
        skipWhitespace()
        var elements: [JSONValue] = []
        if current == UInt8(ascii: "]") {
            position += 1
            return elements
        }
        while true {
            elements.append(try value(depth: depth))
            skipWhitespace()
            switch current {
            case UInt8(ascii: ","):
                position += 1
                skipWhitespace()
            case UInt8(ascii: "]"):
                position += 1
                return elements
            default:
                throw unexpected()
            }
        }
    }

    private mutating func object(depth: Int) throws(JSONParseError) -> JSONObject {
        guard depth <= maxDepth else { throw failure(.tooDeep(limit: maxDepth)) }
        position += 1
        skipWhitespace()
        var members: [JSONObject.Member] = []
        var names = JSONNames()
        if current == UInt8(ascii: "}") {
            position += 1
            return JSONObject()
        }
        while true {
            let nameOffset = position
            guard current == UInt8(ascii: "\"") else { throw unexpected() }
            let name = try string()
            guard names.insert(name, among: members) else { throw failure(.duplicateName(name), at: nameOffset) }
            skipWhitespace()
            guard current == UInt8(ascii: ":") else { throw unexpected() }
            position += 1
            skipWhitespace()
            members.append(JSONObject.Member(name: name, value: try value(depth: depth)))
            skipWhitespace()
            switch current {
            case UInt8(ascii: ","):
                position += 1
                skipWhitespace()
            case UInt8(ascii: "}"):
                position += 1
                return JSONObject(members)
            default:
                throw unexpected()
            }
        }
    }
}

/// The names read so far in one object: found by linear search while they are few, by hash when they are many.
struct JSONNames {
    private struct Name: Hashable {
        let text: String

        static func == (left: Name, right: Name) -> Bool { left.text.hasSameBytes(as: right.text) }
        func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
    }

    private static let linearSearchLimit = 16
    private var hashed: Set<Name> = []

    /// Adds a name; false if it is a duplicate. `members` are the members before it.
    mutating func insert(_ name: String, among members: [JSONObject.Member]) -> Bool {
        if members.count < Self.linearSearchLimit { return !members.contains { $0.name.hasSameBytes(as: name) } }
        if hashed.isEmpty { hashed = Set(members.map { Name(text: $0.name) }) }
        return hashed.insert(Name(text: name)).inserted
    }
}

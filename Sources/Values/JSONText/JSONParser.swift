/// A recursive-descent parser over bytes that outlive it; `maxDepth` bounds the recursion.
struct JSONParser {
    let bytes: UnsafeBufferPointer<UInt8>
    let maxDepth: Int
    /// Whether an object may repeat a name.
    let admitsDuplicates: Bool
    var position = 0

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
        var hasDuplicates = false
        if current == UInt8(ascii: "}") {
            position += 1
            return JSONObject()
        }
        while true {
            let nameOffset = position
            guard current == UInt8(ascii: "\"") else { throw unexpected() }
            let name = try string()
            if !names.insert(name, among: members) {
                guard admitsDuplicates else { throw failure(.duplicateName(name), at: nameOffset) }
                hasDuplicates = true
            }
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
                return JSONObject(hasDuplicates ? JSONNames.lastMembers(members) : members)
            default:
                throw unexpected()
            }
        }
    }
}

extension JSONParser {
    /// Reads a number, whose first byte is the current one.
    mutating func number() throws(JSONParseError) -> JSONNumber {
        let start = position
        if current == UInt8(ascii: "-") { position += 1 }
        if current == UInt8(ascii: "0") {
            position += 1
            if let next = current, next &- UInt8(ascii: "0") < 10 { throw failure(.malformedNumber) }
        } else {
            try digits()
        }
        if current == UInt8(ascii: ".") {
            position += 1
            try digits()
        }
        if let letter = current, letter | 0x20 == UInt8(ascii: "e") {
            position += 1
            if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { position += 1 }
            try digits()
        }
        let text = String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<position]), as: UTF8.self)
        return JSONNumber(trusted: text)
    }

    private mutating func digits() throws(JSONParseError) {
        let start = position
        while let byte = current, byte &- UInt8(ascii: "0") < 10 { position += 1 }
        guard position > start else { throw failure(position < bytes.count ? .malformedNumber : .unexpectedEnd) }
    }

    /// Reads a string, whose opening quotation mark is the current byte.
    mutating func string() throws(JSONParseError) -> String {
        position += 1
        let start = position
        var unescaped: [UInt8]?
        var runStart = position
        while true {
            guard let byte = current else { throw failure(.unexpectedEnd) }
            switch byte {
            case UInt8(ascii: "\""):
                let run = UnsafeBufferPointer(rebasing: bytes[runStart..<position])
                position += 1
                unescaped?.append(contentsOf: run)
                let text =
                    if let unescaped {
                        String(validating: unescaped, as: UTF8.self)
                    } else {
                        String(validating: run, as: UTF8.self)
                    }
                guard let text else { throw failure(.invalidUTF8, at: start) }
                return text
            case UInt8(ascii: "\\"):
                unescaped = unescaped ?? []
                unescaped?.append(contentsOf: bytes[runStart..<position])
                try escape(into: &unescaped)
                runStart = position
            case 0..<0x20: throw failure(.controlCharacter)
            default: position += 1
            }
        }
    }

    private mutating func escape(into text: inout [UInt8]?) throws(JSONParseError) {
        let start = position
        position += 1
        guard let letter = current else { throw failure(.unexpectedEnd) }
        position += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text?.append(letter)
        case UInt8(ascii: "b"): text?.append(0x08)
        case UInt8(ascii: "f"): text?.append(0x0C)
        case UInt8(ascii: "n"): text?.append(0x0A)
        case UInt8(ascii: "r"): text?.append(0x0D)
        case UInt8(ascii: "t"): text?.append(0x09)
        case UInt8(ascii: "u"):
            let scalar = try escapedScalar(from: start)
            text?.append(contentsOf: String(Character(scalar)).utf8)
        default: throw failure(.malformedEscape, at: start)
        }
    }

    private mutating func escapedScalar(from start: Int) throws(JSONParseError) -> Unicode.Scalar {
        let first = try hexadecimal(from: start)
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00, current == UInt8(ascii: "\\"), position + 1 < bytes.count,
            bytes[position + 1] == UInt8(ascii: "u")
        else { throw failure(.loneSurrogate, at: start) }
        position += 2
        let second = try hexadecimal(from: start)
        guard (0xDC00..<0xE000).contains(second),
            let scalar = Unicode.Scalar(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
        else { throw failure(.loneSurrogate, at: start) }
        return scalar
    }

    private mutating func hexadecimal(from start: Int) throws(JSONParseError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = current else { throw failure(.unexpectedEnd) }
            guard let digit = Self.hexadecimalDigit(byte) else { throw failure(.malformedEscape, at: start) }
            value = value << 4 | digit
            position += 1
        }
        return value
    }

    private static func hexadecimalDigit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }
}

/// The names read so far in one object: found by linear search while they are few, by hash when they are many.
struct JSONNames {
    private static let linearSearchLimit = 16
    private var hashed: Set<ExactText> = []

    /// Adds a name; false if it is a duplicate. `members` are the members before it.
    mutating func insert(_ name: String, among members: [JSONObject.Member]) -> Bool {
        if members.count < Self.linearSearchLimit {
            for member in members where member.name.hasSameBytes(as: name) { return false }
            return true
        }
        if hashed.isEmpty { hashed = Set(members.map { ExactText($0.name) }) }
        return hashed.insert(ExactText(name)).inserted
    }

    /// One member for each name: the value of the last, at the place of the first.
    static func lastMembers(_ members: [JSONObject.Member]) -> [JSONObject.Member] {
        var positions: [ExactText: Int] = [:]
        var result: [JSONObject.Member] = []
        for member in members {
            let name = ExactText(member.name)
            if let position = positions[name] {
                result[position].value = member.value
            } else {
                positions[name] = result.count
                result.append(member)
            }
        }
        return result
    }
}

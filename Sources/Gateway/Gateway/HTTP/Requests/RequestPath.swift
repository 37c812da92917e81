internal import JSONText

/// The segments of a request's path: split at `/` first, then each decoded once, so that `a%2Fb` is one segment.
package struct RequestPath: Sendable, Equatable {
    /// The decoded segments; none for `/`.
    let segments: [String]

    /// Splits a raw path. Throws a 400 problem for a bad escape and for bytes that are not UTF-8.
    package init(raw: String) throws(Problem) {
        guard raw.utf8.first == UInt8(ascii: "/") else {
            throw Problem(.malformed, detail: "The path does not begin with a slash.")
        }
        var raw = raw
        let segments: [String]? = raw.withUTF8 { bytes in
            if bytes.count == 1 { return [] }
            var segments: [String] = []
            segments.reserveCapacity(8)
            for part in bytes.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
                let text = UnsafeBufferPointer(rebasing: part)
                guard let segment = PercentDecoding.decode(text, plusIsSpace: false) else { return nil }
                segments.append(segment)
            }
            return segments
        }
        guard let segments else {
            throw Problem(.malformed, detail: "The path has a bad escape, or bytes that are not UTF-8.")
        }
        self.segments = segments
    }
}

/// The values of the path parameters of a request, by name. They are few: searching them costs less than hashing.
package struct PathParameters: Sendable {
    private(set) var names: [String]
    private(set) var values: [String]

    static let empty = PathParameters(names: [], values: [])

    /// Parameters from their names and values, in the order of the path.
    package init(names: [String], values: [String]) {
        self.names = names
        self.values = values
    }

    /// The value of a name; nil if the path has no such parameter.
    package subscript(name: String) -> String? {
        guard let place = names.firstIndex(of: name) else { return nil }
        return values[place]
    }
}

/// Percent-decoding of URLs (RFC 3986 section 2.1), strict: text that cannot be decoded is rejected.
enum PercentDecoding {
    /// Decodes once. Nil for a `%` without two hex digits, and for bytes that are not UTF-8 afterwards.
    ///
    /// - Parameters:
    ///   - text: A part of a string between ASCII characters.
    ///   - plusIsSpace: Whether `+` stands for a space, as in form-encoded queries. In paths it stands for
    ///   itself.
    static func decode(_ text: some Collection<UInt8>, plusIsSpace: Bool) -> String? {
        let space = plusIsSpace ? UInt8(ascii: "+") : UInt8(ascii: "%")
        // The text is UTF-8, since its string was.
        if !text.contains(UInt8(ascii: "%")), !text.contains(space) { return String(decoding: text, as: UTF8.self) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var position = text.startIndex
        while position != text.endIndex {
            let byte = text[position]
            position = text.index(after: position)
            switch byte {
            case UInt8(ascii: "%"):
                guard position != text.endIndex, let high = hexDigit(text[position]) else { return nil }
                position = text.index(after: position)
                guard position != text.endIndex, let low = hexDigit(text[position]) else { return nil }
                position = text.index(after: position)
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Encodes a path segment or query value: everything but unreserved characters.
    static func encode(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                bytes.append(byte)
            default:
                let digits = Array("0123456789ABCDEF".utf8)
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The value of a hexadecimal digit; nil for any other character.
    static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}

/// The query of a request: names and values in their order, decoded.
package struct Query: Sendable, Equatable {
    struct Pair: Sendable, Equatable {
        let name: String
        /// The value; empty without `=`.
        let value: String
    }

    private(set) var pairs: [Pair] = []

    init() {}

    static let empty = Query()

    /// Parses a raw query. Throws a 400 problem for a bad escape and for bytes that are not UTF-8.
    package init(raw: String?) throws(Problem) {
        guard let raw else { return }
        for part in raw.utf8.split(separator: UInt8(ascii: "&")) {
            let equals = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            let rest = equals == part.endIndex ? part[part.endIndex...] : part[part.index(after: equals)...]
            guard let name = PercentDecoding.decode(part[..<equals], plusIsSpace: true),
                let value = PercentDecoding.decode(rest, plusIsSpace: true)
            else {
                throw Problem(.malformed, detail: "The query has a bad escape, or bytes that are not UTF-8.")
            }
            pairs.append(Pair(name: name, value: value))
        }
    }

    func values(_ name: String) -> [String] { pairs.filter { $0.name == name }.map(\.value) }

    func filtered(_ condition: (Pair) -> Bool) -> Query {
        var query = self
        query.pairs.removeAll { !condition($0) }
        return query
    }

    mutating func remove(_ name: String) { pairs.removeAll { $0.name == name } }

    func has(_ name: String) -> Bool { pairs.contains { $0.name == name } }

    /// Rejects unknown names with a 422 problem that has one entry for each, up to a limit.
    ///
    /// - Parameters:
    ///   - names: The parameters that the query may have.
    ///   - advice: A sentence that tells how to write what an unknown name is for; nil: a similar name is suggested.
    func allow(only names: [String], advice: (String) -> String? = { _ in nil }) throws(Problem) {
        var unknown: [String] = []
        for pair in pairs where !names.contains(pair.name) && !unknown.contains(pair.name) {
            unknown.append(pair.name)
            // A query with thousands of names does not produce a response with thousands of entries.
            if unknown.count == Refusals.mostEntries { break }
        }
        guard !unknown.isEmpty else { return }
        throw Problem(
            .unknownParameter,
            detail: "This operation has no query parameter \(unknown.map { "\"\($0)\"" }.joined(separator: ", ")).",
            entries: unknown.map { name in
                let hint = advice(name).map { " \($0)" } ?? SimilarNames.hint(for: name, among: names)
                return ProblemEntry(.parameter(name), .unknownParameter, "This operation has no such parameter.\(hint)")
            }
        )
    }
}

/// Reads typed values from a query and collects every error.
struct QueryReader {
    let query: Query
    private(set) var refusals: [ProblemEntry] = []

    init(_ query: Query) { self.query = query }

    mutating func refuse(_ name: String, _ rule: String, as code: ProblemCode = .invalidValue) {
        refusals.append(ProblemEntry(.parameter(name), code, rule))
    }

    /// The one value of a name; nil if it does not occur, or more than once.
    mutating func text(_ name: String) -> String? {
        let values = query.values(name)
        if values.count > 1 { refuse(name, "It may be given only once.") }
        return values.count == 1 ? values[0] : nil
    }

    /// A text that is not empty.
    mutating func name(_ name: String) -> String? {
        guard let text = text(name) else { return nil }
        if text.isEmpty { refuse(name, "It must not be empty.") }
        return text.isEmpty ? nil : text
    }

    mutating func bool(_ name: String, default standard: Bool) -> Bool {
        guard let text = text(name) else { return standard }
        switch text {
        case "true": return true
        case "false": return false
        default:
            refuse(name, "true or false is expected.")
            return standard
        }
    }

    /// A whole number within bounds.
    mutating func integer(_ name: String, in range: ClosedRange<Int>) -> Int? {
        guard let text = text(name) else { return nil }
        guard let number = Int(text), String(number) == text, range.contains(number) else {
            refuse(name, "A whole number from \(range.lowerBound) to \(range.upperBound) is expected.")
            return nil
        }
        return number
    }

    /// A number greater than 0 and not above a bound.
    mutating func positive(_ name: String, upTo bound: Double) -> Double? {
        guard let text = text(name) else { return nil }
        guard let number = JSONNumber(text)?.doubleValue, number > 0, number <= bound else {
            refuse(name, "A number greater than 0 is expected, \(Int(bound)) at most.")
            return nil
        }
        return number
    }

    mutating func word(_ name: String, of words: [String]) -> String? {
        guard let text = text(name) else { return nil }
        if words.contains(text) { return text }
        refuse(name, "One of \(words.joined(separator: ", ")) is expected.")
        return nil
    }

    func finish() throws(Problem) { if !refusals.isEmpty { throw Problem(refusing: refusals) } }
}

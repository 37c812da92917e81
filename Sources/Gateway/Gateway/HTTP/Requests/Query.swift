internal import JSONText

/// The query of a request: names and values in their order, decoded.
package struct Query: Sendable, Equatable {
    /// One `name=value`.
    struct Pair: Sendable, Equatable {
        /// The name.
        let name: String
        /// The value; empty without `=`.
        let value: String
    }

    /// All pairs.
    private(set) var pairs: [Pair] = []

    /// An empty query.
    init() {}

    /// The query of a request that has none.
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

    /// All values of a name, in order.
    func values(_ name: String) -> [String] { pairs.filter { $0.name == name }.map(\.value) }

    /// The pairs that meet a condition.
    func filtered(_ condition: (Pair) -> Bool) -> Query {
        var query = self
        query.pairs.removeAll { !condition($0) }
        return query
    }

    /// Removes all values of a name.
    mutating func remove(_ name: String) { pairs.removeAll { $0.name == name } }

    /// Whether a name occurs.
    func has(_ name: String) -> Bool { pairs.contains { $0.name == name } }

    /// Rejects unknown names with a 422 problem that has one entry for each, up to a limit.
    func allow(only names: [String]) throws(Problem) {
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
                let hint = SimilarNames.hint(for: name, among: names)
                return ProblemEntry(.parameter(name), .unknownParameter, "This operation has no such parameter.\(hint)")
            }
        )
    }
}

/// Reads typed values from a query and collects every error.
struct QueryReader {
    /// The query.
    let query: Query
    /// The errors so far.
    private(set) var refusals: [ProblemEntry] = []

    /// A reader.
    init(_ query: Query) { self.query = query }

    /// Adds an error.
    mutating func refuse(_ name: String, _ rule: String) {
        refusals.append(ProblemEntry(.parameter(name), .invalidValue, rule))
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

    /// `true` or `false`.
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

    /// One of some words.
    mutating func word(_ name: String, of words: [String]) -> String? {
        guard let text = text(name) else { return nil }
        if words.contains(text) { return text }
        refuse(name, "One of \(words.joined(separator: ", ")) is expected.")
        return nil
    }

    /// Throws the collected errors, if there are any.
    func finish() throws(Problem) {
        if !refusals.isEmpty { throw Problem(refusing: refusals) }
    }
}

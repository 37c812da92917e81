/// The query of a request: names and values in their order, decoded.
struct Query: Sendable, Equatable {
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

    /// Takes a raw query apart. Throws a 400 problem for a bad escape and for bytes that are not UTF-8.
    init(raw: String?) throws(Problem) {
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

    /// Takes out all values of a name.
    mutating func remove(_ name: String) { pairs.removeAll { $0.name == name } }

    /// Whether a name occurs.
    func has(_ name: String) -> Bool { pairs.contains { $0.name == name } }

    /// Refuses every name that is not among those given. Throws a 422 problem with one entry for each, up to a bound.
    func allow(only names: [String]) throws(Problem) {
        var unknown: [String] = []
        for pair in pairs where !names.contains(pair.name) && !unknown.contains(pair.name) {
            unknown.append(pair.name)
            // A query of thousands of names must not become an answer of thousands of entries.
            if unknown.count == Refusals.mostEntries { break }
        }
        guard !unknown.isEmpty else { return }
        throw Problem(
            .unknownParameter,
            detail: "This operation knows no query parameter \(unknown.map { "\"\($0)\"" }.joined(separator: ", ")).",
            entries: unknown.map {
                ProblemEntry(.parameter($0), .unknownParameter, "This operation knows no such parameter.")
            }
        )
    }
}

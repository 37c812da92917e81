/// Finds the operation of a request.
package struct Router: Sendable {
    /// The result of a search.
    package enum Match: Sendable {
        /// An operation, with the values of its path parameters.
        case operation(Operation, parameters: PathParameters)
        /// `OPTIONS` on a known path, with the methods that it allows.
        case options(allow: [String])
        /// A known path that does not allow the method.
        case methodNotAllowed(allow: [String])
        /// An unknown path.
        case notFound
    }

    /// A path with its operations. An object, because a search passes many of them.
    private final class Entry: Sendable {
        let pattern: PathPattern
        let operations: [Operation]

        init(pattern: PathPattern, operations: [Operation]) {
            self.pattern = pattern
            self.operations = operations
        }
    }

    /// The paths that a path may equal: those with its number of segments and its second segment, which names a resource.
    private struct Key: Hashable {
        let count: Int
        /// The second segment; nil for paths whose second segment is a parameter, and for shorter ones.
        let word: String?
    }

    /// The paths, the more specific first.
    private let entries: [Key: [Entry]]

    /// A router over a table.
    init(_ table: [Operation]) {
        var groups: [Key: [(pattern: PathPattern, operations: [Operation])]] = [:]
        for operation in table {
            let key = Key(count: operation.pattern.segments.count, word: operation.pattern.secondLiteral)
            var group = groups[key] ?? []
            if let index = group.firstIndex(where: { $0.pattern == operation.pattern }) {
                group[index].operations.append(operation)
            } else {
                group.append((operation.pattern, [operation]))
            }
            groups[key] = group
        }
        entries = groups.mapValues { group in
            group.sorted { $0.pattern.isMoreSpecific(than: $1.pattern) }.map(Entry.init)
        }
    }

    /// Finds the operation of a method and path. `HEAD` finds the operation of `GET`.
    package func find(method: String, path: RequestPath) -> Match {
        let count = path.segments.count
        if count > 1, let match = find(method, path, Key(count: count, word: path.segments[1])) { return match }
        return find(method, path, Key(count: count, word: nil)) ?? .notFound
    }

    private func find(_ method: String, _ path: RequestPath, _ key: Key) -> Match? {
        guard let group = entries[key] else { return nil }
        for entry in group {
            guard let parameters = entry.pattern.match(path) else { continue }
            let wanted = method == "HEAD" ? "GET" : method
            if let operation = entry.operations.first(where: { $0.method.rawValue == wanted }) {
                return .operation(operation, parameters: parameters)
            }
            let allow = Self.allow(entry.operations)
            return method == "OPTIONS" ? .options(allow: allow) : .methodNotAllowed(allow: allow)
        }
        return nil
    }

    /// The pattern that an unknown path probably means: it differs by a slash, by the version or in
    /// the spelling of a word.
    func suggestion(for path: RequestPath) -> String? {
        let words = path.segments.filter { !$0.isEmpty }
        for segments in [words, ["v1"] + words] {
            let patterns = entries.filter { $0.key.count == segments.count }.values.joined().map(\.pattern)
            if let known = patterns.filter({ $0.resembles(segments) }).map(\.description).min() { return known }
        }
        return nil
    }

    private static func allow(_ operations: [Operation]) -> [String] {
        var methods = operations.map(\.method.rawValue)
        if methods.contains("GET") { methods.append("HEAD") }
        return methods + ["OPTIONS"]
    }
}

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
        let segments = raw.withUTF8 { $0.count == 1 ? [] : Self.segments(of: $0.dropFirst()) }
        guard let segments else {
            throw Problem(.malformed, detail: "The path has a bad escape, or bytes that are not UTF-8.")
        }
        self.segments = segments
    }

    private static func segments(of bytes: Slice<UnsafeBufferPointer<UInt8>>) -> [String]? {
        var segments: [String] = []
        segments.reserveCapacity(8)
        var rest = bytes
        while true {
            let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            let text = UnsafeBufferPointer(rebasing: rest[..<end])
            guard let segment = PercentDecoding.decode(text, plusIsSpace: false) else { return nil }
            segments.append(segment)
            if end == rest.endIndex { return segments }
            rest = rest[(end + 1)...]
        }
    }
}

/// The values of the path parameters of a request, by name. They are few: searching them costs less than hashing.
package struct PathParameters: Sendable {
    /// The names, in the order of the path.
    private(set) var names: [String] = []
    /// Their values.
    private(set) var values: [String] = []

    /// Parameters from their names and values, in the order of the path.
    package init(names: [String] = [], values: [String] = []) {
        self.names = names
        self.values = values
    }

    /// The value of a name; nil if the path has no such parameter.
    package subscript(name: String) -> String? {
        names.firstIndex(of: name).map { values[$0] }
    }
}

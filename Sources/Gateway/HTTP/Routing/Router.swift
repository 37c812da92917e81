/// Finds the operation of a request.
struct Router: Sendable {
    /// The result of a search.
    enum Match: Sendable {
        /// An operation, with the values of its path parameters.
        case operation(Operation, parameters: [String: String])
        /// `OPTIONS` on a known path, with the methods that it allows.
        case options(allow: [String])
        /// A known path that does not allow the method.
        case methodNotAllowed(allow: [String])
        /// An unknown path.
        case notFound
    }

    /// A path with its operations.
    private struct Entry: Sendable {
        let pattern: PathPattern
        var operations: [Operation]
    }

    /// The paths by their number of segments, the more specific first.
    private let entries: [Int: [Entry]]

    /// A router over a table.
    init(_ table: [Operation]) {
        var entries: [Int: [Entry]] = [:]
        for operation in table {
            let count = operation.pattern.segments.count
            var group = entries[count] ?? []
            if let index = group.firstIndex(where: { $0.pattern == operation.pattern }) {
                group[index].operations.append(operation)
            } else {
                group.append(Entry(pattern: operation.pattern, operations: [operation]))
            }
            entries[count] = group
        }
        self.entries = entries.mapValues { group in
            group.sorted { $0.pattern.isMoreSpecific(than: $1.pattern) }
        }
    }

    /// Finds the operation of a method and path. `HEAD` is found where `GET` is.
    func find(method: String, path: RequestPath) -> Match {
        for entry in entries[path.segments.count] ?? [] {
            guard let parameters = entry.pattern.match(path) else { continue }
            let wanted = method == "HEAD" ? "GET" : method
            if let operation = entry.operations.first(where: { $0.method.rawValue == wanted }) {
                return .operation(operation, parameters: parameters)
            }
            let allow = Self.allow(entry.operations)
            return method == "OPTIONS" ? .options(allow: allow) : .methodNotAllowed(allow: allow)
        }
        return .notFound
    }

    private static func allow(_ operations: [Operation]) -> [String] {
        var methods = operations.map(\.method.rawValue)
        if methods.contains("GET") { methods.append("HEAD") }
        return methods + ["OPTIONS"]
    }
}

/// The segments of a request's path: split at `/` first, then each decoded once, so that `a%2Fb` is one segment.
struct RequestPath: Sendable, Equatable {
    /// The decoded segments; none for `/`.
    let segments: [String]

    /// Splits a raw path. Throws a 400 problem for a bad escape and for bytes that are not UTF-8.
    init(raw: String) throws(Problem) {
        guard raw.utf8.first == UInt8(ascii: "/") else {
            throw Problem(.malformed, detail: "The path does not begin with a slash.")
        }
        let rest = raw.dropFirst()
        if rest.isEmpty {
            segments = []
            return
        }
        var segments: [String] = []
        for part in rest.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let segment = PercentDecoding.decode(part, plusIsSpace: false) else {
                throw Problem(.malformed, detail: "The path has a bad escape, or bytes that are not UTF-8.")
            }
            segments.append(segment)
        }
        self.segments = segments
    }
}

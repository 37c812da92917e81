package struct Router: Sendable {
    package enum Match: Sendable {
        /// An operation, with the values of its path parameters.
        case operation(Operation, parameters: PathParameters)
        /// `OPTIONS` on a known path, with the methods that it allows.
        case options(allow: [String])
        /// A known path that does not allow the method.
        case methodNotAllowed(allow: [String])
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

    /// The paths, the more specific first. Behind the paths with a second segment are those whose second segment is a parameter.
    private let entries: [Key: [Entry]]

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
        var entries = groups.mapValues { group in
            group.sorted { $0.pattern.isMoreSpecific(than: $1.pattern) }.map(Entry.init)
        }
        for (key, group) in entries where key.word != nil {
            entries[key] = group + (entries[Key(count: key.count, word: nil)] ?? [])
        }
        self.entries = entries
    }

    package func operation(named name: String) -> Operation? {
        entries.values.joined().flatMap(\.operations).first { $0.name == name }
    }

    /// Finds the operation of a method and path. `HEAD` finds the operation of `GET`.
    package func find(method: String, path: RequestPath) -> Match {
        let count = path.segments.count
        let word = count > 1 ? path.segments[1] : nil
        let wanted = method == "HEAD" ? "GET" : method
        for entry in entries[Key(count: count, word: word)] ?? entries[Key(count: count, word: nil)] ?? [] {
            guard let parameters = entry.pattern.match(path) else { continue }
            for operation in entry.operations where operation.method.rawValue == wanted {
                return .operation(operation, parameters: parameters)
            }
            let allow = Self.allow(entry.operations)
            return method == "OPTIONS" ? .options(allow: allow) : .methodNotAllowed(allow: allow)
        }
        return .notFound
    }

    /// The pattern that an unknown path probably means: it differs by a slash, by the version or in
    /// the spelling of a word.
    func suggestion(for path: RequestPath) -> String? {
        let words = path.segments.filter { !$0.isEmpty }
        let hasVersion = words.count > 1 && words[0] == "v1"
        let otherVersion = hasVersion ? Array(words.dropFirst()) : ["v1"] + words
        for segments in [words, otherVersion] {
            let patterns = entries.filter { $0.key.count == segments.count }.values.joined().map(\.pattern)
            let similar = patterns.compactMap { pattern in
                pattern.differences(from: segments).map { (differences: $0, path: pattern.description) }
            }
            if let nearest = similar.min(by: <) { return nearest.path }
        }
        return nil
    }

    private static func allow(_ operations: [Operation]) -> [String] {
        var methods = operations.map(\.method.rawValue)
        if methods.contains("GET") { methods.append("HEAD") }
        return methods + ["OPTIONS"]
    }
}

/// The path of an operation as openapi.yaml writes it: `/v1/clients/{id}`.
package struct PathPattern: Sendable, Hashable, CustomStringConvertible {
    enum Segment: Sendable, Hashable {
        case literal(String)
        /// Any text except the empty one, as the parameter of this name.
        case parameter(String)

        var isParameter: Bool { if case .parameter = self { true } else { false } }
    }

    package let description: String
    /// The segments of the path; none for `/`.
    let segments: [Segment]
    /// The names of the parameters, in order.
    private let names: [String]
    /// The indices of the parameters among the segments.
    private let namePlaces: [Int]
    /// The literal segments. A path is compared with these first: most paths differ in one of the first literals.
    private let literals: [Literal]

    private struct Literal: Sendable, Hashable {
        let place: Int
        let text: String
    }

    init(_ path: String) {
        description = path
        segments = path.split(separator: "/").map { part in
            part.hasPrefix("{") && part.hasSuffix("}")
                ? .parameter(String(part.dropFirst().dropLast())) : .literal(String(part))
        }
        var (names, namePlaces, literals): ([String], [Int], [Literal]) = ([], [], [])
        for (place, segment) in segments.enumerated() {
            switch segment {
            case .literal(let text): literals.append(Literal(place: place, text: text))
            case .parameter(let name):
                names.append(name)
                namePlaces.append(place)
            }
        }
        (self.names, self.namePlaces, self.literals) = (names, namePlaces, literals)
    }

    /// The text of the second segment; nil if it is a parameter, or there is none.
    var secondLiteral: String? {
        guard segments.count > 1, case .literal(let text) = segments[1] else { return nil }
        return text
    }

    /// The parameters of a path that the pattern covers; nil for any other path.
    func match(_ path: RequestPath) -> PathParameters? {
        guard path.segments.count == segments.count else { return nil }
        for literal in literals where literal.text != path.segments[literal.place] { return nil }
        if names.isEmpty { return .empty }
        var values: [String] = []
        values.reserveCapacity(names.count)
        for place in namePlaces {
            let text = path.segments[place]
            if text.isEmpty { return nil }
            values.append(text)
        }
        return PathParameters(names: names, values: values)
    }

    /// The number of literals of the pattern that differ from the segment of another path in their place; nil if one
    /// of them is not similar to the segment.
    func differences(from others: [String]) -> Int? {
        guard others.count == segments.count else { return nil }
        var count = 0
        for literal in literals where literal.text != others[literal.place] {
            guard SimilarNames.suggestion(for: others[literal.place], among: [literal.text]) != nil else { return nil }
            count += 1
        }
        return count
    }

    /// Whether this pattern takes precedence over another one that covers the same path: the first literal decides.
    func isMoreSpecific(than other: PathPattern) -> Bool {
        for (mine, theirs) in zip(segments, other.segments) {
            switch (mine, theirs) {
            case (.literal, .parameter): return true
            case (.parameter, .literal): return false
            case (.literal, .literal), (.parameter, .parameter): continue
            }
        }
        return false
    }
}

/// One line of the route table: a method on a path, what may come of it, and who does it.
struct Route: Sendable {
    /// The methods that routes are written for; `HEAD` and `OPTIONS` need no route.
    enum Method: String, Sendable, Hashable {
        /// Reads.
        case get = "GET"
        /// Makes or does something.
        case post = "POST"
        /// Changes.
        case patch = "PATCH"
        /// Deletes.
        case delete = "DELETE"
    }

    /// Does what the route is for. Errors become problems in `ProblemDetails`.
    typealias Operation = @Sendable (Call) throws -> Reply

    /// The method.
    let method: Method
    /// The path.
    let pattern: RoutePattern
    /// The `operationId` in openapi.yaml.
    let name: String
    /// Every status that openapi.yaml documents for the operation.
    let statuses: Set<Int>
    /// The query parameters that the operation knows; nil: it passes over all of them.
    let query: [String]?
    /// The media types that the operation answers in; empty: it looks at `Accept` itself.
    let forms: [String]
    /// What is done.
    let operation: Operation

    /// A line.
    init(
        _ method: Method,
        _ path: String,
        _ name: String,
        _ statuses: Set<Int>,
        query: [String]? = [],
        forms: [String] = ["application/json"],
        _ operation: @escaping Operation
    ) {
        self.method = method
        pattern = RoutePattern(path)
        self.name = name
        self.statuses = statuses
        self.query = query
        self.forms = forms
        self.operation = operation
    }
}

/// The path of a route as openapi.yaml writes it: `/v1/clients/{id}`.
struct RoutePattern: Sendable, Hashable, CustomStringConvertible {
    /// One segment.
    enum Segment: Sendable, Hashable {
        /// Exactly this text.
        case literal(String)
        /// Anything but the empty string, under this name.
        case parameter(String)
    }

    /// The path as written.
    let description: String
    /// Its segments; none for `/`.
    let segments: [Segment]

    /// Reads a path.
    init(_ path: String) {
        description = path
        segments = path.split(separator: "/").map { part in
            part.hasPrefix("{") && part.hasSuffix("}")
                ? .parameter(String(part.dropFirst().dropLast())) : .literal(String(part))
        }
    }

    /// The parameters of a path that the pattern covers; nil for any other path.
    func match(_ path: RequestPath) -> [String: String]? {
        guard path.segments.count == segments.count else { return nil }
        var parameters: [String: String] = [:]
        for (segment, text) in zip(segments, path.segments) {
            switch segment {
            case .literal(let literal):
                if literal != text { return nil }
            case .parameter(let name):
                if text.isEmpty { return nil }
                parameters[name] = text
            }
        }
        return parameters
    }

    /// Whether this pattern says more than another one that covers the same path: the first literal decides.
    func isMoreSpecific(than other: RoutePattern) -> Bool {
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

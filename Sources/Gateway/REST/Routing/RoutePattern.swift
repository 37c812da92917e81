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

/// Finds the route of a request.
struct Router: Sendable {
    /// What was found.
    enum Finding: Sendable {
        /// A route, with the values of its path parameters.
        case route(Route, parameters: [String: String])
        /// `OPTIONS` on a path that exists, with the methods it knows.
        case options(allow: [String])
        /// The path exists, but not with this method.
        case methodNotAllowed(allow: [String])
        /// No such path.
        case notFound
    }

    private struct Place: Sendable {
        let pattern: RoutePattern
        var routes: [Route]
    }

    private let places: [Int: [Place]]

    /// A router over a table.
    init(_ table: [Route]) {
        var places: [Int: [Place]] = [:]
        for route in table {
            let count = route.pattern.segments.count
            var group = places[count] ?? []
            if let index = group.firstIndex(where: { $0.pattern == route.pattern }) {
                group[index].routes.append(route)
            } else {
                group.append(Place(pattern: route.pattern, routes: [route]))
            }
            places[count] = group
        }
        self.places = places.mapValues { group in
            group.sorted { $0.pattern.isMoreSpecific(than: $1.pattern) }
        }
    }

    /// Finds the route of a method and path. `HEAD` is found where `GET` is.
    func find(method: String, path: RequestPath) -> Finding {
        for place in places[path.segments.count] ?? [] {
            guard let parameters = place.pattern.match(path) else { continue }
            let wanted = method == "HEAD" ? "GET" : method
            if let route = place.routes.first(where: { $0.method.rawValue == wanted }) {
                return .route(route, parameters: parameters)
            }
            let allow = Self.allow(place.routes)
            return method == "OPTIONS" ? .options(allow: allow) : .methodNotAllowed(allow: allow)
        }
        return .notFound
    }

    private static func allow(_ routes: [Route]) -> [String] {
        var methods = routes.map(\.method.rawValue)
        if methods.contains("GET") { methods.append("HEAD") }
        return methods + ["OPTIONS"]
    }
}

/// The segments of a request's path: split at `/` first, then each decoded once, so that `a%2Fb` is one segment.
struct RequestPath: Sendable, Equatable {
    /// The decoded segments; none for `/`.
    let segments: [String]

    /// Takes a raw path apart. Throws a 400 problem for a bad escape and for bytes that are not UTF-8.
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

internal import JSONText
internal import MicroHTTPD

/// Requests to the REST operations beneath, in the name of the caller: with the rights, the limits and the problems that
/// the operations have.
struct MCPReading: Sendable {
    let services: Services
    let call: Call

    var feeds: [FeedConfiguration] { services.configuration.feeds.filter(services.permissions(call).sees) }

    /// The feeds whose values the caller may read.
    var readableFeeds: [FeedConfiguration] { services.configuration.feeds.filter(services.permissions(call).mayRead) }

    /// `GET /v1/feeds`.
    func listFeeds(_ query: [(String, String)]) async throws -> Response {
        try await perform("GET", "/v1/feeds", query, [:], FeedsResource(services: services).list)
    }

    /// `GET /v1/values`, with the values of a cursor excluded for some seconds.
    func read(_ query: [(String, String)], after cursor: String? = nil, wait: Int) async throws -> Response {
        let headers = Self.headers(after: cursor, wait: wait)
        return try await perform("GET", "/v1/values", query, headers) { call in
            let name = call.query.values("feed").first ?? ""
            guard feeds.contains(where: { $0.name == name }) else {
                let hint = SimilarNames.hint(for: name, among: feeds.map(\.name))
                throw Problem(.unknownFeed, detail: "There is no feed \"\(name)\".\(hint)")
            }
            return try await CurrentValuesResource(services: services).get(call)
        }
    }

    /// `GET /feeds/{feed}` or `GET /feeds/{feed}/{item}`; a 404 problem for any other URI.
    func read(_ uri: String, after cursor: String? = nil, wait: Int) async throws -> Response {
        let path = uri.hasPrefix(Self.scheme) ? "/feeds/" + uri.dropFirst(Self.scheme.count) : "/"
        let headers = Self.headers(after: cursor, wait: wait)
        return try await perform("GET", path, [], headers) { call in
            let segments = try RequestPath(raw: path).segments
            let feeds = FeedsResource(services: services)
            var call = call
            switch segments.count {
            case 2:
                call.parameters = PathParameters(names: ["feed"], values: [segments[1]])
                return try await feeds.all(call)
            case 3:
                call.parameters = PathParameters(names: ["feed", "item"], values: Array(segments[1...]))
                return try await feeds.item(call)
            default:
                throw Problem(
                    .unknownFeed,
                    detail: "A resource is \(Self.scheme){feed} or \(Self.scheme){feed}/{item}."
                )
            }
        }
    }

    /// `POST /v1/messages`.
    func send(_ message: JSONValue, to upstream: String?) async throws -> Response {
        let query = upstream.map { [("upstream", $0)] } ?? []
        let headers = ["Prefer": "wait=10", "Content-Type": "application/json"]
        return try await perform("POST", "/v1/messages", query, headers, body: Array(message.text.utf8)) { call in
            try services.permissions(call).check(.send)
            return .response(try await MessagesResource(services: services).sendToUpstream(call))
        }
    }

    /// The longest body of an operation, in bytes, which a result repeats.
    private static let mostBytes = 1 << 20

    /// The beginning of the URIs of resources.
    static let scheme = "feed://"

    static func uri(of feed: FeedConfiguration) -> String { scheme + PercentDecoding.encode(feed.name) }

    private static func headers(after cursor: String?, wait: Int) -> [String: String] {
        var headers = ["Prefer": "wait=\(wait)", "Accept": "application/json"]
        if let cursor { headers["If-None-Match"] = "W/\"\(cursor)\"" }
        return headers
    }

    private func perform(
        _ method: String,
        _ path: String,
        _ query: [(String, String)],
        _ headers: [String: String],
        body: [UInt8] = [],
        _ handler: Operation.WaitingHandler
    ) async throws -> Response {
        let pairs = query.map { "\($0)=\(PercentDecoding.encode($1))" }.joined(separator: "&")
        let request = HTTPRequest(
            method: method,
            rawPath: path,
            rawQuery: pairs.isEmpty ? nil : pairs,
            headers: HTTPFields(headers.map { HTTPField($0.key, $0.value) }),
            peer: call.request.peer
        )
        let record = CallRecord(request, requestID: call.requestID, since: services.clock())
        var inner = Call(record: record)
        inner.body = body
        inner.caller = call.caller
        let response = try await inner.response { call in
            var call = call
            call.query = try Query(raw: request.rawQuery)
            return try await handler(call)
        }
        guard response.body.count > Self.mostBytes else { return response }
        let problem = Problem(.invalidValue, detail: "The values exceed 1 MiB: select fewer items or fields.")
        return ProblemDetails.response(to: inner, for: problem)
    }
}

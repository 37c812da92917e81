/// One row of the operation table: all facts about a method on a path.
package final class Operation: Sendable {
    /// The methods of operations. `HEAD` follows from `GET`, `OPTIONS` from the path.
    package enum Method: String, Sendable, Hashable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case patch = "PATCH"
        case delete = "DELETE"
    }

    /// The credentials and the right that a caller needs; checked before any resource is looked up.
    enum Authorization: Sendable, Equatable {
        /// No credentials: the response is the same for every caller.
        case open
        /// Valid credentials. The handler checks the rights, which depend on the request.
        case authenticated
        /// Valid credentials, or none for data of public feeds. The handler checks the rights.
        case publicFeeds
        /// A right.
        case right(Right)
        /// A right on all upstreams: the response has data of each upstream.
        case rightOnAllUpstreams(Right)
    }

    /// The media types of successful responses.
    enum MediaTypes: Sendable, Equatable {
        /// JSON. A request whose `Accept` excludes it is rejected with 406 before the handler runs.
        case json
        /// The handler chooses one by `Accept`, or rejects the request with 406.
        case negotiated
        /// Independent of `Accept`; also for responses without a body.
        case fixed
    }

    /// The member of a cluster that performs a request. A gateway that runs alone performs all requests.
    package enum Placement: Sendable, Equatable {
        /// The member that receives the request.
        case receiver
        /// The member that receives the request, for an operation that creates a client or stream.
        case creator
        /// The member that has the client which the body names, or else the member that receives the request, for an
        /// operation that creates a subscription.
        case carrier
        /// The member that has the client, subscription or stream of the path.
        case owner
        /// The member that receives the request: it opens the prepared stream of the path, and owns it from then on.
        case opener
        /// The member that receives the request lists the resources of all members.
        case list(ListedResource)
    }

    /// The resources that `Placement.list` is about.
    package enum ListedResource: String, Sendable {
        case clients
        case subscriptions
        case streams
    }

    /// Performs the operation. `ProblemDetails` turns errors into responses.
    package typealias Handler = @Sendable (Call) throws -> OperationResult

    /// The method.
    package let method: Method
    /// The path.
    package let pattern: PathPattern
    /// The `operationId` in openapi.yaml.
    package let name: String
    /// The credentials and the right that a caller needs.
    let authorization: Authorization
    /// Whether a ticket is accepted in place of a key or token.
    let acceptsTickets: Bool
    /// Whether requests count against the rate limits.
    let isRateLimited: Bool
    /// Whether the operation serves monitoring, and is performed even when all connections are in use.
    let isOperational: Bool
    /// The query parameters of the operation; others are rejected. Nil: the query is ignored.
    package let query: [String]?
    /// The media types of successful responses.
    let mediaTypes: MediaTypes
    /// The member of a cluster that performs a request.
    package let placement: Placement
    /// The handler.
    package let handler: Handler

    private let ownStatuses: Set<Int>

    /// A row. `statuses` are those that the handler adds to the ones that follow from the other members.
    init(
        _ method: Method,
        _ path: String,
        _ name: String,
        _ authorization: Authorization,
        _ statuses: Set<Int>,
        query: [String]? = [],
        mediaTypes: MediaTypes = .json,
        tickets: Bool = false,
        rateLimited: Bool = true,
        operational: Bool = false,
        on placement: Placement = .receiver,
        _ handler: @escaping Handler
    ) {
        self.method = method
        pattern = PathPattern(path)
        self.name = name
        self.authorization = authorization
        acceptsTickets = tickets
        isRateLimited = rateLimited
        isOperational = operational
        self.query = query
        self.mediaTypes = mediaTypes
        self.placement = placement
        ownStatuses = statuses
        self.handler = handler
    }

    /// Whether it can create, change or remove a client, subscription or stream.
    package var changesResources: Bool {
        switch placement {
        case .creator, .carrier: true
        case .owner: method != .get
        case .receiver, .opener, .list: false
        }
    }

    /// Whether the operation reports the health of the gateway.
    var isHealthCheck: Bool { pattern.segments.first == .literal("health") }

    /// Every status that openapi.yaml documents for the operation.
    var statuses: Set<Int> {
        var statuses = ownStatuses.union([400, 503])
        if authorization != .open { statuses.formUnion([401, 403]) }
        if isRateLimited { statuses.insert(429) }
        if query != nil { statuses.insert(422) }
        if mediaTypes != .fixed { statuses.insert(406) }
        switch method {
        case .post: statuses.formUnion([409, 413, 415])
        case .patch: statuses.formUnion([409, 412, 413, 415])
        case .put: statuses.formUnion([413, 415])
        case .get, .delete: break
        }
        return statuses
    }
}

/// The path of an operation as openapi.yaml writes it: `/v1/clients/{id}`.
package struct PathPattern: Sendable, Hashable, CustomStringConvertible {
    /// One segment.
    enum Segment: Sendable, Hashable {
        /// Exactly this text.
        case literal(String)
        /// Any text except the empty one, as the parameter of this name.
        case parameter(String)
    }

    /// The path as written.
    package let description: String
    /// Its segments; none for `/`.
    let segments: [Segment]
    /// The names of its parameters, in order.
    private let names: [String]
    /// The indices of the parameters among the segments.
    private let namePlaces: [Int]
    /// The literal segments. A path is compared with these first: most paths differ in one of the first literals.
    private let literals: [Literal]

    private struct Literal: Sendable, Hashable {
        let place: Int
        let text: String
    }

    /// Reads a path.
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
        if names.isEmpty { return PathParameters() }
        var values: [String] = []
        values.reserveCapacity(names.count)
        for place in namePlaces {
            let text = path.segments[place]
            if text.isEmpty { return nil }
            values.append(text)
        }
        return PathParameters(names: names, values: values)
    }

    /// Whether each literal of the pattern equals the segment of another path in its place, or is similar to it.
    func resembles(_ others: [String]) -> Bool {
        guard others.count == segments.count else { return false }
        return zip(segments, others).allSatisfy { segment, text in
            guard case .literal(let literal) = segment else { return true }
            return literal == text || SimilarNames.suggestion(for: text, among: [literal]) != nil
        }
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

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
        case right(Right)
        /// A right on all upstreams: the response has data of each upstream.
        case rightOnAllUpstreams(Right)
    }

    enum MediaTypes: Sendable, Equatable {
        /// JSON. A request whose `Accept` excludes it is rejected with 406 before the handler runs.
        case json
        /// The handler chooses a media type by `Accept`, or rejects the request with 406.
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

    /// The trace of a successful request in the log of a cluster, beside the specification of the resource.
    package enum Trace: Sendable, Equatable {
        case none
        /// The body, which is applied to the client when another member recreates it.
        case body
        /// A prepared stream that this member owns: the request had no effect if another member has opened it before.
        case ownedStream
        /// No prepared stream any more: the request had no effect if another member has opened it before.
        case noStream
    }

    /// Performs the operation. `ProblemDetails` turns errors into responses.
    package typealias Handler = @Sendable (Call) throws -> OperationResult
    /// Performs an operation that may have to wait.
    package typealias WaitingHandler = @Sendable (Call) async throws -> OperationResult

    package let method: Method
    package let pattern: PathPattern
    /// The `operationId` in openapi.yaml.
    package let name: String
    let authorization: Authorization
    /// Whether a ticket is accepted in place of a key or token.
    let acceptsTickets: Bool
    /// Whether requests count against the rate limits.
    let isRateLimited: Bool
    /// Whether the operation serves monitoring, and is performed even when all connections are in use.
    let isOperational: Bool
    /// The query parameters of the operation; others are rejected. Nil: the query is ignored.
    package let query: [String]?
    let mediaTypes: MediaTypes
    package let placement: Placement
    package let trace: Trace
    /// Whether the operation can create, change or remove a client, subscription or stream.
    package let changesResources: Bool
    package let handler: Handler

    let takesBody: Bool
    /// Whether the operation reports the health of the gateway.
    let isHealthCheck: Bool
    private let ownStatuses: Set<Int>

    /// A row. `statuses` are those that the handler adds to the ones that follow from the other members.
    ///
    /// - Parameters:
    ///   - mediaTypes: Nil: `fixed` for `DELETE`, `negotiated` where tickets are accepted, else `json`.
    ///   - placement: Nil: `owner` for a path with an `{id}`, else `receiver`.
    init(
        _ method: Method,
        _ path: String,
        _ name: String,
        _ authorization: Authorization,
        _ statuses: Set<Int>,
        query: [String]? = [],
        mediaTypes: MediaTypes? = nil,
        tickets: Bool = false,
        rateLimited: Bool = true,
        operational: Bool = false,
        on placement: Placement? = nil,
        leaving trace: Trace = .none,
        _ handler: @escaping Handler
    ) {
        self.method = method
        takesBody = method != .get && method != .delete
        pattern = PathPattern(path)
        isHealthCheck = pattern.segments.first == .literal("health")
        self.name = name
        self.authorization = authorization
        acceptsTickets = tickets
        isRateLimited = rateLimited
        isOperational = operational
        self.query = query
        self.mediaTypes = mediaTypes ?? (method == .delete ? .fixed : tickets ? .negotiated : .json)
        let placement = placement ?? (pattern.segments.contains(.parameter("id")) ? .owner : .receiver)
        (self.placement, self.trace) = (placement, trace)
        changesResources =
            switch placement {
            case .creator, .carrier: true
            case .owner: method != .get
            case .receiver, .opener, .list: false
            }
        ownStatuses = statuses
        self.handler = handler
    }

    /// How to write what a query parameter that the operation does not have is for; nil if that is not known.
    func advice(on parameter: String) -> String? {
        if let advice = PreferHeader.advice(on: parameter) { return advice }
        guard pattern.segments.first == .literal("feeds") else { return nil }
        if ValuesQuery.parameters.contains(parameter) {
            return "GET /v1/values and GET /v1/stream take it, with feed=NAME."
        }
        return StreamQuery.settings.contains(parameter) ? "GET /v1/stream takes it, with feed=NAME." : nil
    }

    /// Every status that openapi.yaml documents for the operation.
    var statuses: Set<Int> {
        var statuses = ownStatuses.union([400, 503])
        if authorization != .open { statuses.formUnion([401, 403]) }
        if isRateLimited { statuses.insert(429) }
        if query != nil { statuses.insert(422) }
        if pattern.segments.contains(where: \.isParameter) { statuses.insert(404) }
        if mediaTypes != .fixed { statuses.insert(406) }
        switch method {
        case .post: statuses.formUnion([409, 413, 415])
        // Only clients, subscriptions and streams have a state with which a patch can conflict.
        case .patch: statuses.formUnion(placement == .owner ? [409, 412, 413, 415] : [412, 413, 415])
        case .put: statuses.formUnion([413, 415])
        case .get where ownStatuses.contains(304): statuses.insert(412)
        case .get, .delete: break
        }
        return statuses
    }
}

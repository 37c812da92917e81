/// A request that one member forwards to the owner of its resource, with everything that the handler needs.
package struct ForwardedRequest: Sendable, Equatable {
    /// The caller, authenticated by the member that received the request.
    package struct Caller: Sendable, Equatable {
        /// The identity; nil without authentication.
        package var identity: String?
        /// The permitted operations, and the patterns of upstreams and items.
        package var operations: [String]
        package var upstreams: [String]
        package var items: [String]
        /// The patterns of data adapters; nil: those that follow from the items.
        package var dataAdapters: [String]?
        /// The patterns of feeds; nil: any data.
        package var feeds: [String]?
        /// The quotas; nil: none.
        package var maxSubscriptions: Int?
        package var maxItems: Int?
        /// The most open streams, and the most requests a second; nil: no limit of its own.
        package var streams: Int?
        package var rate: Double?
        /// The digest of the key that has verified the token of the caller; nil: none.
        package var verifiedBy: [UInt8]?

        /// A caller.
        package init(
            identity: String?,
            operations: [String] = [],
            upstreams: [String] = [],
            items: [String] = []
        ) {
            self.identity = identity
            self.operations = operations
            self.upstreams = upstreams
            self.items = items
        }
    }

    /// The method, the path and the query as they were sent.
    package var method: String
    package var path: String
    package var query: String?
    /// The headers that handlers read, in order.
    package var headers: [(name: String, value: String)]
    /// The body.
    package var body: [UInt8]
    /// The id of the request, and the address of the peer.
    package var requestID: String
    package var peer: String
    package var caller: Caller
    /// Whether the resource is read as an entry of a list.
    package var isListing: Bool

    /// A request.
    package init(
        method: String,
        path: String,
        query: String? = nil,
        headers: [(name: String, value: String)] = [],
        body: [UInt8] = [],
        requestID: String,
        peer: String,
        caller: Caller,
        isListing: Bool = false
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        self.requestID = requestID
        self.peer = peer
        self.caller = caller
        self.isListing = isListing
    }

    package static func == (left: ForwardedRequest, right: ForwardedRequest) -> Bool {
        encoded([left]) == encoded([right])
    }
}

/// The response to a forwarded request.
package struct ForwardedResponse: Sendable, Equatable {
    /// The status; 421: the member does not have the resource.
    package var status: Int
    /// The code of the problem that it reports; nil: none.
    package var problem: String?
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]

    /// The status of a member that does not have the resource (RFC 9110 section 15.5.20).
    package static let misdirected = 421

    /// A response.
    package init(
        status: Int,
        problem: String? = nil,
        headers: [(name: String, value: String)] = [],
        body: [UInt8] = []
    ) {
        self.status = status
        self.problem = problem
        self.headers = headers
        self.body = body
    }

    package static func == (left: ForwardedResponse, right: ForwardedResponse) -> Bool {
        encoded([left]) == encoded([right])
    }
}

extension ForwardedRequest {
    /// The bytes of one message with some requests.
    package static func encoded(_ requests: [ForwardedRequest]) -> [UInt8] {
        var writer = ByteWriter.stating()
        writer.list(requests) { writer, request in
            writer.string(request.method)
            writer.string(request.path)
            writer.optional(request.query) { $0.string($1) }
            writer.headers(request.headers)
            writer.blob(request.body)
            writer.string(request.requestID)
            writer.string(request.peer)
            writer.caller(request.caller)
            writer.bool(request.isListing)
        }
        return writer.bytes
    }

    /// Reads a message with requests.
    package static func decoded(_ bytes: [UInt8]) throws(CodingError) -> [ForwardedRequest] {
        var reader = try ByteReader.stating(bytes)
        let requests = try reader.list { reader throws(CodingError) in try reader.forwardedRequest() }
        try reader.finish()
        return requests
    }
}

extension ForwardedResponse {
    /// The bytes of one message with some responses.
    package static func encoded(_ responses: [ForwardedResponse]) -> [UInt8] {
        var writer = ByteWriter.stating()
        writer.list(responses) { writer, response in
            writer.signed(response.status)
            writer.optional(response.problem) { $0.string($1) }
            writer.headers(response.headers)
            writer.blob(response.body)
        }
        return writer.bytes
    }

    /// Reads a message with responses.
    package static func decoded(_ bytes: [UInt8]) throws(CodingError) -> [ForwardedResponse] {
        var reader = try ByteReader.stating(bytes)
        let responses = try reader.list { reader throws(CodingError) in
            var response = ForwardedResponse(status: try reader.signed())
            response.problem = try reader.optionalString()
            response.headers = try reader.headers()
            response.body = Array(try reader.blob())
            guard (200...599).contains(response.status) else { throw CodingError.malformed }
            return response
        }
        try reader.finish()
        return responses
    }
}

extension ByteWriter {
    mutating func caller(_ caller: ForwardedRequest.Caller) {
        optional(caller.identity) { $0.string($1) }
        for words in [caller.operations, caller.upstreams, caller.items] { list(words) { $0.string($1) } }
        for words in [caller.dataAdapters, caller.feeds] { optional(words) { $0.list($1) { $0.string($1) } } }
        for limit in [caller.maxSubscriptions, caller.maxItems, caller.streams] {
            optional(limit) { $0.signed($1) }
        }
        optional(caller.rate) { $0.double($1) }
        optional(caller.verifiedBy) { $0.blob($1) }
    }

    fileprivate mutating func headers(_ headers: [(name: String, value: String)]) {
        list(headers) { writer, header in
            writer.string(header.name)
            writer.string(header.value)
        }
    }
}

extension ByteReader {
    mutating func caller() throws(CodingError) -> ForwardedRequest.Caller {
        var caller = ForwardedRequest.Caller(
            identity: try optionalString(),
            operations: try strings(),
            upstreams: try strings(),
            items: try strings()
        )
        caller.dataAdapters = try optional { reader throws(CodingError) in try reader.strings() }
        caller.feeds = try optional { reader throws(CodingError) in try reader.strings() }
        caller.maxSubscriptions = try optionalSigned()
        caller.maxItems = try optionalSigned()
        caller.streams = try optionalSigned()
        caller.rate = try optional { reader throws(CodingError) in try reader.double() }
        caller.verifiedBy = try optional { reader throws(CodingError) in Array(try reader.blob()) }
        return caller
    }

    fileprivate mutating func headers() throws(CodingError) -> [(name: String, value: String)] {
        try list { reader throws(CodingError) in (try reader.string(), try reader.string()) }
    }

    fileprivate mutating func forwardedRequest() throws(CodingError) -> ForwardedRequest {
        var request = ForwardedRequest(
            method: try string(),
            path: try string(),
            query: try optionalString(),
            headers: try headers(),
            body: Array(try blob()),
            requestID: try string(),
            peer: try string(),
            caller: try caller()
        )
        request.isListing = try bool()
        return request
    }
}

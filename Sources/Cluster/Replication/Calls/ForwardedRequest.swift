package import Changes

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

        package init(identity: String?, operations: [String] = [], upstreams: [String] = [], items: [String] = []) {
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
    package var body: [UInt8]
    /// The id of the request, and the address of the peer.
    package var requestID: String
    package var peer: String
    package var caller: Caller
    /// Whether the resource is read as an entry of a list.
    package var isListing: Bool

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
        Wire.forwardedRequest.bytes(left) == Wire.forwardedRequest.bytes(right)
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

extension ForwardedResponse {
    /// The bytes of one message with some responses.
    package static func encoded(_ responses: [ForwardedResponse]) -> [UInt8] {
        Wire<[ForwardedResponse]>.list(.forwardedResponse).stating().bytes(responses)
    }

    /// Reads a message with responses.
    package static func decoded(_ bytes: [UInt8]) throws(CodingError) -> [ForwardedResponse] {
        try Wire<[ForwardedResponse]>.list(.forwardedResponse).stating().value(bytes)
    }
}

extension Wire<ForwardedRequest> {
    fileprivate static let forwardedRequest = Wire(
        ForwardedRequest.init,
        (\.method, .string),
        (\.path, .string),
        (\.query, .optional(.string)),
        (\.headers, .list(.header)),
        (\.body, .blob),
        (\.requestID, .string),
        (\.peer, .string),
        (\.caller, .caller),
        (\.isListing, .bool)
    )
}

extension Wire<ForwardedResponse> {
    fileprivate static let forwardedResponse = Wire(
        { status, problem, headers, body throws(CodingError) in
            guard (200...599).contains(status) else { throw .malformed }
            return ForwardedResponse(status: status, problem: problem, headers: headers, body: body)
        },
        (\.status, .signed),
        (\.problem, .optional(.string)),
        (\.headers, .list(.header)),
        (\.body, .blob)
    )
}

extension Wire<(name: String, value: String)> {
    fileprivate static let header = Wire({ ($0, $1) }, (\.name, .string), (\.value, .string))
}

extension ForwardedRequest.Caller {
    /// The bytes of a caller by itself.
    package var bytes: [UInt8] { Wire<ForwardedRequest.Caller>.caller.stating().bytes(self) }

    /// Reads a caller.
    package init(_ bytes: [UInt8]) throws(CodingError) {
        self = try Wire<ForwardedRequest.Caller>.caller.stating().value(bytes)
    }
}

extension Wire<ForwardedRequest.Caller> {
    static let caller = Wire(
        ForwardedRequest.Caller(identity: nil),
        [
            Field(\.identity, .optional(.string)),
            Field(\.operations, .list(.string)),
            Field(\.upstreams, .list(.string)),
            Field(\.items, .list(.string)),
            Field(\.dataAdapters, .optional(.list(.string))),
            Field(\.feeds, .optional(.list(.string))),
            Field(\.maxSubscriptions, .optional(.signed)),
            Field(\.maxItems, .optional(.signed)),
            Field(\.streams, .optional(.signed)),
            Field(\.rate, .optional(.double)),
            Field(\.verifiedBy, .optional(.blob)),
        ]
    )
}

/// A message from one member to another.
package enum MemberCall: Sendable, Equatable {
    /// Perform requests of a member, and reply with their responses. The number names the call in `cancel`. A call that
    /// arrives after the removal of its member is void: the clients got another response long ago. A recipient that has not
    /// applied the log up to the position of the member may not know a resource that exists.
    case perform([ForwardedRequest], number: UInt64, member: UInt64, position: UInt64)
    /// The client of a call's requests has left: their responses are not needed.
    case cancel(UInt64)
    /// Reply with how long ago the last streams of the recipient that carried some topics ceased to carry them.
    case lastReads([TopicID])

    /// The bytes that are sent.
    package var bytes: [UInt8] { Wire<MemberCall>.call.stating().bytes(self) }

    /// Reads a message.
    package init(_ bytes: [UInt8]) throws(CodingError) { self = try Wire<MemberCall>.call.stating().value(bytes) }

    /// The reply to `lastReads`: milliseconds in the order of the topics, 0 while a stream carries the topic; nil: none has.
    package static func reply(_ ages: [UInt64?]) -> [UInt8] {
        Wire<[UInt64?]>.list(.optional(.varint)).stating().bytes(ages)
    }

    /// Reads the reply to `lastReads`.
    package static func ages(_ reply: [UInt8]) throws(CodingError) -> [UInt64?] {
        try Wire<[UInt64?]>.list(.optional(.varint)).stating().value(reply)
    }
}

extension Wire<TopicID> {
    fileprivate static let topicID = Wire(cases: [
        Case(1, .client, make: { .client($0) }) { if case .client(let id) = $0 { id } else { nil } },
        Case(2, .subscription, make: { .subscription($0) }) { if case .subscription(let id) = $0 { id } else { nil } },
    ])
}

extension Wire<MemberCall> {
    fileprivate static let call = Wire(cases: [
        Case(
            1,
            .fixed64,
            .fixed64,
            .fixed64,
            .list(.forwardedRequest).stating(),
            make: { .perform($3, number: $0, member: $1, position: $2) }
        ) {
            if case .perform(let requests, let number, let member, let position) = $0 {
                (number, member, position, requests)
            } else {
                nil
            }
        },
        Case(2, .fixed64, make: { .cancel($0) }) { if case .cancel(let number) = $0 { number } else { nil } },
        Case(3, .list(.topicID), make: { .lastReads($0) }) {
            if case .lastReads(let topics) = $0 { topics } else { nil }
        },
    ])
}

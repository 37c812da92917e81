internal import Changes
internal import Gateway
internal import JSONText
internal import MicroHTTPD
internal import Replication

/// A request that one member forwards to the owner of its resource, with everything that the handler needs.
struct ForwardedRequest: Sendable {
    /// The request as it was sent, without its body, and with the headers that handlers read.
    var http: HTTPRequest
    var body: [UInt8] = []
    var requestID: String
    /// The caller, authenticated by the member that received the request.
    var caller: Caller
    /// Whether the resource is read as an entry of a list.
    var isListing = false

    fileprivate static let wire = Wire<Self>(
        Self(http: HTTPRequest(method: "", rawPath: ""), requestID: "", caller: Caller()),
        [
            Field(\.http.method, .string),
            Field(\.http.rawPath, .string),
            Field(\.http.rawQuery, .optional(.string)),
            Field(\.http.headers, .headers),
            Field(\.body, .blob),
            Field(\.requestID, .string),
            Field(\.http.peer.host, .string),
            Field(\.caller, .caller),
            Field(\.isListing, .bool),
        ]
    )
}

/// A message from one member to another.
enum MemberCall: Sendable {
    /// Perform requests of a member, and reply with their responses. The number names the call in `cancel` and `endWaits`. A call
    /// that arrives after the removal of its member is void: the clients got another response long ago. A recipient that has
    /// not applied the log up to the position of the member may not know a resource that exists.
    case perform([ForwardedRequest], number: UInt64, member: UInt64, position: UInt64)
    /// The client of a call's requests has left: their responses are not needed.
    case cancel(UInt64)
    /// The member of a call stops: its requests get their responses as if the time of their wait had ended. A recipient that does
    /// not know the message goes on.
    case endWaits(UInt64)
    /// Reply with how long ago the last streams of the recipient that carried some topics ceased to carry them.
    case lastReads([TopicID])

    var bytes: [UInt8] { Self.wire.bytes(self) }

    init(_ bytes: [UInt8]) throws(CodingError) { self = try Self.wire.value(bytes) }

    private static let wire = Wire<Self>(cases: [
        Case(
            1,
            .fixed64,
            .fixed64,
            .fixed64,
            .list(ForwardedRequest.wire).stating(),
            make: { .perform($3, number: $0, member: $1, position: $2) }
        ) {
            if case .perform(let requests, let number, let member, let position) = $0 {
                (number, member, position, requests)
            } else {
                nil
            }
        },
        Case(2, .fixed64, make: Self.cancel) { if case .cancel(let number) = $0 { number } else { nil } },
        Case(3, .list(.topicID), make: Self.lastReads) { if case .lastReads(let topics) = $0 { topics } else { nil } },
        Case(4, .fixed64, make: Self.endWaits) { if case .endWaits(let number) = $0 { number } else { nil } },
    ]).stating()
}

extension Wire<TopicID> {
    fileprivate static let topicID = Wire(cases: [
        Case(1, .client, make: Value.client) { if case .client(let id) = $0 { id } else { nil } },
        Case(2, .subscription, make: Value.subscription) { if case .subscription(let id) = $0 { id } else { nil } },
    ])
}

extension Wire<[UInt64?]> {
    /// The reply to `lastReads`: milliseconds in the order of the topics, 0 while a stream carries the topic; nil: none has.
    static let ages = Wire.list(.optional(.varint)).stating()
}

extension Wire<[Response]> {
    /// The reply to requests.
    static let responses = Wire.list(.response).stating()
}

extension Wire<Response> {
    fileprivate static let response = Wire(
        { (status: Int, problem: String?, headers: HTTPFields, body: [UInt8]) throws(CodingError) in
            guard (200...599).contains(status) else { throw .malformed }
            var response = Response(status: status)
            response.headers = headers
            if !body.isEmpty { response.body = .bytes(body) }
            response.problem = problem.flatMap(ProblemCode.init(rawValue:))
            return response
        },
        (\.status, .signed),
        ({ @Sendable (response: Response) in response.problem?.rawValue }, .optional(.string)),
        (\.headers, .headers),
        (\.bytes, .blob)
    )
}

extension Response {
    /// The status of a member that does not have the resource (RFC 9110 section 15.5.20).
    static let misdirected = 421

    var bytes: [UInt8] {
        switch body {
        case .empty: []
        case .bytes(let bytes): bytes
        case .shared(let bytes): Array(bytes.bytes)
        // The other member uses only the number of these bytes.
        case .omitted(let count): Array(repeating: 0, count: count ?? 0)
        }
    }
}

extension OperationResult {
    /// The result of a member that does not have the resource.
    static let misdirected = OperationResult.response(Response(status: Response.misdirected))

    var isMisdirected: Bool {
        if case .response(let response) = self { response.status == Response.misdirected } else { false }
    }
}

extension Operation {
    /// The id of the resource whose owner performs a request; nil: there is none.
    func resource(of call: Call) -> String? {
        switch placement {
        case .owner: call.parameters["id"]
        // The handler checks the body.
        case .carrier: (try? JSONValue(parsing: call.body))?.object?["client"]?.string
        case .receiver, .creator, .opener, .list: nil
        }
    }

    /// Whether a request may name sources of a stream besides the resource of the request.
    var namesSources: Bool {
        switch placement {
        case .receiver: method == .get
        case .creator, .opener: true
        case .owner: trace == .ownedStream
        case .carrier, .list: false
        }
    }
}

extension Wire<HTTPFields> {
    fileprivate static let headers = Wire<[HTTPField]>.list(.header).map(\.lines) { HTTPFields($0) }
}

extension Wire<HTTPField> {
    fileprivate static let header = Wire({ HTTPField($0, $1) }, (\.name, .string), (\.value, .string))
}

extension Wire<Caller> {
    /// A caller without the expiry of its rights.
    static let caller = Wire(
        Caller(rights: .none),
        [
            Field(\.identity, .optional(.string)),
            Field(\.rights.operations, .operations),
            Field(\.rights.upstreams, .list(.pattern)),
            Field(\.rights.items, .list(.pattern)),
            Field(\.rights.dataAdapters, .optional(.list(.pattern))),
            Field(\.rights.feeds, .optional(.list(.pattern))),
            Field(\.rights.maxSubscriptions, .optional(.signed)),
            Field(\.rights.maxItems, .optional(.signed)),
            Field(\.rights.streams, .optional(.signed)),
            Field(\.rights.rate, .optional(.double)),
            Field(\.verifiedBy, .optional(.blob)),
        ]
    )
}

extension Wire<Set<Right>> {
    /// The names of operations; unknown ones are skipped.
    fileprivate static let operations = Wire<[String]>.list(.string).map { (operations: Set<Right>) in
        operations.map(\.rawValue).sorted()
    } from: {
        Set($0.compactMap(Right.init(rawValue:)))
    }
}

extension Wire<WildcardPattern> {
    fileprivate static let pattern = Wire<String>.string.map(\.description) { WildcardPattern($0) }
}

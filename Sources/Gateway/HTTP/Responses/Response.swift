internal import JSONText
internal import MicroHTTPD

/// A complete response of an operation, before it gets what all responses carry.
struct Response: Sendable {
    /// The status.
    var status: Int
    /// Headers beside those that all responses carry.
    var headers = HTTPFields()
    /// The body.
    var body: HTTPResponse.Body = .empty
    /// What the response complains about, for the figures; nil: nothing.
    var problem: ProblemCode?

    /// A response without a body.
    init(status: Int) { self.status = status }

    /// A response with a body of a media type.
    init(status: Int, mediaType: String, body: [UInt8]) {
        self.status = status
        headers.append("Content-Type", mediaType)
        self.body = .bytes(body)
    }

    /// A response with a JSON body.
    static func json(_ status: Int = 200, _ write: (inout JSONBytes) -> Void) -> Response {
        var json = JSONBytes()
        write(&json)
        return Response(status: status, mediaType: "application/json", body: json.bytes)
    }

    /// The same with one more header.
    func with(_ name: String, _ value: String) -> Response {
        var response = self
        response.headers.append(name, value)
        return response
    }

    /// The same, telling that `Prefer: wait` was honoured.
    func waited(_ seconds: Int) -> Response { with("Preference-Applied", "wait=\(seconds)") }

    /// The same with its tag, or 304 where the caller has it already.
    func tagged(_ tag: EntityTag, ifNoneMatch: String?) -> Response {
        if tag.matches(ifNoneMatch: ifNoneMatch) {
            // The body is not sent; it is there so that its length is told, as of the response with 200.
            var response = Response(status: 304).with("ETag", tag.description).with("Cache-Control", "no-cache")
            response.body = body
            return response
        }
        return with("ETag", tag.description).with("Cache-Control", "no-cache")
    }

    /// The response for the front end.
    var httpResponse: HTTPResponse { HTTPResponse(status: status, headers: headers, body: body) }
}

extension Response {
    /// The tag over the bytes of the body.
    private var bodyTag: EntityTag {
        switch body {
        case .bytes(let bytes): EntityTag(of: bytes)
        case .empty, .shared: EntityTag(of: [])
        }
    }

    /// The same with a tag over its body, or 304 where the caller has it already.
    func tagged(ifNoneMatch: String?) -> Response { tagged(bodyTag, ifNoneMatch: ifNoneMatch) }

    /// Refuses an `If-Match` that does not name the tag of this representation.
    func check(ifMatch: String?) throws(Problem) { try bodyTag.check(ifMatch: ifMatch) }
}

extension EntityTag {
    /// Refuses an `If-Match` that does not name this tag.
    func check(ifMatch: String?) throws(Problem) {
        if matches(ifMatch: ifMatch) { return }
        var problem = Problem(.preconditionFailed, detail: "The tag is now \(description).")
        problem.headers.append("ETag", description)
        throw problem
    }
}

/// The way in which an operation answers later: exactly once, from any thread; further answers are passed over.
struct ResponseSender: Sendable {
    private let send: @Sendable (Response) -> Void

    /// A port.
    init(_ send: @escaping @Sendable (Response) -> Void) { self.send = send }

    /// Answers.
    func response(_ response: Response) { send(response) }
}

internal import JSONText
package import MicroHTTPD
internal import Primitives
internal import StreamIO

/// The response of an operation, without the headers that all responses have.
package struct Response: Sendable {
    package var status: Int
    /// Headers beside those that all responses have.
    package var headers: HTTPFields
    package var body: HTTPResponse.Body
    /// The code of the problem that the response reports, for the metrics; nil: none.
    package var problem: ProblemCode?
    /// The error behind an `internal` problem, for the log of this process; nil: none, or it occurred
    /// in another member.
    var unexpectedError: (any Error)?

    package init(status: Int) {
        self.status = status
        headers = HTTPFields()
        body = .empty
    }

    package init(status: Int, mediaType: String, body: [UInt8]) {
        self.status = status
        headers = HTTPFields()
        headers.append("Content-Type", mediaType)
        self.body = .bytes(body)
    }

    /// A response with a JSON body, which gets a newline at its end.
    init(status: Int = 200, json: consuming JSONBytes, mediaType: String = "application/json") {
        json.newline()
        self.init(status: status, mediaType: mediaType, body: json.bytes)
    }

    static func json(_ status: Int = 200, _ write: (inout JSONBytes) -> Void) -> Response {
        var json = JSONBytes(capacity: usualLength)
        write(&json)
        return Response(status: status, json: json)
    }

    static func object(_ status: Int = 200, _ writeMembers: (inout JSONBytes) -> Void) -> Response {
        json(status) { json in
            json.beginObject()
            writeMembers(&json)
            json.endObject()
        }
    }

    /// The length that most JSON bodies do not exceed, in bytes.
    static let usualLength = 512

    /// A copy with one more header.
    package consuming func with(_ name: String, _ value: String) -> Response {
        headers.append(name, value)
        return self
    }

    /// A copy that confirms `Prefer: wait`.
    package consuming func waited(_ seconds: Int) -> Response { with("Preference-Applied", "wait=\(seconds)") }

    /// A copy with an `ETag`, or 304 if the client knows the representation with that tag.
    package consuming func tagged(_ tag: EntityTag, isKnown: Bool) -> Response {
        if isKnown { return .notModified(tag, length: body.count) }
        return with("ETag", tag.description).with("Cache-Control", "no-cache")
    }

    /// A 304. Its `Content-Length` is `length`, the length of the response with 200.
    static func notModified(_ tag: EntityTag, length: Int) -> Response {
        var response = Response(status: 304).with("ETag", tag.description).with("Cache-Control", "no-cache")
        response.body = length > 0 ? .omitted(length) : .empty
        return response
    }

    /// From this size on, in bytes, a body is shared with the HTTP server. The server copies smaller bodies on the
    /// thread that writes streams, where a copy of 60 MB would take 50 ms. Large responses are made on other threads.
    static let largeBody = 64 * 1024

    /// The response for the HTTP server, whose memory counts for an account; nil: for the address of the connection.
    func httpResponse(of account: String? = nil) -> HTTPResponse {
        var response = HTTPResponse(status: status, headers: headers, body: body)
        response.caller = account
        if case .bytes(let bytes) = body, bytes.count >= Self.largeBody { response.body = .shared(SharedBytes(bytes)) }
        return response
    }
}

extension Response {
    private var bodyTag: EntityTag {
        switch body {
        case .bytes(let bytes): EntityTag(of: bytes)
        case .empty, .shared, .omitted: EntityTag(of: [])
        }
    }

    /// The response to a read: a copy with an `ETag` over the body, or 304. Throws a 412 problem. See `EntityTag.isKnown`.
    consuming func tagged(for call: Call) throws(Problem) -> Response {
        let tag = bodyTag
        return tagged(tag, isKnown: try tag.isKnown(to: call))
    }

    /// A copy with an `ETag` over the body.
    consuming func tagged() -> Response {
        let tag = bodyTag
        return tagged(tag, isKnown: false)
    }

    /// Evaluates the preconditions of a change of the representation in the body. See `EntityTag.check`.
    func check(changeBy call: Call) throws(Problem) { try bodyTag.check(changeBy: call) }
}

/// A tag of a representation, and its comparison with `If-None-Match` and `If-Match` (RFC 9110 section 13.1).
package struct EntityTag: Sendable, Hashable, CustomStringConvertible {
    /// The text between the quotes.
    let opaque: String
    /// Whether equal tags mean equivalent, not identical, representations.
    let isWeak: Bool
    /// The tag as in a header.
    package let description: String

    /// A tag; `opaque` consists of letters, digits and hyphens.
    init(_ opaque: String, isWeak: Bool = false) {
        self.opaque = opaque
        self.isWeak = isWeak
        description = (isWeak ? "W/\"" : "\"") + opaque + "\""
    }

    /// A tag over bytes: their hash.
    init(of bytes: [UInt8]) { self.init(String(hexadecimal: FNV1a.hash(of: bytes))) }

    package static func == (left: EntityTag, right: EntityTag) -> Bool { left.description == right.description }

    package func hash(into hasher: inout Hasher) { hasher.combine(description) }

    /// Evaluates the preconditions of a read of the representation with this tag, in the order of RFC 9110 section 13.2.2:
    /// first `If-Match`, then `If-None-Match`.
    ///
    /// - Returns: Whether the client knows the representation, so that the response is a 304.
    /// - Throws: A 412 problem if `If-Match` does not name this tag.
    func isKnown(to call: Call) throws(Problem) -> Bool {
        if let tags = call.header("If-Match"), !matches(ifMatch: tags) { throw refusal }
        guard let tags = call.header("If-None-Match") else { return false }
        return matches(ifNoneMatch: tags)
    }

    /// Evaluates the preconditions of a change of the representation with this tag.
    ///
    /// - Throws: A 412 problem if `If-Match` does not name this tag, or `If-None-Match` does.
    func check(changeBy call: Call) throws(Problem) { if try isKnown(to: call) { throw refusal } }

    /// Whether an `If-None-Match` names this tag: weak comparison.
    func matches(ifNoneMatch header: String) -> Bool {
        header == "*" || header == description || header.trimmed == "*"
            || Self.tags(in: header).contains { $0.opaque == opaque }
    }

    /// Whether an `If-Match` admits this tag: strong comparison; true without the header.
    func matches(ifMatch header: String?) -> Bool {
        guard let header else { return true }
        if header.trimmed == "*" { return true }
        return Self.tags(in: header).contains { !$0.isWeak && !isWeak && $0.opaque == opaque }
    }

    private static func tags(in header: String) -> [EntityTag] {
        var tags: [EntityTag] = []
        var rest = header.utf8[...]
        while let quote = rest.firstIndex(of: UInt8(ascii: "\"")) {
            let isWeak = rest[..<quote].suffix(2).elementsEqual("W/".utf8)
            let start = rest.index(after: quote)
            guard let end = rest[start...].firstIndex(of: UInt8(ascii: "\"")) else { break }
            tags.append(EntityTag(String(Substring(rest[start..<end])), isWeak: isWeak))
            rest = rest[rest.index(after: end)...]
        }
        return tags
    }

    /// 412, with this tag.
    private var refusal: Problem {
        var problem = Problem(.preconditionFailed, detail: "The tag is now \(description).")
        problem.headers.append("ETag", description)
        return problem
    }
}

extension Call {
    /// Whether the request depends on the tag of its resource.
    var hasPreconditions: Bool { header("If-Match") != nil || header("If-None-Match") != nil }
}

extension String {
    /// The text without blanks and tabs around it.
    var trimmed: Substring { self[...].trimmed }

    /// The 16 hexadecimal digits of a number, after a prefix.
    init(_ prefix: StaticString = "", hexadecimal number: UInt64) {
        let start = prefix.utf8CodeUnitCount
        self.init(unsafeUninitializedCapacity: start + 16) { text in
            for index in 0..<start { text[index] = prefix.utf8Start[index] }
            for index in 0..<16 {
                let digit = UInt8(truncatingIfNeeded: number >> UInt64(60 - 4 * index)) & 15
                text[start + index] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
            }
            return start + 16
        }
    }
}

internal import JSONText
internal import MicroHTTPD
internal import SessionCore

/// One error in the input of a request.
package struct ProblemEntry: Sendable, Equatable {
    /// The place of an error in the request.
    enum Location: Sendable, Equatable {
        case body(JSONPointer)
        case parameter(String)

        /// A value of the body, by the names and indices that lead to the value.
        static func body(at path: [String]) -> Location { .body(JSONPointer(tokens: path)) }
    }

    let location: Location
    let code: ProblemCode
    /// The rule that is violated, as a sentence.
    let detail: String

    init(_ location: Location, _ code: ProblemCode, _ detail: String) {
        self.location = location
        self.code = code
        self.detail = detail
    }

    /// The name of the place in texts.
    var locationName: String {
        switch location {
        case .body(let pointer): pointer.tokens.isEmpty ? "the body" : pointer.tokens.joined(separator: "/")
        case .parameter(let name): name
        }
    }
}

/// An error that is reported as problem details (RFC 9457).
package struct Problem: Error, Sendable {
    let code: ProblemCode
    /// The explanation of this case; nil: the title is sufficient. Never holds a secret.
    var detail: String?
    var entries: [ProblemEntry] = []
    /// The part that the rights of the caller do not cover, as a path in the object that describes a source or client; empty: the
    /// whole object, or another problem. The place in the request is up to the caller of the check.
    var uncovered: [String] = []
    /// The error that the Lightstreamer server sent.
    var upstream: UpstreamRefusal?
    /// Writes further members of the response; nil: none.
    var members: (@Sendable (inout JSONBytes) -> Void)?
    /// The host or origin for which the request was refused; nil: another reason.
    var refusedName: RefusedName?
    /// Further headers of the response, such as `Allow`.
    var headers = HTTPFields()

    package init(_ code: ProblemCode, detail: String? = nil, entries: [ProblemEntry] = []) {
        self.code = code
        self.detail = detail
        self.entries = entries
    }

    /// The problem with an entry for a part of the input, which has the detail, or else the title.
    func at(_ place: ProblemEntry.Location) -> Problem {
        var problem = self
        problem.entries = [ProblemEntry(place, code, detail ?? code.title)]
        return problem
    }

    static let stopping = Problem(.unavailable, detail: "The gateway is stopping.")

    /// The problem for one or more errors in the input.
    init(refusing entries: [ProblemEntry]) {
        self.init(
            entries.first?.code ?? .invalidValue,
            detail: entries.first.map { "\($0.locationName): \($0.detail)" },
            entries: entries
        )
    }
}

/// The codes of problems, with status and title. openapi.yaml lists them.
package enum ProblemCode: String, Sendable, CaseIterable {
    case malformed
    case unauthorized
    case forbidden
    case upstreamNotAllowed = "upstream-not-allowed"
    case notFound = "not-found"
    case unknownUpstream = "unknown-upstream"
    case unknownFeed = "unknown-feed"
    case unknownClient = "unknown-client"
    case unknownSubscription = "unknown-subscription"
    case unknownStream = "unknown-stream"
    case unknownItem = "unknown-item"
    case unknownField = "unknown-field"
    case methodNotAllowed = "method-not-allowed"
    case notAcceptable = "not-acceptable"
    case lifecycle
    case notCommandMode = "not-command-mode"
    case notDedicated = "not-dedicated"
    case tooManySessions = "too-many-sessions"
    case streamInUse = "stream-in-use"
    case idempotencyConflict = "idempotency-conflict"
    case preconditionFailed = "precondition-failed"
    case tooLarge = "too-large"
    case unsupportedMediaType = "unsupported-media-type"
    case invalidValue = "invalid-value"
    case missingMember = "missing-member"
    case unknownMember = "unknown-member"
    case unknownParameter = "unknown-parameter"
    case overQuota = "over-quota"
    case rateLimited = "rate-limited"
    case headerTooLarge = "header-too-large"
    case `internal`
    case upstreamRefused = "upstream-refused"
    case unavailable
    case gatewayFull = "gateway-full"
    case streamLimit = "stream-limit"
    case noValue = "no-value"

    var status: Int { row.status }

    /// The title, the same for every occurrence.
    var title: String { row.title }

    private var row: (status: Int, title: String) {
        switch self {
        case .malformed: (400, "Malformed request")
        case .unauthorized: (401, "Credentials are required")
        case .forbidden: (403, "The credentials do not allow this")
        case .upstreamNotAllowed: (403, "This server address is not allowed")
        case .notFound: (404, "There is no such resource")
        case .unknownUpstream: (404, "There is no such upstream")
        case .unknownFeed: (404, "There is no such feed")
        case .unknownClient: (404, "There is no such client")
        case .unknownSubscription: (404, "There is no such subscription")
        case .unknownStream: (404, "There is no such stream")
        case .unknownItem: (404, "There is no such item")
        case .unknownField: (404, "There is no such field")
        case .methodNotAllowed: (405, "The path does not allow this method")
        case .notAcceptable: (406, "No acceptable media type")
        case .lifecycle: (409, "Not possible in the current state")
        case .notCommandMode: (409, "Available in COMMAND mode only")
        case .notDedicated: (409, "Available for dedicated clients only")
        case .tooManySessions: (409, "Too many sessions with this server")
        case .streamInUse: (409, "The stream is already open")
        case .idempotencyConflict: (409, "The idempotency key is in use")
        case .preconditionFailed: (412, "The resource has changed")
        case .tooLarge: (413, "The body is too large")
        case .unsupportedMediaType: (415, "Unsupported media type")
        case .invalidValue: (422, "Invalid value")
        case .missingMember: (422, "A required value is missing")
        case .unknownMember: (422, "Unknown member")
        case .unknownParameter: (422, "Unknown query parameter")
        case .overQuota: (429, "Quota exceeded")
        case .rateLimited: (429, "Too many requests")
        case .headerTooLarge: (431, "The head of the request is too large")
        case .internal: (500, "Internal error")
        case .upstreamRefused: (502, "The Lightstreamer server rejected the request")
        case .unavailable: (503, "Temporarily unavailable")
        case .gatewayFull: (503, "The gateway is full")
        case .streamLimit: (503, "The credentials have as many streams as they may")
        case .noValue: (504, "No value in time")
        }
    }
}

internal import JSONText
internal import MicroHTTPD
internal import SessionCore
internal import SessionPool

/// One error in the input of a request.
package struct ProblemEntry: Sendable, Equatable {
    /// The place of an error in the request.
    enum Location: Sendable, Equatable {
        /// A value of the body.
        case body(JSONPointer)
        /// A query parameter.
        case parameter(String)
    }

    /// The place of the error.
    let location: Location
    /// The code.
    let code: ProblemCode
    /// The rule that is violated, as a sentence.
    let detail: String

    /// An entry.
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
    /// The code.
    let code: ProblemCode
    /// The explanation of this case; nil: the title is sufficient. Never holds a secret.
    var detail: String?
    /// The errors in the input.
    var entries: [ProblemEntry] = []
    /// The error that the Lightstreamer server sent.
    var upstream: UpstreamRefusal?
    /// Writes further members of the response; nil: none.
    var members: (@Sendable (inout JSONBytes) -> Void)?
    /// The host or origin for which the request was refused; nil: another reason.
    var refusedName: RefusedName?
    /// Further headers of the response, such as `Allow`.
    var headers = HTTPFields()

    /// A problem.
    package init(_ code: ProblemCode, detail: String? = nil, entries: [ProblemEntry] = []) {
        self.code = code
        self.detail = detail
        self.entries = entries
    }

    /// The gateway is stopping.
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

    /// The HTTP status.
    var status: Int {
        switch self {
        case .malformed: 400
        case .unauthorized: 401
        case .forbidden, .upstreamNotAllowed: 403
        case .notFound, .unknownUpstream, .unknownFeed, .unknownClient, .unknownSubscription, .unknownStream,
            .unknownItem, .unknownField:
            404
        case .methodNotAllowed: 405
        case .notAcceptable: 406
        case .lifecycle, .notCommandMode, .notDedicated, .tooManySessions, .streamInUse, .idempotencyConflict: 409
        case .preconditionFailed: 412
        case .tooLarge: 413
        case .unsupportedMediaType: 415
        case .invalidValue, .missingMember, .unknownMember, .unknownParameter: 422
        case .overQuota, .rateLimited: 429
        case .headerTooLarge: 431
        case .internal: 500
        case .upstreamRefused: 502
        case .unavailable, .gatewayFull, .streamLimit: 503
        case .noValue: 504
        }
    }

    /// The title, the same for every occurrence.
    var title: String {
        switch self {
        case .malformed: "Malformed request"
        case .unauthorized: "Credentials are required"
        case .forbidden: "The credentials do not allow this"
        case .upstreamNotAllowed: "This server address is not allowed"
        case .notFound: "There is no such resource"
        case .unknownUpstream: "There is no such upstream"
        case .unknownFeed: "There is no such feed"
        case .unknownClient: "There is no such client"
        case .unknownSubscription: "There is no such subscription"
        case .unknownStream: "There is no such stream"
        case .unknownItem: "There is no such item"
        case .unknownField: "There is no such field"
        case .methodNotAllowed: "The path does not allow this method"
        case .notAcceptable: "No acceptable media type"
        case .lifecycle: "Not possible in the current state"
        case .notCommandMode: "Available in COMMAND mode only"
        case .notDedicated: "Available for dedicated clients only"
        case .tooManySessions: "Too many sessions with this server"
        case .streamInUse: "The stream is already open"
        case .idempotencyConflict: "The idempotency key is in use"
        case .preconditionFailed: "The resource has changed"
        case .tooLarge: "The body is too large"
        case .unsupportedMediaType: "Unsupported media type"
        case .invalidValue: "Invalid value"
        case .missingMember: "A required value is missing"
        case .unknownMember: "Unknown member"
        case .unknownParameter: "Unknown query parameter"
        case .overQuota: "Quota exceeded"
        case .rateLimited: "Too many requests"
        case .headerTooLarge: "The head of the request is too large"
        case .internal: "Internal error"
        case .upstreamRefused: "The Lightstreamer server rejected the request"
        case .unavailable: "Temporarily unavailable"
        case .gatewayFull: "The gateway is full"
        case .streamLimit: "The credentials have as many streams as they may"
        case .noValue: "No value in time"
        }
    }
}

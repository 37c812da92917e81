internal import JSONText
internal import MicroHTTPD
internal import SessionPool

/// One refused part of the input.
struct ProblemEntry: Sendable, Equatable {
    /// Where it stands.
    enum Place: Sendable, Equatable {
        /// In the body.
        case body(JSONPointer)
        /// In the query.
        case parameter(String)
    }

    /// Where it stands.
    let place: Place
    /// What kind of refusal it is.
    let code: ProblemCode
    /// The rule, as a sentence.
    let detail: String

    /// An entry.
    init(_ place: Place, _ code: ProblemCode, _ detail: String) {
        self.place = place
        self.code = code
        self.detail = detail
    }

    /// The name of the place as people read it.
    var placeName: String {
        switch place {
        case .body(let pointer): pointer.tokens.isEmpty ? "the body" : pointer.tokens.joined(separator: "/")
        case .parameter(let name): name
        }
    }
}

/// An error on its way to becoming an RFC 9457 response.
struct Problem: Error, Sendable {
    /// What kind it is.
    let code: ProblemCode
    /// What is wrong in this case; nil: the title says it all. Never holds a secret.
    var detail: String?
    /// The refused parts of the input.
    var entries: [ProblemEntry] = []
    /// What the Lightstreamer server said.
    var upstream: UpstreamRefusal?
    /// Headers that the response carries, such as `Allow`.
    var headers = HTTPFields()

    /// A problem.
    init(_ code: ProblemCode, detail: String? = nil, entries: [ProblemEntry] = []) {
        self.code = code
        self.detail = detail
        self.entries = entries
    }

    /// The problem of refused input, of which there is at least one part.
    init(refusing entries: [ProblemEntry]) {
        self.init(
            entries.first?.code ?? .invalidValue,
            detail: entries.first.map { "\($0.placeName): \($0.detail)" },
            entries: entries
        )
    }
}

/// The kinds of problems, each with its word, its status and its title; openapi.yaml lists the words.
enum ProblemCode: String, Sendable, CaseIterable {
    case malformed
    case unauthorized
    case forbidden
    case upstreamNotAllowed = "upstream-not-allowed"
    case notFound = "not-found"
    case unknownUpstream = "unknown-upstream"
    case unknownClient = "unknown-client"
    case unknownSubscription = "unknown-subscription"
    case unknownStream = "unknown-stream"
    case unknownItem = "unknown-item"
    case unknownField = "unknown-field"
    case unknownKey = "unknown-key"
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

    /// The status that goes with it.
    var status: Int {
        switch self {
        case .malformed: 400
        case .unauthorized: 401
        case .forbidden, .upstreamNotAllowed: 403
        case .notFound, .unknownUpstream, .unknownClient, .unknownSubscription, .unknownStream, .unknownItem,
            .unknownField, .unknownKey:
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
        case .unavailable: 503
        }
    }

    /// What it is called, the same for every occurrence.
    var title: String {
        switch self {
        case .malformed: "The request cannot be read"
        case .unauthorized: "Credentials are needed"
        case .forbidden: "The credentials do not allow this"
        case .upstreamNotAllowed: "This server address is not allowed"
        case .notFound: "There is no such resource"
        case .unknownUpstream: "There is no such upstream"
        case .unknownClient: "There is no such client"
        case .unknownSubscription: "There is no such subscription"
        case .unknownStream: "There is no such stream"
        case .unknownItem: "There is no such item"
        case .unknownField: "There is no such field"
        case .unknownKey: "There is no such key"
        case .methodNotAllowed: "The path does not know this method"
        case .notAcceptable: "No acceptable form"
        case .lifecycle: "Not possible in the present state"
        case .notCommandMode: "Only COMMAND mode has this"
        case .notDedicated: "Only a dedicated client has this"
        case .tooManySessions: "Too many sessions with this server"
        case .streamInUse: "Somebody reads this stream"
        case .idempotencyConflict: "The idempotency key is in use"
        case .preconditionFailed: "The resource has changed"
        case .tooLarge: "The body is too large"
        case .unsupportedMediaType: "This media type is not taken"
        case .invalidValue: "A value is refused"
        case .missingMember: "Something is missing"
        case .unknownMember: "An unknown member"
        case .unknownParameter: "An unknown query parameter"
        case .overQuota: "A quota is used up"
        case .rateLimited: "Too many requests"
        case .headerTooLarge: "The head of the request is too large"
        case .internal: "Something went wrong in the gateway"
        case .upstreamRefused: "The Lightstreamer server refused"
        case .unavailable: "The gateway cannot serve this now"
        }
    }
}

internal import EventHub
internal import JSONText
internal import LightstreamerClient
internal import MicroHTTPD
internal import SessionCore
internal import SessionPool

/// Ends the handling of a request whose response is known: the response of another gateway, a stream with one event, or the
/// response to `OPTIONS`.
package struct AnsweredRequest: Error {
    let response: Response

    package init(_ response: Response) { self.response = response }
}

/// Turns errors into problem responses (RFC 9457). No other place decides which status an error gets.
package enum ProblemDetails {
    static let mediaType = "application/problem+json"

    /// The problem for an error. Unexpected errors become `internal`, without details.
    static func problem(for error: any Error) -> Problem {
        switch error {
        case let problem as Problem: problem
        case let error as PoolError: problem(for: error)
        case let error as ClientError: problem(for: error)
        case let error as HubError: problem(for: error)
        default: Problem(.internal)
        }
    }

    /// Whether an error says that a client, subscription or stream is unknown.
    package static func isUnknownResource(_ error: any Error) -> Bool {
        [.unknownClient, .unknownSubscription, .unknownStream].contains(problem(for: error).code)
    }

    /// Looks up what a value of the query or body names, or checks the rights to it; the problem of an unknown or uncovered name has
    /// the place of the value.
    static func lookUp<Found>(
        _ place: @autoclosure () -> ProblemEntry.Location?,
        _ find: () throws -> Found
    ) throws -> Found {
        do { return try find() } catch { throw located(error, at: place()) }
    }

    /// The error of a look-up or check; the problem of an unknown or uncovered name has the place of the value that names it.
    static func located(_ error: any Error, at place: ProblemEntry.Location?) -> any Error {
        let problem = problem(for: error)
        guard problem.code.status == 404 || !problem.uncovered.isEmpty, problem.entries.isEmpty, let place
        else { return error }
        return problem.at(place)
    }

    /// An error as a sentence, for an event of a stream.
    package static func sentence(for error: any Error) -> String {
        let problem = problem(for: error)
        return problem.detail ?? problem.code.title
    }

    /// The problem for an error that the Lightstreamer server sent.
    static func problem(for refusal: UpstreamRefusal, of kind: UpstreamCodes.Kind) -> Problem {
        var problem = Problem(.upstreamRefused, detail: detail(of: refusal, kind))
        problem.upstream = refusal
        return problem
    }

    /// The sentences for an error that the Lightstreamer server sent. A subscription may be refused with its session: then
    /// the code has a meaning for sessions.
    static func detail(of refusal: UpstreamRefusal, _ kind: UpstreamCodes.Kind) -> String {
        if refusal.isRemoval { return "The server removed the subscription." }
        if refusal.code == UpstreamRefusal.unopenedCode { return refusal.message }
        let kinds: [UpstreamCodes.Kind] = kind == .subscription ? [.subscription, .session] : [kind]
        let known = kinds.first { UpstreamCodes.meaning(of: refusal.code, kind: $0) != nil }
        let meaning = known.flatMap { UpstreamCodes.meaning(of: refusal.code, kind: $0) }
        let cure = known.flatMap { UpstreamCodes.cure(of: refusal.code, kind: $0) }
        if kind == .subscription, refusal.isOversized || refusal.code == UpstreamRefusal.valuesCode {
            return (["\(refusal.message)."] + [cure].compactMap(\.self)).joined(separator: " ")
        }
        return
            (["The server responded with \(refusal.code): \(refusal.message)."] + [meaning, cure].compactMap(\.self))
            .joined(separator: " ")
    }

    /// The text of `subscription-error` events.
    static let refusalText = RefusalText(type: "/docs#\(ProblemCode.upstreamRefused.rawValue)") {
        detail(of: $0, .subscription)
    }

    /// The problem for a request that the HTTP server rejected.
    static func problem(for refusal: RequestRefusal) -> Problem {
        switch refusal {
        case .bodyTooLarge: Problem(.tooLarge, detail: refusal.explanation)
        case .bodyBudgetExceeded, .responseBudgetExceeded, .connectionLimitReached:
            Problem(.gatewayFull, detail: refusal.explanation)
        case .closing: Problem(.unavailable, detail: refusal.explanation)
        case .headersTooLarge, .targetTooLong: Problem(.headerTooLarge, detail: refusal.explanation)
        case .duplicateContentLength, .contentLengthWithTransferEncoding, .unsupportedTransferEncoding,
            .duplicateHost, .missingHost, .malformedHead, .unsupportedVersion:
            Problem(.malformed, detail: refusal.explanation)
        }
    }

    /// The limit that a rejected request exceeds, with its setting; nil: no limit.
    static func limit(exceededBy refusal: RequestRefusal, in configuration: GatewayConfiguration) -> String? {
        let http = configuration.http
        return switch refusal {
        case .bodyTooLarge: "\(http.bodyLimit) bytes (http.maxBody)"
        case .targetTooLong: "\(http.targetLimit) bytes (http.maxRequestLine)"
        case .headersTooLarge: "\(http.headerLimit) bytes (http.maxHeaders)"
        case .bodyBudgetExceeded: "\(http.bodyBudget) bytes (http.maxBodies), of which a caller or address has a share"
        case .responseBudgetExceeded: "\(configuration.responseBudget()) bytes (http.maxResponses)"
        case .connectionLimitReached: "http.maxConnections, or what the system's limit of open files leaves"
        default: nil
        }
    }

    /// The response to a call that waited for the Lightstreamer server, if the server has refused the request.
    static func response(to call: Call, refusedBy refusal: UpstreamRefusal, of kind: UpstreamCodes.Kind) -> Response {
        response(problem(for: refusal, of: kind), requestID: call.requestID)
    }

    package static func response(to call: Call, for error: any Error) -> Response {
        if let answer = error as? AnsweredRequest { return answer.response }
        let problem = problem(for: error)
        var response = response(problem, requestID: call.requestID)
        if problem.code == .internal { response.unexpectedError = error }
        return response
    }

    /// The response for a problem. `status` replaces the status of the code if the HTTP server has a more specific one.
    static func response(_ problem: Problem, requestID: String, status: Int? = nil) -> Response {
        let status = status ?? problem.code.status
        var json = JSONBytes()
        json.beginObject()
        json.member("type", "/docs#\(problem.code.rawValue)")
        json.member("title", problem.code.title)
        json.member("status", status)
        if let detail = problem.detail { json.member("detail", detail) }
        json.member("instance", requestID)
        json.member("code", problem.code.rawValue)
        if !problem.entries.isEmpty { write(problem.entries, to: &json) }
        if let upstream = problem.upstream { json.member("upstream", upstream) }
        problem.members?(&json)
        json.endObject()
        var response = Response(status: status, json: json, mediaType: mediaType)
        response.problem = problem.code
        response.headers.lines += problem.headers.lines
        if problem.headers["Retry-After"] == nil, let seconds = retryAfter(problem.code) {
            response.headers.append("Retry-After", "\(seconds)")
        }
        let isRefusal =
            problem.code == .unauthorized || problem.code == .forbidden || problem.code == .upstreamNotAllowed
        if isRefusal, problem.headers["WWW-Authenticate"] == nil {
            response.headers.append("WWW-Authenticate", Challenge.realm)
        }
        return response
    }

    private static func write(_ entries: [ProblemEntry], to json: inout JSONBytes) {
        json.objects("errors", of: entries) { json, entry in
            switch entry.location {
            case .body(let pointer): json.member("pointer", pointer.description)
            case .parameter(let name): json.member("parameter", name)
            }
            json.member("code", entry.code.rawValue)
            json.member("detail", entry.detail)
        }
    }

    /// The time after which a client may repeat a request, in seconds; nil: the client has to change the request.
    static func retryAfter(_ code: ProblemCode) -> Int? {
        switch code {
        case .overQuota, .unavailable, .gatewayFull, .streamLimit: 5
        case .rateLimited: 1
        default: nil
        }
    }
}

// MARK: - Errors of other modules

extension ProblemDetails {
    private static func problem(for error: PoolError) -> Problem {
        switch error {
        case .unknownUpstream(let name):
            Problem(.unknownUpstream, detail: "There is no upstream \"\(name)\".")
        case .unknownClient(let id):
            Problem(.unknownClient, detail: "No client has the id \"\(id)\".")
        case .unknownSubscription(let id):
            Problem(.unknownSubscription, detail: "No subscription has the id \"\(id)\".")
        case .addressNotAllowed(let address):
            refusal(of: address)
        case .overQuota(let quota):
            Problem(.overQuota, detail: explanation(of: quota))
        case .creditsNeeded:
            // Requests wait for credits instead.
            .notInContact
        case .invalidValue(let property, let rule):
            refusal(property: property, rule: rule)
        case .lifecycle(let rule):
            Problem(.lifecycle, detail: sentence(rule))
        case .stopping:
            .stopping
        }
    }

    private static func problem(for error: ClientError) -> Problem {
        switch error.code {
        case .invalidValue: refusal(property: error.property, rule: error.rule)
        case .lifecycle, .noServerAddress: Problem(.lifecycle, detail: sentence(error.rule))
        case .tooManySessions: Problem(.tooManySessions, detail: sentence(error.rule))
        case .addressNotAllowed: refusal(of: error.value ?? "this address")
        case .notCommandMode: Problem(.notCommandMode, detail: sentence(error.rule))
        case .unknownItem: Problem(.unknownItem, detail: sentence(error.rule))
        case .unknownField, .outOfBounds: Problem(.unknownField, detail: sentence(error.rule))
        case .overloaded: Problem(.overQuota, detail: sentence(error.rule))
        case .shutDown: Problem(.lifecycle, detail: "The client is being deleted.")
        default: Problem(.internal)
        }
    }

    private static func problem(for error: HubError) -> Problem {
        switch error {
        case .unknownSource(.subscription(let id)):
            Problem(.unknownSubscription, detail: "No subscription has the id \"\(id)\".")
        case .unknownSource(.client(let id, _)):
            Problem(.unknownClient, detail: "No client has the id \"\(id)\".")
        case .unknownStream(let id):
            Problem(.unknownStream, detail: "No stream has the id \"\(id)\".")
        }
    }

    private static func refusal(property: String?, rule: String) -> Problem {
        guard let property else { return Problem(.invalidValue, detail: sentence(rule)) }
        return Problem(refusing: [ProblemEntry(.body(at: [property]), .invalidValue, sentence(rule))])
    }

    private static func refusal(of address: String) -> Problem {
        let (code, rule) = (ProblemCode.upstreamNotAllowed, "The configuration does not allow \(address).")
        return Problem(code, detail: rule).at(.body(at: ["serverAddress"]))
    }

    private static func explanation(of quota: PoolQuota) -> String {
        switch quota {
        case .sessions(let upstream, let limit):
            "The upstream \(upstream) has its maximum of \(limit) sessions open, and all are full "
                + "(upstreams.\(upstream).maxSessions)."
        case .subscriptions(let upstream, let limit):
            "The upstream \(upstream) carries its maximum of \(limit) subscriptions "
                + "(upstreams.\(upstream).maxSubscriptions)."
        case .items(let upstream, let limit):
            "The upstream \(upstream) carries its maximum of \(limit) items (upstreams.\(upstream).maxItems)."
        case .sessionsPerServer(let upstream, let limit):
            "The server of the upstream \(upstream) has its maximum of \(limit) concurrent sessions "
                + "(pool.maxConcurrentSessionsPerServer)."
        case .dedicatedClients(let limit):
            "The gateway has its maximum of \(limit) dedicated clients (pool.maxDedicatedClients)."
        case .subscriptionResources(let limit):
            "The gateway has its maximum of \(limit) subscriptions (pool.maxSubscriptions)."
        }
    }

    /// A rule as a sentence: with a capital letter and a full stop.
    private static func sentence(_ rule: String) -> String {
        // A rule that begins with a property name keeps its spelling.
        let isProperty = rule.prefix { $0 != " " }.contains(where: \.isUppercase)
        let text = isProperty ? rule : rule.prefix(1).uppercased() + rule.dropFirst()
        return text.hasSuffix(".") ? text : text + "."
    }
}

internal import MicroHTTPD

enum Credential: Equatable {
    /// A key or token, by `Authorization: Bearer`.
    case bearer(String)
    /// A key or token, by the cookie. Browsers add cookies to requests of any page, so the origin is checked as well.
    case cookie(String)
    /// A ticket, in the query.
    case ticket(String)

    /// Query parameters that carry tokens in other APIs. The parameters are refused: logs, histories and `Referer` would
    /// keep the tokens.
    private static let tokenParameters: Set<String> = ["access_token", "token", "api_key", "apikey", "jwt", "bearer"]

    /// The credential of a request; nil if there is none.
    ///
    /// - Parameters:
    ///   - cookie: The name of the cookie that may carry a credential; nil: no cookie may.
    ///   - takesTickets: Whether the operation accepts a ticket.
    static func find(in request: HTTPRequest, cookie: String?, takesTickets: Bool) throws(Problem) -> Credential? {
        let query = try refusingTokens(in: request)
        let bearer = try bearer(request.headers.values(of: "Authorization"))
        let tickets = takesTickets ? query.values("ticket") : []
        guard let ticket = tickets.first else {
            if let bearer { return .bearer(bearer) }
            return try cookie.flatMap { name throws(Problem) in try self.cookie(name, in: request) }.map { .cookie($0) }
        }
        guard tickets.count == 1, bearer == nil else {
            throw Challenge.malformed("A request may carry one credential only.")
        }
        if !ticket.hasPrefix(IssuedTicket.prefix) {
            let rule = "The parameter ticket must be a ticket of POST /v1/tickets, not a key or token."
            throw Challenge.malformed(rule, parameters: ["ticket"])
        }
        return .ticket(ticket)
    }

    /// The query of a request. Throws a 400 problem for a key or token in it.
    @discardableResult
    static func refusingTokens(in request: HTTPRequest) throws(Problem) -> Query {
        let query = (try? Query(raw: request.rawQuery)) ?? Query()
        let tokens = query.pairs.filter { pair in
            tokenParameters.contains(pair.name.lowercased()) || pair.value.hasPrefix(APIKey.prefix)
        }
        if tokens.isEmpty { return query }
        let rule =
            "Keys and tokens in a URL are refused, because logs keep URLs. Use Authorization: Bearer, or a ticket."
        throw Challenge.malformed(rule, parameters: tokens.prefix(Refusals.mostEntries).map(\.name))
    }

    private static func bearer(_ headers: [String]) throws(Problem) -> String? {
        guard let header = headers.first else { return nil }
        guard headers.count == 1 else {
            throw Challenge.malformed("The request has more than one Authorization header.")
        }
        let parts = header.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
        guard let scheme = parts.first, scheme.lowercased() == "bearer" else {
            throw Challenge.invalid("The scheme of Authorization must be Bearer.")
        }
        let token = parts.count == 2 ? parts[1].trimmed : ""
        guard isToken(token) else { throw Challenge.malformed("Bearer must be followed by a key or token.") }
        return String(token)
    }

    /// The value of a cookie (RFC 6265 section 4.2). A cookie that occurs twice is refused: another host of the same
    /// site may have set one of the two.
    private static func cookie(_ name: String, in request: HTTPRequest) throws(Problem) -> String? {
        var values: [String] = []
        for header in request.headers.values(of: "Cookie") {
            for pair in header.split(separator: ";") {
                let parts = pair.trimmed.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                if parts.count == 2, parts[0] == name[...] { values.append(String(parts[1])) }
            }
        }
        guard let value = values.first else { return nil }
        guard values.count == 1 else { throw Challenge.malformed("The request has the cookie \(name) more than once.") }
        guard isToken(value[...]) else { throw Challenge.invalid("The cookie holds no key or token.") }
        return value
    }

    /// Whether a text has the characters of `token68` (RFC 9110 section 11.2).
    private static func isToken(_ text: Substring) -> Bool {
        String(text).isLettersDigits(and: "-._~+/=", length: 1...Int.max)
    }
}

/// Problems that ask for other credentials (RFC 6750 section 3).
package enum Challenge {
    static let realm = "Bearer realm=\"lightstreamer-gateway\""

    /// 401: the request has no credential.
    static func missing() -> Problem {
        refusal(.unauthorized, "The operation requires a key or token in Authorization: Bearer.", parameters: [])
    }

    /// 401: the credential is not valid.
    static func invalid(_ sentence: String) -> Problem {
        refusal(.unauthorized, sentence, parameters: [("error", "invalid_token"), ("error_description", sentence)])
    }

    /// 401: the ticket opens no stream.
    package static func uselessTicket() -> Problem { invalid("The ticket is unknown, used or expired.") }

    /// 401: the credential, or its rights, changed during the request.
    static func changed() -> Problem { invalid("The credentials or their rights have changed.") }

    /// 401: the token expired during the request.
    static func expired() -> Problem { invalid("The token has expired.") }

    /// 400: the credential is malformed.
    ///
    /// - Parameter parameters: The query parameters that hold the credential.
    static func malformed(_ sentence: String, parameters: [String] = []) -> Problem {
        let reason = [("error", "invalid_request"), ("error_description", sentence)]
        var problem = refusal(.malformed, sentence, parameters: reason)
        problem.entries = parameters.map { ProblemEntry(.parameter($0), .malformed, sentence) }
        return problem
    }

    /// 403: the credential is valid and its rights do not suffice.
    ///
    /// - Parameter uncovered: The path of what the rights do not cover, as in a problem.
    static func insufficient(_ right: Right? = nil, _ sentence: String, uncovered: [String] = []) -> Problem {
        let scope = right.map { [("scope", $0.rawValue)] } ?? []
        var problem = refusal(.forbidden, sentence, parameters: [("error", "insufficient_scope")] + scope)
        problem.uncovered = uncovered
        return problem
    }

    private static func refusal(
        _ code: ProblemCode,
        _ sentence: String,
        parameters: [(name: String, value: String)]
    ) -> Problem {
        var problem = Problem(code, detail: sentence)
        let words = parameters.map { "\($0.name)=\"\($0.value)\"" }
        problem.headers.append("WWW-Authenticate", ([realm] + words).joined(separator: ", "))
        return problem
    }
}

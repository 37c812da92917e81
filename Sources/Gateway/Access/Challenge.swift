/// Refusals that ask for other credentials (RFC 6750 section 3).
enum Challenge {
    private static let realm = "Bearer realm=\"lightstreamer-gateway\""

    /// 401 to somebody who shows no credentials.
    static func missing() -> Problem {
        refusal(.unauthorized, "Show a key or token by Authorization: Bearer.", parameters: [])
    }

    /// 401 to somebody whose credentials are not good.
    static func invalid(_ sentence: String) -> Problem {
        refusal(.unauthorized, sentence, parameters: [("error", "invalid_token"), ("error_description", sentence)])
    }

    /// 400 to somebody who shows credentials in an impossible way.
    static func malformed(_ sentence: String) -> Problem {
        refusal(.malformed, sentence, parameters: [("error", "invalid_request"), ("error_description", sentence)])
    }

    /// 403 to somebody whose credentials do not reach so far.
    static func insufficient(_ right: Right? = nil, _ sentence: String) -> Problem {
        let scope = right.map { [("scope", $0.rawValue)] } ?? []
        return refusal(.forbidden, sentence, parameters: [("error", "insufficient_scope")] + scope)
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

internal import MicroHTTPD

/// `/v1/session`: the cookie with which pages of the same site authenticate. Scripts cannot read it.
struct SessionResource: Sendable {
    let services: Services

    /// `POST /v1/session`: sets the cookie to the key or token of the request.
    func create(_ call: Call) throws -> OperationResult {
        try RequestBody.none(of: call)
        let policy = services.access.policy
        // Callers without authentication have no credential that a cookie could hold.
        if policy.isOpen { return .response(Response(status: 204)) }
        let name = try cookieName(policy)
        try checkOrigin(of: call, policy)
        // Without an age the browser forgets the cookie when it closes; the gateway refuses a token that has expired.
        return .response(cookie("\(name)=\(try credential(of: call, policy))", for: call))
    }

    /// `DELETE /v1/session`: removes the cookie, also if its key or token is no longer valid.
    func delete(_ call: Call) throws -> OperationResult {
        let policy = services.access.policy
        if policy.isOpen { return .response(Response(status: 204)) }
        let name = try cookieName(policy)
        try checkOrigin(of: call, policy)
        return .response(cookie("\(name)=; Max-Age=0", for: call))
    }

    private func cookieName(_ policy: AccessPolicy) throws(Problem) -> String {
        guard let name = policy.configuration.cookie else {
            throw Problem(.lifecycle, detail: "The configuration accepts no cookie (auth.cookie).")
        }
        return name
    }

    /// Refuses pages of origins that may not act with the cookie. Clients that are not browsers are not pages.
    private func checkOrigin(of call: Call, _ policy: AccessPolicy) throws(Problem) {
        let headers = call.request.headers
        guard headers["Origin"] != nil || headers["Sec-Fetch-Site"] != nil else { return }
        try RequestForgery(origins: policy.configuration.origins).check(call.request, withCookie: true)
    }

    private func credential(of call: Call, _ policy: AccessPolicy) throws(Problem) -> String {
        let cookie = policy.configuration.cookie
        switch try Credential.find(in: call.request, cookie: cookie, takesTickets: false) {
        case .bearer(let text), .cookie(let text): return text
        case .ticket, nil: throw Challenge.missing()
        }
    }

    private func cookie(_ pair: String, for call: Call) -> Response {
        // Browsers accept names with these beginnings only from secure cookies, on loopback as well.
        let isSecure = ["__Host-", "__Secure-"].contains { pair.hasPrefix($0) } || isSecure(call)
        let attributes = "; Path=/; HttpOnly; SameSite=Strict" + (isSecure ? "; Secure" : "")
        return Response(status: 204).with("Set-Cookie", pair + attributes).with("Cache-Control", "no-store")
    }

    /// Whether the browser may send the cookie over TLS only: always, unless the gateway itself has no TLS and the
    /// request is for a loopback name. A gateway behind a proxy does not see the scheme of the browser.
    private func isSecure(_ call: Call) -> Bool {
        if services.configuration.http.certificate != nil { return true }
        let name = KnownHosts.name(of: call.request.headers["Host"] ?? "")
        return !(ListeningAddress.isLoopback(name) || name.hasSuffix(".localhost"))
    }
}

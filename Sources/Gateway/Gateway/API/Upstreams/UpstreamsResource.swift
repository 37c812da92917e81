internal import JSONText
internal import LightstreamerClient
internal import SessionPool

/// `/v1/upstreams`: the configured servers.
struct UpstreamsResource: Sendable {
    let services: Services

    /// `GET /v1/upstreams`.
    func list(_ call: Call) throws -> OperationResult {
        let permissions = services.permissions(call)
        let page = try Page(of: services.pool.upstreams.filter { permissions.sees(upstream: $0.name) }, for: call) {
            $0.name
        }
        return .response(page.response("upstreams") { write($1, to: &$0) })
    }

    /// `GET /v1/upstreams/{name}`.
    func get(_ call: Call) throws -> OperationResult {
        let upstream = try services.upstream(call)
        return .response(response(upstream).tagged(tag, ifNoneMatch: call.header("If-None-Match")))
    }

    /// `PATCH /v1/upstreams/{name}`: changes the session limit, which all upstreams share, until the next reload.
    func patch(_ call: Call) throws -> OperationResult {
        let upstream = try services.upstream(call)
        let reader = try RequestBody.reader(of: call, types: RequestBody.patchTypes)
        reader.allow(
            only: [Self.limitName, Self.policyName],
            readOnly: ["name", "serverAddress", "adapterSet", "user", "pool", "quotas", "lastFailure"]
        )
        let wanted = (limit: limit(reader), policy: policy(reader))
        try reader.refusals.finish()
        try services.pool.changeSessionLimit { present throws(Problem) in
            try Self.tag(of: present).check(ifMatch: call.header("If-Match"))
            if let limit = wanted.limit { present.maxConcurrentSessionsPerServer = limit }
            if let policy = wanted.policy { present.policy = policy }
        }
        return .response(response(upstream).tagged(tag, ifNoneMatch: nil))
    }

    private static let limitName = "maxConcurrentSessionsPerServer"
    private static let policyName = "maxConcurrentSessionsPerServerExceededPolicy"

    private func limit(_ reader: ObjectReader) -> Int? {
        guard let value = reader.object[Self.limitName] else { return nil }
        let limit = value.number?.wholeNumber.flatMap { $0 >= 0 ? $0 : nil }
        if limit == nil {
            reader.refuse(Self.limitName, "A whole number not less than 0 is expected; at most 6 count.")
        }
        return limit
    }

    private func policy(_ reader: ObjectReader) -> ConnectionOptions.SessionLimitPolicy? {
        guard let text = reader.string(Self.policyName) else { return nil }
        let policy = ConnectionOptions.SessionLimitPolicy(rawValue: text)
        if policy == nil {
            let words = ConnectionOptions.SessionLimitPolicy.allCases.map(\.rawValue).joined(separator: ", ")
            reader.refuse(Self.policyName, "One of \(words) is expected.")
        }
        return policy
    }

    /// The tag of an upstream: over what a request can change.
    private var tag: EntityTag { Self.tag(of: services.pool.configuration.sessionLimit) }

    private static func tag(of limit: SessionLimit) -> EntityTag {
        EntityTag(of: Array("\(limit.maxConcurrentSessionsPerServer) \(limit.policy.rawValue)".utf8))
    }

    private func response(_ upstream: UpstreamConfiguration) -> Response { .json { write(upstream, to: &$0) } }

    private func write(_ upstream: UpstreamConfiguration, to json: inout JSONBytes) {
        let figures = services.pool.figures(of: upstream.name)
        json.beginObject()
        json.member("name", upstream.name)
        json.member("serverAddress", upstream.serverAddress)
        json.member("adapterSet", upstream.adapterSet)
        json.member("user", upstream.user)
        json.key("pool")
        json.beginObject()
        json.member("sessions", figures.sessions)
        json.member("subscriptions", figures.subscriptions)
        json.member("items", figures.items)
        json.endObject()
        json.key("quotas")
        json.beginObject()
        json.member("sessions", upstream.maxSessions)
        json.member("subscriptionsPerSession", upstream.maxSubscriptionsPerSession)
        json.member("subscriptions", upstream.maxSubscriptions)
        json.member("items", upstream.maxItems)
        json.endObject()
        let failed = services.pool.clients().last { $0.upstream == upstream.name && $0.trouble != nil }
        json.lastFailure(of: failed ?? services.pool.refusedClient(of: upstream.name))
        let limit = services.pool.configuration.sessionLimit
        json.member("maxConcurrentSessionsPerServer", limit.maxConcurrentSessionsPerServer)
        json.member("maxConcurrentSessionsPerServerExceededPolicy", limit.policy.rawValue)
        json.endObject()
    }
}

internal import JSONText
internal import LightstreamerClient
internal import SessionPool

/// `/v1/upstreams`: the configured servers.
struct UpstreamsResource: Sendable {
    let services: Services

    /// `GET /v1/upstreams`.
    func list(_ call: Call) throws -> OperationResult {
        let permissions = services.permissions(call)
        let visible = services.pool.settings.upstreams.filter { permissions.sees(upstream: $0.name) }
        let upstreams = visible.sorted { $0.name < $1.name }
        let page = try Page(of: upstreams, for: call) { $0.name }
        return .response(page.response("upstreams") { write($1, permissions, to: &$0) })
    }

    /// `GET /v1/upstreams/{name}`.
    func get(_ call: Call) throws -> OperationResult { try response(services.upstream(call), call, isRead: true) }

    /// `PATCH /v1/upstreams/{name}`: changes the session limit, which all upstreams share, until the next reload.
    func patch(_ call: Call) throws -> OperationResult {
        let upstream = try services.upstream(call)
        let reader = try RequestBody.reader(of: call, types: RequestBody.patchTypes)
        reader.allow(
            only: [Self.limitName, Self.policyName],
            readOnly: ["name", "serverAddress", "adapterSet", "user", "pool", "quotas", "lastFailure"]
        )
        let rule = "A whole number not less than 0 is expected; at most 6 count."
        let wanted = (limit: reader.integer(Self.limitName, in: 0...Int.max, rule), policy: policy(reader))
        try reader.refusals.finish()
        let tagged = taggedMembers(of: upstream, services.permissions(call))
        try services.pool.settings.changeSessionLimit { present throws(Problem) in
            try Self.tag(over: tagged, present).check(changeBy: call)
            if let limit = wanted.limit { present.maxConcurrentSessionsPerServer = limit }
            if let policy = wanted.policy { present.policy = policy }
        }
        return try response(upstream, call, isRead: false)
    }

    private static let limitName = "maxConcurrentSessionsPerServer"
    private static let policyName = "maxConcurrentSessionsPerServerExceededPolicy"

    private func policy(_ reader: ObjectReader) -> ConnectionOptions.SessionLimitPolicy? {
        guard let text = reader.string(Self.policyName) else { return nil }
        let policy = ConnectionOptions.SessionLimitPolicy(rawValue: text)
        if policy == nil {
            let words = ConnectionOptions.SessionLimitPolicy.allCases.map(\.rawValue).joined(separator: ", ")
            reader.refuse(Self.policyName, "One of \(words) is expected.")
        }
        return policy
    }

    /// A response with the tag of the upstream, which may be older than the body, and never newer.
    ///
    /// - Parameter isRead: Whether the preconditions of a read are evaluated; false: the upstream was changed.
    private func response(
        _ upstream: UpstreamConfiguration,
        _ call: Call,
        isRead: Bool
    ) throws(Problem) -> OperationResult {
        let permissions = services.permissions(call)
        let limit = services.pool.settings.configuration.sessionLimit
        let tag = Self.tag(over: taggedMembers(of: upstream, permissions), limit)
        let isKnown = isRead ? try tag.isKnown(to: call) : false
        return .response(Response.json { write(upstream, permissions, to: &$0) }.tagged(tag, isKnown: isKnown))
    }

    private static func tag(over members: [UInt8], _ limit: SessionLimit) -> EntityTag {
        EntityTag(of: members + Array("\(limit.maxConcurrentSessionsPerServer) \(limit.policy.rawValue)".utf8))
    }

    /// The members that belong to the tag, beside the session limit: all but the figures of the pool, and the attempts of a
    /// failure.
    private func taggedMembers(of upstream: UpstreamConfiguration, _ permissions: Permissions) -> [UInt8] {
        var json = JSONBytes(capacity: Response.usualLength)
        json.beginObject()
        writeSettings(of: upstream, to: &json)
        writeQuotas(of: upstream, to: &json)
        let failed = services.failedClient(of: upstream.name, among: services.pool.clients(), permissions)
        if let client = failed, let trouble = client.trouble {
            json.member("lastFailure", TroubleText.sentence(trouble, of: client))
            // The time of day is computed for each response, and differs by milliseconds.
            json.member("since", "\(trouble.since)")
        }
        json.endObject()
        return json.bytes
    }

    private func write(_ upstream: UpstreamConfiguration, _ permissions: Permissions, to json: inout JSONBytes) {
        let figures = services.pool.figures(of: upstream.name)
        json.beginObject()
        writeSettings(of: upstream, to: &json)
        json.object("pool") { json in
            json.member("sessions", figures.sessions)
            json.member("subscriptions", figures.subscriptions)
            json.member("items", figures.items)
        }
        writeQuotas(of: upstream, to: &json)
        let failed = services.failedClient(of: upstream.name, among: services.pool.clients(), permissions)
        json.lastFailure(of: failed)
        let limit = services.pool.settings.configuration.sessionLimit
        json.member("maxConcurrentSessionsPerServer", limit.maxConcurrentSessionsPerServer)
        json.member("maxConcurrentSessionsPerServerExceededPolicy", limit.policy.rawValue)
        json.endObject()
    }

    private func writeSettings(of upstream: UpstreamConfiguration, to json: inout JSONBytes) {
        json.member("name", upstream.name)
        json.member("serverAddress", upstream.serverAddress)
        json.member("adapterSet", upstream.adapterSet)
        json.member("user", upstream.user)
    }

    private func writeQuotas(of upstream: UpstreamConfiguration, to json: inout JSONBytes) {
        json.object("quotas") { json in
            json.member("sessions", upstream.maxSessions)
            json.member("subscriptionsPerSession", upstream.maxSubscriptionsPerSession)
            json.member("subscriptions", upstream.maxSubscriptions)
            json.member("items", upstream.maxItems)
        }
    }
}

extension Services {
    /// The client that has failed last to connect to an upstream, among the clients that a caller sees, or whose session the
    /// upstream has refused, unless another one is connected. The failure of a dedicated client has the server's message to
    /// the owner of the client.
    ///
    /// - Parameter clients: The clients of the pool, or those of the upstream.
    func failedClient(of upstream: String, among clients: [PooledClient], _ permissions: Permissions) -> PooledClient? {
        let present = clients.filter { $0.upstream == upstream }
        if let failed = present.last(where: { $0.trouble != nil && permissions.sees($0) }) { return failed }
        return present.contains { $0.core.status.isConnected } ? nil : pool.refusedClient(of: upstream)
    }
}

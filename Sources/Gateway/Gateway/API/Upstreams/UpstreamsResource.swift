internal import JSONText
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
        return .response(.json { write(upstream, to: &$0) })
    }

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
        let limit = services.pool.configuration.sessionLimit
        json.member("maxConcurrentSessionsPerServer", limit.maxConcurrentSessionsPerServer)
        json.member("maxConcurrentSessionsPerServerExceededPolicy", limit.policy.rawValue)
        json.endObject()
    }
}

internal import EventHub
internal import SessionPool

/// Refuses what a path names and the caller must not see, exactly as if it did not exist, and what it sees but must
/// not change.
struct PathGuard: Middleware {
    let services: Services

    /// What may be done with a client of the pool by whoever sees it.
    private static let common: Set<String> = ["getClient", "sendMessage"]

    func admit(_ call: inout Call, route: Route?) throws -> Answer? {
        guard let route, !call.caller.rights.reachesOverAll else { return nil }
        let permissions = services.permissions(call)
        guard case .literal("v1")? = route.pattern.segments.first, route.pattern.segments.count > 2,
            case .literal(let kind) = route.pattern.segments[1]
        else {
            try checkPage(route, permissions)
            return nil
        }
        switch kind {
        case "upstreams":
            let name = call.parameter("name")
            if !permissions.sees(upstream: name) { throw PoolError.unknownUpstream(name) }
        case "clients": try checkClient(call.parameter("id"), route, permissions)
        case "subscriptions":
            let id = ResourceID(call.parameter("id"))
            guard let resource = services.pool.resource(id), permissions.sees(resource) else {
                throw PoolError.unknownSubscription(id.rawValue)
            }
        case "streams":
            let id = call.parameter("id")
            guard let entry = services.streamBook.entry(id), permissions.sees(entry) else {
                throw HubError.unknownStream(id)
            }
        default: throw Challenge.insufficient(nil, "The operation has no rule for limited rights.")
        }
        return nil
    }

    private func checkClient(_ id: String, _ route: Route, _ permissions: Permissions) throws {
        guard let client = services.pool.client(ClientID(id)), permissions.sees(client) else {
            throw PoolError.unknownClient(id)
        }
        guard Self.common.contains(route.name) || permissions.controls(client) else {
            throw Challenge.insufficient(.manage, "The client belongs to the pool and serves many.")
        }
    }

    /// The figures tell of every upstream.
    private func checkPage(_ route: Route, _ permissions: Permissions) throws(Problem) {
        if route.name == "metrics", !permissions.caller.rights.coversAllUpstreams {
            throw Challenge.insufficient(nil, "The figures need credentials that cover all upstreams.")
        }
    }
}

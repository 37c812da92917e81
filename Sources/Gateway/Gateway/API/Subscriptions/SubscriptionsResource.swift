internal import Changes
internal import JSONText
internal import SessionCore
package import SessionPool

/// `/v1/subscriptions`: subscriptions and their lifecycle.
struct SubscriptionsResource: Sendable {
    let services: Services

    /// `GET /v1/subscriptions`.
    func list(_ call: Call) throws -> OperationResult {
        let resources = services.pool.resources().filter(services.permissions(call).sees)
        let page = try Page(of: resources, for: call) { $0.id.rawValue }
        return .response(page.response("subscriptions") { SubscriptionView($1, of: services.pool).write(to: &$0) })
    }

    /// `POST /v1/subscriptions`.
    func create(_ call: Call) throws -> OperationResult {
        let body = try RequestBody.reader(of: call)
        body.allow(only: SubscriptionReader.members.union(["feed", "upstream", "client", "active", "ttl"]))
        let defaults = services.sourceDefaults
        guard let reader = SourceReader.expanded(body, defaults) else {
            try body.refusals.finish()
            throw Problem(.invalidValue)
        }
        let isActive = reader.bool("active") != false
        let properties = SubscriptionReader(reader).properties(isComplete: isActive)
        var ttl: Duration?
        if let lifetime = SubscriptionReader(reader).lifetime(upTo: services.pool.configuration.subscriptionIdle) {
            ttl = lifetime
        }
        let carrier = carrier(reader, defaults)
        try reader.refusals.finish()
        guard let properties, let carrier else { throw Problem(.invalidValue) }
        let home = try home(carrier, call)
        try services.permissions(call).check(properties, of: services.pool.upstream(of: home))
        var owned = call
        if case .dedicated(let client) = home { owned.caller = owner(ofSubscriptionOn: client, call) }
        // The admission is for the subscription with this id.
        let id = SubscriptionID(RandomID.make(prefix: "s"))
        let use = ResourceUse.newSubscription(id, properties)
        return try services.coordination.admit(use, for: owned) { [owner = owned.caller, ttl] _ in
            let resource = try services.pool.createResource(home: home, properties: properties, as: id, ttl: ttl)
            return try start(resource, of: owner, isActive: isActive, call)
        }
    }

    /// Activates a subscription that was created for an owner, and responds.
    private func start(
        _ resource: SubscriptionResource,
        of owner: Caller,
        isActive: Bool,
        _ call: Call
    ) throws -> OperationResult {
        do {
            try services.access.owners.note(resource, madeBy: owner)
            try services.checkPresent(call)
            guard isActive else { return .response(created(resource)) }
            try services.pool.activate(resource)
        } catch {
            try? services.pool.delete(resource.id)
            throw error
        }
        guard let wait = PreferHeader(call.header("Prefer")).wait else { return .response(created(resource)) }
        let pool = services.pool
        return try outcome(
            of: resource,
            call,
            within: wait,
            subscribed: { created(resource) },
            refused: { try? pool.delete(resource.id) },
            timedOut: { created(resource) }
        )
    }

    /// `GET /v1/subscriptions/{id}`.
    func get(_ call: Call) throws -> OperationResult {
        let resource = try services.subscription(call)
        let (response, tag) = SubscriptionView(resource, of: services.pool).response()
        return .response(response.tagged(tag, ifNoneMatch: call.header("If-None-Match")))
    }

    /// `PATCH /v1/subscriptions/{id}`.
    func patch(_ call: Call) throws -> OperationResult {
        let resource = try services.subscription(call)
        let body = try RequestBody.object(of: call, types: RequestBody.patchTypes)
        let patch = try SubscriptionPatch(body, mostLifetime: services.pool.configuration.subscriptionIdle)
        _ = try services.ownSubscription(call)
        try checkTag(of: resource, call)
        let properties = try patch.applied(to: resource.properties)
        try services.permissions(call).check(properties, of: services.pool.upstream(of: resource.home))
        var owner = call.caller
        owner.identity = services.access.owners.owner(of: resource.id)
        let use = ResourceUse.changedSubscription(resource.id, properties, of: owner)
        return try services.coordination.admit(use, for: call) { [owner] _ in
            try apply(patch, to: resource, of: owner, call)
            let (response, tag) = SubscriptionView(resource, of: services.pool).response()
            return .response(response.tagged(tag, ifNoneMatch: nil))
        }
    }

    /// Applies a patch to the properties as they are now: they may have changed while the request waited for its admission,
    /// or for its turn.
    private func apply(
        _ patch: SubscriptionPatch,
        to resource: SubscriptionResource,
        of owner: Caller,
        _ call: Call
    ) throws {
        try resource.changes.withLock { _ in
            try checkTag(of: resource, call)
            let present = resource.properties
            let properties = try patch.applied(to: present)
            try services.permissions(call).check(properties, of: services.pool.upstream(of: resource.home))
            let usage = services.access.owners.usage
            try usage.change(resource.id.rawValue, to: properties, for: owner)
            do {
                try services.pool.change(resource, to: properties)
                if let lifetime = patch.lifetime { resource.ttl = lifetime }
            } catch {
                try? usage.change(resource.id.rawValue, to: present, for: owner)
                throw error
            }
        }
    }

    private func checkTag(of resource: SubscriptionResource, _ call: Call) throws(Problem) {
        try SubscriptionView(resource, of: services.pool).tag.check(ifMatch: call.header("If-Match"))
    }

    /// `DELETE /v1/subscriptions/{id}`.
    func delete(_ call: Call) throws -> OperationResult {
        try services.pool.delete(services.ownSubscription(call).id)
        return .response(Response(status: 204))
    }

    /// `POST /v1/subscriptions/{id}/subscribe`.
    func subscribe(_ call: Call) throws -> OperationResult {
        let resource = try services.ownSubscription(call)
        try RequestBody.none(of: call)
        let missing = resource.properties.missingMembers
        guard missing.isEmpty else {
            throw Problem(
                refusing: missing.map {
                    ProblemEntry(
                        .body(JSONPointer(tokens: [$0.list])),
                        .missingMember,
                        "\($0.list) or \($0.group) is required."
                    )
                }
            )
        }
        return try services.coordination.admit(.activation, for: call) { _ in try subscribe(resource, call) }
    }

    private func subscribe(_ resource: SubscriptionResource, _ call: Call) throws -> OperationResult {
        let status = try activate(resource) ? 202 : 200
        guard let wait = PreferHeader(call.header("Prefer")).wait else {
            return .response(shown(resource, status: status))
        }
        return try outcome(
            of: resource,
            call,
            within: wait,
            subscribed: { shown(resource) },
            refused: {},
            timedOut: { shown(resource, status: status) }
        )
    }

    /// Activates a subscription; false if it is active, perhaps by a request that was faster.
    private func activate(_ resource: SubscriptionResource) throws(PoolError) -> Bool {
        if resource.status.isActive { return false }
        do throws(PoolError) {
            try services.pool.activate(resource)
            return true
        } catch {
            guard case .lifecycle = error, resource.status.isActive else { throw error }
            return false
        }
    }

    /// `POST /v1/subscriptions/{id}/unsubscribe`.
    func unsubscribe(_ call: Call) throws -> OperationResult {
        let resource = try services.ownSubscription(call)
        try RequestBody.none(of: call)
        services.pool.deactivate(resource)
        return .response(shown(resource, status: 202))
    }

    // MARK: - Carriers

    /// The upstream or client that a request names.
    private enum Carrier {
        case upstream(String)
        case client(String)
    }

    private func carrier(_ reader: ObjectReader, _ defaults: SourceDefaults) -> Carrier? {
        switch (reader.has("upstream"), reader.has("client")) {
        case (true, true):
            reader.refuse("client", "Either upstream or client is expected, not both.")
            return nil
        case (false, true): return reader.name("client").map { .client($0) }
        case (_, false):
            guard let name = SourceReader.upstream(reader, defaults) else { return nil }
            return .upstream(name)
        }
    }

    private func home(_ carrier: Carrier, _ call: Call) throws -> SubscriptionHome {
        switch carrier {
        case .upstream(let name):
            try services.permissions(call).check(upstream: name)
            return .pooled(try services.sessionKey(upstream: name))
        case .client(let id):
            let client = try services.client(call, id: id)
            guard client.isDedicated else {
                throw Problem(.notDedicated, detail: "The client belongs to the pool; name its upstream instead.")
            }
            return .dedicated(client.id)
        }
    }

    /// The owner of a new subscription on a dedicated client: the owner of the client, who sees the events of the
    /// subscription among those of the client. The quotas are those of the caller.
    private func owner(ofSubscriptionOn client: ClientID, _ call: Call) -> Caller {
        var owner = services.access.owners.holder(of: client.rawValue)
        if owner.identity == call.caller.identity { return call.caller }
        owner.rights.maxSubscriptions = call.caller.rights.maxSubscriptions
        owner.rights.maxItems = call.caller.rights.maxItems
        return owner
    }

    // MARK: - Outcomes

    private func shown(_ resource: SubscriptionResource, status: Int = 200) -> Response {
        SubscriptionView(resource, of: services.pool).response(status: status).response
    }

    private func created(_ resource: SubscriptionResource) -> Response {
        let (response, tag) = SubscriptionView(resource, of: services.pool).response(status: 201)
        return response.with("Location", "/v1/subscriptions/\(resource.id.rawValue)").with("ETag", tag.description)
    }

    /// Waits until the server has accepted or rejected an active subscription.
    private func outcome(
        of resource: SubscriptionResource,
        _ call: Call,
        within seconds: Int,
        subscribed: @escaping @Sendable () -> Response,
        refused: @escaping @Sendable () -> Void,
        timedOut: @escaping @Sendable () -> Response
    ) throws -> OperationResult {
        try services.wait(
            call,
            upTo: seconds,
            on: resource.watchers,
            present: { resource.status },
            decide: { state in
                if state.isSubscribed { return subscribed().waited(seconds) }
                guard !state.isActive else { return nil }
                // Another request has unsubscribed or deleted it.
                guard let refusal = state.lastError else { return ended(resource, call, timedOut).waited(seconds) }
                refused()
                return ProblemDetails.response(to: call, refusedBy: refusal, of: .subscription).waited(seconds)
            },
            timedOut: timedOut
        )
    }
}

extension SubscriptionProperties {
    /// The pairs of members of which one is missing for an activation.
    fileprivate var missingMembers: [(list: String, group: String)] {
        (items.isUnset ? [("items", "itemGroup")] : []) + (fields.isUnset ? [("fields", "fieldSchema")] : [])
    }
}

/// The response to a request that waited for a subscription which is not active any more.
private func ended(_ resource: SubscriptionResource, _ call: Call, _ inactive: () -> Response) -> Response {
    if !resource.isDeleted { return inactive() }
    return ProblemDetails.response(to: call, for: PoolError.unknownSubscription(resource.id.rawValue))
}

extension Services {
    /// The key of the pooled sessions of an upstream with its configured credentials. Throws `unknownUpstream`.
    package func sessionKey(upstream name: String) throws(PoolError) -> SessionKey {
        guard let upstream = pool.upstream(name) else { throw .unknownUpstream(name) }
        return SessionKey(upstream: upstream.name, user: upstream.user, password: upstream.password)
    }
}

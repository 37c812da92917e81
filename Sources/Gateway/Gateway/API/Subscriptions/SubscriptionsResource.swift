internal import Changes
internal import JSONText
internal import SessionCore
internal import SessionPool

/// `/v1/subscriptions`: subscriptions and their lifecycle.
struct SubscriptionsResource: Sendable {
    /// The members of the body that creates a subscription.
    private static let members = SubscriptionReader.members.union(["feed", "upstream", "client", "active", "ttl"])

    let services: Services

    /// `GET /v1/subscriptions`.
    func list(_ call: Call) throws -> OperationResult {
        try services.visiting(services.pool.resourceCount, call) {
            let resources = services.pool.resources().filter(services.permissions(call).sees)
            let page = try Page(of: resources, for: call) { $0.id.rawValue }
            return .response(page.response("subscriptions") { SubscriptionView($1, of: services.pool).write(to: &$0) })
        }
    }

    /// `POST /v1/subscriptions`.
    func create(_ call: Call) async throws -> Response {
        let body = try RequestBody.reader(of: call)
        body.allow(only: Self.members)
        let defaults = services.callerDefaults(call)
        guard let reader = SourceReader.expanded(body, defaults) else {
            try body.refusals.finish()
            throw Problem(.invalidValue)
        }
        let isActive = reader.bool("active") != false
        let properties = SubscriptionReader.properties(reader, isComplete: isActive)
        var ttl: Duration?
        let limit = services.pool.settings.configuration.subscriptionIdle
        if let lifetime = SubscriptionReader.lifetime(reader, upTo: limit) {
            ttl = lifetime
        }
        let carrier = carrier(reader, defaults, isOfFeed: body.has("feed"))
        try reader.refusals.finish()
        guard let properties, let carrier else { throw Problem(.invalidValue) }
        let (home, upstream) = try home(carrier, properties, body, call)
        try check(properties, of: upstream, in: body.object, call)
        var owned = call
        if case .dedicated(let client) = home { owned.caller = owner(ofSubscriptionOn: client, call) }
        // The admission is for the subscription with this id.
        let id = SubscriptionID(RandomID.make(prefix: "s"))
        let use = ResourceUse.newSubscription(id, properties)
        let resource = try await services.coordination.admit(use, for: owned) {
            try services.access.owners.note(id, properties, madeBy: owned.caller)
            do {
                let resource = try services.pool.createResource(home: home, properties: properties, as: id, ttl: ttl)
                try services.checkPresent(call)
                if isActive { try services.pool.activate(resource) }
                return resource
            } catch {
                try? services.pool.delete(id)
                services.access.owners.forget(id)
                throw error
            }
        }
        let created = { (_: Bool) in
            let (response, tag) = SubscriptionView(resource, of: services.pool).response(status: 201)
            return response.with("Location", "/v1/subscriptions/\(resource.id.rawValue)").with("ETag", tag.description)
        }
        guard isActive else { return created(false) }
        return try await outcome(of: resource, call, refused: { try? services.pool.delete(resource.id) }, created)
    }

    /// `GET /v1/subscriptions/{id}`.
    func get(_ call: Call) throws -> OperationResult {
        let resource = try services.subscription(call)
        let (response, tag) = SubscriptionView(resource, of: services.pool).response()
        return .response(response.tagged(tag, isKnown: try tag.isKnown(to: call)))
    }

    /// `PATCH /v1/subscriptions/{id}`.
    func patch(_ call: Call) async throws -> Response {
        let resource = try services.subscription(call)
        let body = try RequestBody.object(of: call, types: RequestBody.patchTypes)
        let patch = try SubscriptionPatch(body, mostLifetime: services.pool.settings.configuration.subscriptionIdle)
        _ = try services.ownSubscription(call)
        try checkTag(of: resource, call)
        let properties = try patch.applied(to: resource.properties)
        try check(properties, of: services.pool.upstream(of: resource.home), in: body, call)
        var owner = call.caller
        owner.count(for: services.access.owners.holder(of: resource.id.rawValue).account)
        let use = ResourceUse.changedSubscription(resource.id, properties, of: owner)
        // A move to another upstream subscription compares the values of both subscriptions.
        let size = resource.present.table.writing
        try await services.coordination.admit(use, for: call) {
            try await services.background.perform(for: call, size) {
                try apply(patch, to: resource, of: owner, body, call)
            }
        }
        let (response, tag) = SubscriptionView(resource, of: services.pool).response()
        return response.tagged(tag, isKnown: false)
    }

    /// Applies a patch to the properties as they are now: they may have changed while the request waited for its admission,
    /// or for its turn.
    private func apply(
        _ patch: SubscriptionPatch,
        to resource: SubscriptionResource,
        of owner: Caller,
        _ body: JSONObject,
        _ call: Call
    ) throws {
        try resource.changes.withLock { _ in
            try checkTag(of: resource, call)
            let present = resource.properties
            let properties = try patch.applied(to: present)
            try check(properties, of: services.pool.upstream(of: resource.home), in: body, call)
            let usage = services.access.owners.usage
            try usage.change(resource.id.rawValue, to: properties, for: owner)
            do {
                try services.pool.change(resource, to: properties)
                if let lifetime = patch.lifetime { resource.ttl = lifetime }
            } catch {
                try? usage.change(resource.id.rawValue, to: present, for: owner)
                throw patch.located(error, changing: present)
            }
        }
    }

    /// Refuses properties that the rights of the caller do not cover, at the member of the body that has them.
    private func check(
        _ properties: SubscriptionProperties,
        of upstream: String?,
        in body: JSONObject,
        _ call: Call
    ) throws {
        do throws(Problem) {
            try services.permissions(call).check(properties, of: upstream)
        } catch {
            let path = [error.uncovered, ["feed"]].first { $0.first.map { body[$0] != nil } ?? false }
            throw ProblemDetails.located(error, at: path.map { .body(at: $0) })
        }
    }

    private func checkTag(of resource: SubscriptionResource, _ call: Call) throws(Problem) {
        try SubscriptionView(resource, of: services.pool).tag.check(changeBy: call)
    }

    /// `DELETE /v1/subscriptions/{id}`.
    func delete(_ call: Call) throws -> OperationResult {
        let resource = try services.ownSubscription(call)
        guard call.hasPreconditions else {
            try services.pool.delete(resource.id)
            return .response(Response(status: 204))
        }
        return behindChanges(of: resource, call) {
            try resource.changes.withLock { _ in
                try checkTag(of: resource, call)
                try services.pool.delete(resource.id)
            }
            return Response(status: 204)
        }
    }

    /// The result of a request that waits for the end of a `PATCH` of the subscription: if the subscription has many values,
    /// a background queue performs both, so that no thread of the HTTP server waits.
    private func behindChanges(
        of resource: SubscriptionResource,
        _ call: Call,
        _ work: @escaping @Sendable () throws -> Response
    ) -> OperationResult {
        let size = resource.present.table.writing
        return .later { try await services.background.perform(for: call, size) { .response(try work()) } }
    }

    /// `POST /v1/subscriptions/{id}/subscribe`.
    func subscribe(_ call: Call) async throws -> Response {
        let resource = try services.ownSubscription(call)
        try RequestBody.none(of: call)
        let missing = resource.properties.missingMembers
        guard missing.isEmpty else {
            throw Problem(
                refusing: missing.map {
                    ProblemEntry(.body(at: [$0.list]), .missingMember, "\($0.list) or \($0.group) is required.")
                }
            )
        }
        let isNew = try await services.coordination.admit(.activation, for: call) { try activate(resource) }
        return try await outcome(of: resource, call) { isSubscribed in
            shown(resource, status: isNew && !isSubscribed ? 202 : 200)
        }
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
        return behindChanges(of: resource, call) {
            services.pool.deactivate(resource)
            return shown(resource, status: 202)
        }
    }

    // MARK: - Carriers

    /// The upstream or client that a request names.
    private enum Carrier {
        case upstream(String)
        case client(String)
    }

    private func carrier(_ reader: ObjectReader, _ defaults: SourceDefaults, isOfFeed: Bool) -> Carrier? {
        switch (reader.has("upstream") || isOfFeed, reader.has("client")) {
        case (true, true):
            let rule = isOfFeed ? "The feed determines it." : "Either upstream or client is expected, not both."
            return reader.refused("client", rule)
        case (false, true): return reader.name("client").map { .client($0) }
        case (_, false):
            guard let name = SourceReader.upstream(reader, defaults) else { return nil }
            return .upstream(name)
        }
    }

    /// The sessions of a new subscription, and their upstream; nil: a server by address.
    private func home(
        _ carrier: Carrier,
        _ properties: SubscriptionProperties,
        _ body: ObjectReader,
        _ call: Call
    ) throws -> (SubscriptionHome, upstream: String?) {
        switch carrier {
        case .upstream(let name):
            do {
                let permissions = services.permissions(call)
                do { try permissions.check(upstream: name) } catch {
                    guard permissions.feeds.makePublic(properties, of: name) else { throw error }
                }
                let key = try services.pool.settings.sessionKey(upstream: name)
                return (.pooled(key), key.upstream)
            } catch {
                let member = ["upstream", "feed"].first(where: body.has)
                throw ProblemDetails.located(error, at: member.map { .body(at: [$0]) })
            }
        case .client(let id):
            let client = try ProblemDetails.lookUp(.body(at: ["client"])) { try services.client(call, id: id) }
            guard client.isDedicated else {
                let rule = "The client belongs to the pool; name its upstream instead."
                throw Problem(.notDedicated, detail: rule).at(.body(at: ["client"]))
            }
            return (.dedicated(client.id), client.upstream)
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

    /// The response for an active subscription, once the server has accepted or rejected the subscription if the request
    /// waits for that.
    private func outcome(
        of resource: SubscriptionResource,
        _ call: Call,
        refused: () -> Void = {},
        _ shown: (_ isSubscribed: Bool) -> Response
    ) async throws -> Response {
        guard let wait = PreferHeader(call.header("Prefer")).wait else { return shown(false) }
        let status = try await services.wait(call, upTo: wait, on: resource.watchers) { () -> SubscriptionStatus? in
            let status = resource.status
            if status.isActive, !status.isSubscribed, resource.sessionRefusal == nil { return nil }
            return status
        }
        guard let status else { return shown(false) }
        if status.isSubscribed { return shown(true).waited(wait) }
        if status.isActive, let refusal = resource.sessionRefusal {
            refused()
            return ProblemDetails.response(to: call, refusedBy: refusal, of: .session).waited(wait)
        }
        if let refusal = status.lastError {
            refused()
            return ProblemDetails.response(to: call, refusedBy: refusal, of: .subscription).waited(wait)
        }
        // Another request has unsubscribed or deleted the subscription.
        if !resource.isDeleted { return shown(false).waited(wait) }
        let id = resource.id.rawValue
        return services.response(to: call, waiting: wait, for: .unknownSubscription(id), id)
    }
}

extension SubscriptionProperties {
    /// The pairs of members of which one is missing for an activation.
    fileprivate var missingMembers: [NamePair] { (items.isUnset ? [.items] : []) + (fields.isUnset ? [.fields] : []) }
}

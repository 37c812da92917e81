internal import Changes
internal import EventHub
internal import Gateway
internal import JSONText
internal import MicroHTTPD
internal import Replication
internal import SessionCore
internal import SessionPool

/// The resources of removed members, which this member recreates.
extension ClusterResources {
    /// Recreates a resource of a removed member from the content of its specification, with its state in the log.
    func inherit(
        _ id: String,
        _ specification: ResourceSpecification,
        _ content: [UInt8],
        _ subscription: ClusterLedger.SubscriptionEntry?,
        _ client: ClusterLedger.ClientEntry?
    ) throws {
        guard let content = try JSONValue(parsing: content).object else { throw Problem(.internal) }
        var caller = Caller()
        caller.identity = specification.owner
        if let create = content["create"]?.object {
            try makeClient(id, create, content["changes"]?.object ?? JSONObject(), caller)
            if client?.status != .disconnected { try services.pool.client(ClientID(id))?.connect() }
        } else if let view = subscription {
            let home: SubscriptionHome =
                if let client = content["client"]?.string {
                    .dedicated(ClientID(client))
                } else {
                    .pooled(try services.pool.settings.sessionKey(upstream: specification.upstream ?? ""))
                }
            let id = SubscriptionID(id)
            // Specifications of version 1.1.0 have no time.
            let ttl = content["ttl"]?.number?.doubleValue.flatMap { $0 > 0 && $0 < 1e9 ? Duration.seconds($0) : nil }
            try services.access.owners.note(id, view.properties, madeBy: caller)
            let made = try services.pool.createResource(home: home, properties: view.properties, as: id, ttl: ttl)
            made.takeOver(cluster.hub.snapshot(of: made.id)?.lastError)
            if view.isActive { try cluster.activate(made, in: services.pool) }
        }
        // Specifications of version 1.2.0 have no caller. Its rights may not suffice to recreate what a later token changed.
        if let bytes = content["caller"]?.string.flatMap({ Base64URL.decode($0.utf8) }),
            let holder = try? Wire.caller.stating().value(bytes)
        {
            services.access.owners.restore(id, madeBy: holder)
        }
    }

    private func makeClient(_ id: String, _ create: JSONObject, _ changes: JSONObject, _ caller: Caller) throws {
        var create = create
        create["connect"] = .bool(false)
        try ClientsResource(services: services).inherit(id, call(create, of: id, caller))
        for change in changes {
            let changing = call(change.value.object ?? JSONObject(), of: id, caller)
            _ = try cluster.host?.router.operation(named: change.name)?.handler(changing)
        }
    }

    /// A call with the body with which the caller created or changed a client.
    private func call(_ body: JSONObject, of id: String, _ caller: Caller) -> Call {
        let request = HTTPRequest(method: "POST", rawPath: "")
        var call = Call(record: CallRecord(request, requestID: RequestIdentity.make(), since: services.clock()))
        call.parameters = PathParameters(names: ["id"], values: [id])
        call.body = Array(JSONValue.object(body).text.utf8)
        call.caller = caller
        call.isInherited = true
        return call
    }

    func release(_ id: String) {
        try? services.pool.delete(SubscriptionID(id))
        try? services.pool.deleteClient(ClientID(id))
        cluster.resourceRemoved(id)
    }
}

extension ClusterNode {
    /// Recreates a resource of a removed member. A resource that cannot be recreated is reported as removed.
    func inherit(_ id: String, _ specification: ResourceSpecification) {
        if resources?.services.has(id) == true { return keep(id, of: specification.upstream) }
        reports.withLock { $0.outbox.inherit(id, specification) }
        let (subscription, client) = state.withLock { state in
            (state.machine.ledger?.subscriptions[id], state.machine.ledger?.clients[id])
        }
        shared.withLock { _ = $0.recreated.insert(id) }
        defer {
            shared.withLock { _ = $0.recreated.remove(id) }
            resourceChanged(id)
        }
        do {
            guard let content = cipher.decrypt(specification.content) else {
                throw EngineError.refused(ClusterCipher.mismatch)
            }
            changeClaims { $0.use(subscription == nil ? .dedicatedClient(id) : .createdSubscription(id)) }
            try resources?.inherit(id, specification, content, subscription, client)
        } catch {
            let cause = ProblemDetails.sentence(for: error)
            logger.warning("cannot recreate a resource of a removed member", metadata: ["error": "\(cause)"])
            try? pool?.deleteClient(ClientID(id))
            if subscription != nil {
                try? pool?.delete(SubscriptionID(id))
                resources?.services.access.owners.forget(.subscription(SubscriptionID(id)))
            }
            take(client != nil ? .client(ClientID(id), .removed) : .subscription(SubscriptionID(id), .removed))
            resourceRemoved(id)
            var units: [QuotaUnit] = [.createdSubscription(id), .dedicatedClient(id)]
            if let owner = specification.owner { units.append(.subscription(id, of: owner)) }
            changeClaims { $0.releaseInherited(units) }
        }
    }

    /// Keeps a resource of this member that no other member could inherit when this member was removed. The report of the
    /// resource by `reportAll` is complete, except for the status of a client, which the log has already.
    private func keep(_ id: String, of upstream: String?) {
        let known = state.withLock { $0.machine.ledger?.clients[id]?.status }
        reports.withLock { $0.outbox.reportStatus(of: id, unless: known) }
        wake()
        // The resource has credits besides those that the log has given for it.
        if let upstream { releaseUnusedCredits(of: upstream) }
        resourceChanged(id)
    }

    /// Releases a resource that another member owns, if this process has it.
    func releaseResource(_ id: String) {
        guard let resources, resources.services.has(id) else { return }
        let pool = resources.services.pool
        if pool.client(ClientID(id)) != nil {
            // They end with the client, but stay in the cluster.
            for subscription in pool.resources() where subscription.home == .dedicated(ClientID(id)) {
                releaseResource(subscription.id.rawValue)
            }
        }
        reports.withLock { $0.outbox.release(id) }
        pool.abandon(ClientID(id))
        resources.release(id)
    }
}

internal import Changes
internal import SessionCore
internal import Synchronization

/// Sessions that a new configuration of their upstream replaces, and resources without a session.
extension SessionPool {
    /// Closes an outdated session that does not deliver. Its subscriptions continue on sessions with the present configuration,
    /// and its messages are aborted. False for other sessions, which stay as they are.
    @discardableResult
    func renewIfOutdated(_ client: PooledClient) -> Bool {
        let isOver = state.withLock { state in
            if state.isStopping || client.isDelivering.load(ordering: .sequentiallyConsistent) { return false }
            // No subscription is added to the client from now on.
            return state.machine.outdatedRemoved(client.id)
        }
        guard isOver else { return false }
        // All of them first: a refusal of the session, which may come at the same time, does not concern them any more.
        let ended = sharedSubscriptions(on: client).map { (shared: $0, moving: $0.end(), served: $0.resources) }
        for resource in ended.flatMap({ $0.moving }) { renew(resource, from: nil) }
        for (shared, _, served) in ended {
            for resource in served { renew(resource, from: shared) }
        }
        closeClient(client)
        return true
    }

    /// Continues the resources for which there was no room, or were no credits, when their sessions were closed.
    func renewUnserved() {
        let unserved = state.withLock { $0.resources.takeUnserved() }
        for resource in unserved where resource.carrier == nil { renew(resource, from: nil) }
    }

    /// What the resources without a session need beyond the credits of their upstreams, for one resource of each upstream.
    package var shortages: [CreditShortage] {
        var shortages: [String: CreditShortage] = [:]
        for resource in state.withLock({ $0.resources.unserved }) {
            guard case .pooled(let session) = resource.home else { continue }
            do throws(PoolError) {
                try checkCredits(for: SharedKey(session: session, properties: resource.properties))
            } catch {
                if case .creditsNeeded(let shortage) = error { shortages[shortage.upstream] = shortage }
            }
        }
        return shortages.values.sorted { $0.upstream < $1.upstream }
    }

    /// Continues a resource on another upstream subscription, unless a request has changed it meanwhile.
    ///
    /// - Parameter former: The subscription that serves the resource; nil: any or none, because the target of a move has ended.
    private func renew(_ resource: SubscriptionResource, from former: SharedSubscription?) {
        let isUnread = state.withLock { state in
            if state.resources.withdraw(resource) { return true }
            // A reader that leaves meanwhile is not the last one.
            if resource.isImplicit { state.resources.addReader(of: resource) }
            return false
        }
        if isUnread { return deleteResource(resource) }
        resource.changes.withLock { _ in
            guard !resource.isDeleted, former == nil || resource.carrier === former else { return }
            if let carrier = resource.carrier {
                cancelMove(resource)
                guard carrier.handOver(resource) else { return }
                removeUser(of: carrier)
            }
            do {
                _ = try makeActive(resource)
            } catch {
                // At the next tick again.
                state.withLock { $0.resources.keepUnserved(resource) }
                guard former != nil else { return }
                logger.warning(
                    "subscription waits, because the present configuration of its upstream does not carry it",
                    metadata: ["subscription": "\(resource.id)", "error": "\(error)"]
                )
                resource.watchers.notify()
            }
        }
        if resource.isImplicit, !resource.isDeleted { leaveImplicit(resource) }
    }
}

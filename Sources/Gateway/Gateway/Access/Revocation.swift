internal import SessionPool

/// The rights that callers have lost by a change of the configuration, or of the JWK set.
struct Revocation: Sendable {
    private let older: AccessPolicy
    private let policy: AccessPolicy
    private let changedKeys: Set<String>
    private let losesTokens: Bool
    private let losesPublicFeeds: Bool

    /// The difference between two policies.
    init(from older: AccessPolicy, to newer: AccessPolicy) {
        self.older = older
        policy = newer
        changedKeys = older.keys.identitiesChanged(in: newer.keys)
        losesTokens = !older.configuration.webTokens.gives(asMuchAs: newer.configuration.webTokens)
        let publicFeeds = newer.configuration.publicFeeds
        losesPublicFeeds = older.configuration.publicFeeds.contains { !publicFeeds.contains($0) }
    }

    var requiresCredentials: Bool { !policy.isOpen }

    /// Whether the credential of a caller is no longer valid, or has other rights, so that its streams, waiting requests
    /// and tickets end. A caller of public feeds has no credential to lose.
    func ends(_ caller: Caller) -> Bool {
        if policy.isOpen { return false }
        guard let identity = caller.identity else { return !caller.isAnonymous }
        if TokenVerifier.isIdentity(identity) { return losesToken(of: caller) }
        return !policy.configuration.modes.contains(.keys) || changedKeys.contains(identity)
    }

    /// Whether the waiting requests of a caller end: its credential has changed, or a feed is no longer public.
    func endsRequests(of caller: Caller) -> Bool {
        ends(caller) || (requiresCredentials && caller.isAnonymous && losesPublicFeeds)
    }

    /// The rights that the owner of a client or subscription has now; nil: none. A key that was replaced keeps them, with
    /// its name.
    func rights(of owner: Caller) -> Rights? {
        if policy.isOpen { return .all }
        guard let identity = owner.identity else { return nil }
        if TokenVerifier.isIdentity(identity) { return losesToken(of: owner) ? nil : owner.rights }
        return policy.configuration.modes.contains(.keys) ? policy.keys.rights(of: identity) : nil
    }

    /// Whether the token of a caller is no longer valid, or gives other rights. A key that another gateway has used is not
    /// judged before the JWK set is loaded.
    private func losesToken(of caller: Caller) -> Bool {
        if losesTokens { return true }
        return !policy.takesTokens(of: caller) && (older.takesTokens(of: caller) || !policy.awaitsKey(of: caller))
    }
}

extension WebTokenConfiguration {
    /// Whether a token gives the same rights in another configuration, if its key is valid there.
    fileprivate func gives(asMuchAs other: WebTokenConfiguration) -> Bool {
        claims == other.claims && rights == other.rights && issuer == other.issuer && audience == other.audience
            && leeway <= other.leeway && longestLifetime <= other.longestLifetime
    }
}

extension AccessPolicy {
    /// Whether the key that has verified the token of a caller is still valid. The key is unknown where a gateway of version 1.2.0
    /// has verified the token and has left since.
    func takesTokens(of caller: Caller) -> Bool {
        guard configuration.modes.contains(.jwt), let verifier else { return false }
        return caller.verifiedBy.map(verifier.hasKey) ?? true
    }

    /// Whether the JWK set, which is not loaded yet, may have the unknown key that has verified the token of a caller.
    func awaitsKey(of caller: Caller) -> Bool {
        guard configuration.modes.contains(.jwt), let verifier, verifier.lacksKeySet else { return false }
        return caller.verifiedBy.map { !verifier.hasKey($0) } ?? false
    }

    /// Whether a caller has the rights that its credential gives now.
    func recognises(_ caller: Caller) -> Bool {
        if isOpen { return true }
        guard let identity = caller.identity else { return caller.isAnonymous && configuration.hasPublicFeeds }
        if TokenVerifier.isIdentity(identity) { return takesTokens(of: caller) }
        return configuration.modes.contains(.keys) && keys.rights(of: identity) == caller.rights
    }
}

extension Services {
    /// Ends the streams whose tokens have expired. Their timers run late when the wall clock is set forward, and after a
    /// suspension of the machine.
    func endExpiredStreams() {
        for id in streamResources.ids {
            guard let opener = streamResources.entry(id)?.opener, access.remaining(of: opener) == .zero else {
                continue
            }
            streams.close(id, reason: StreamOpener.expired)
        }
    }

    /// Ends the streams, waiting requests, clients and subscriptions that callers have lost the right to.
    func end(_ revocation: Revocation) {
        for id in streamResources.ids {
            guard let entry = streamResources.entry(id), entry.isOpen else { continue }
            var creator = Caller()
            creator.count(for: entry.owner)
            let caller = entry.opener ?? creator
            let isLost = revocation.ends(caller) || loses(entry.joined.values, caller, after: revocation)
            if isLost { streams.close(id, reason: "revoked") }
        }
        waiting.end { request in
            revocation.endsRequests(of: request.caller)
                || request.joined.map { loses([$0], request.caller, after: revocation) } == true
        }
        for resource in pool.resources() where !resource.isImplicit {
            let permissions = permissions(ofOwnerOf: resource.id.rawValue, after: revocation)
            if permissions?.mayHold(resource) != true { try? pool.delete(resource.id) }
        }
        for client in pool.clients() where client.isDedicated {
            let permissions = permissions(ofOwnerOf: client.id.rawValue, after: revocation)
            guard permissions?.mayHold(client) != true else { continue }
            try? pool.deleteClient(client.id)
            coordination.made(.resourceRemoved(client.id.rawValue))
        }
    }

    /// Whether a caller has joined data of a feed that is no longer public, or no longer has the data.
    private func loses(
        _ joined: some Sequence<JoinedSubscription>,
        _ caller: Caller,
        after revocation: Revocation
    ) -> Bool {
        guard revocation.requiresCredentials else { return false }
        let permissions = permissions(of: caller)
        return joined.contains { !permissions.covers($0.properties, of: $0.upstream) }
    }

    /// The present permissions of the owner of a client or subscription; nil: it has none any more.
    private func permissions(ofOwnerOf id: String, after revocation: Revocation) -> Permissions? {
        var owner = access.owners.holder(of: id)
        guard let rights = revocation.rights(of: owner) else { return nil }
        owner.rights = rights
        return permissions(of: owner)
    }

    private func permissions(of caller: Caller) -> Permissions {
        Permissions(
            caller: caller,
            owners: access.owners,
            pool: pool,
            coordination: coordination,
            feeds: VisibleFeeds(configuration)
        )
    }
}

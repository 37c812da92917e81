internal import TLCP
public import TLCPTransports

extension LightstreamerClient {
    /// The delegates, in the order in which they were added. They are held strongly.
    public var delegates: [any ClientDelegate] { core.state.withLock { $0.delegates } }

    /// Adds a delegate; a duplicate is ignored. Its first event is `clientDidAddDelegate`; earlier events are not
    /// delivered to it.
    public func addDelegate(_ delegate: any ClientDelegate) {
        let isNew = core.state.withLock { state in
            guard !state.delegates.contains(where: { $0 === delegate }) else { return false }
            state.delegates.append(delegate)
            return true
        }
        if isNew { core.perform { $0.add(delegate) } }
    }

    /// Removes a delegate; an unknown one is ignored. Earlier events are still delivered to it; its last event is
    /// `clientDidRemoveDelegate`.
    public func removeDelegate(_ delegate: any ClientDelegate) {
        let wasThere = core.state.withLock { state in
            let before = state.delegates.count
            state.delegates.removeAll { $0 === delegate }
            return state.delegates.count != before
        }
        if wasThere { core.perform { $0.remove(delegate) } }
    }

    /// Adds an observer, which receives every event from now on. It is held strongly.
    package func addObserver(_ observer: any ClientObserver & Sendable) { core.perform { $0.add(observer) } }
}

extension LightstreamerClient {
    /// Adds a legacy listener; a duplicate is ignored. It is held strongly.
    public func addLegacyListener(_ listener: any LegacyConnectionListener) {
        let isNew = core.state.withLock { state in
            guard !state.legacyListeners.contains(where: { $0 === listener }) else { return false }
            state.legacyListeners.append(listener)
            return true
        }
        if isNew { core.perform { $0.add(listener) } }
    }

    /// Removes a legacy listener.
    public func removeLegacyListener(_ listener: any LegacyConnectionListener) {
        core.state.withLock { $0.legacyListeners.removeAll { $0 === listener } }
        core.perform { $0.remove(listener) }
    }

    /// Registers this application's device token for push notifications with the server, now and in later sessions.
    /// `previousToken` is the token that it replaces; nil: a first registration. The outcome goes to legacy listeners.
    public func registerDeviceToken(
        _ token: String,
        platform: String = "Apple",
        applicationID: String,
        previousToken: String? = nil
    ) {
        core.send(
            .deviceTokenChanged(
                MPNRegisterRequest(
                    platform: platform,
                    appID: applicationID,
                    deviceToken: previousToken ?? token,
                    newDeviceToken: previousToken == nil ? nil : token
                )
            )
        )
    }

    /// Asks the server to reset the badge counter of the registered device. The outcome goes to legacy listeners.
    public func resetBadge() { core.send(.badgeReset) }
}

extension LightstreamerClient {
    /// The cookies sent with requests and handshakes of this client, and set by servers.
    public var cookieJar: CookieJar { core.cookieJar }

    /// Adds cookies; they are sent from the next request on, to servers whose domain they match.
    public func addCookies(_ cookies: [Cookie]) { core.cookieJar.add(cookies) }

    /// The cookies that would be sent to an `http` or `https` URL; nil: all that have not expired. Empty for another
    /// URL.
    public func cookies(forURL url: String?) -> [Cookie] {
        guard let url else { return core.cookieJar.all }
        return CookieOrigin(url: url).map(core.cookieJar.cookies(for:)) ?? []
    }
}

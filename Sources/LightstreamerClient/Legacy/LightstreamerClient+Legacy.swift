extension LightstreamerClient {
    /// Adds a listener of the older kind; one that is there already is ignored. It is held strongly.
    public func addLegacyListener(_ listener: any LegacyConnectionListener) {
        let isNew = core.state.withLock { state in
            guard !state.legacyListeners.contains(where: { $0 === listener }) else { return false }
            state.legacyListeners.append(listener)
            return true
        }
        if isNew { core.perform { $0.add(listener) } }
    }

    /// Removes a listener of the older kind.
    public func removeLegacyListener(_ listener: any LegacyConnectionListener) {
        core.state.withLock { $0.legacyListeners.removeAll { $0 === listener } }
        core.perform { $0.remove(listener) }
    }

    /// Tells the server this application's device token for push notifications, now and in later sessions.
    /// `previousToken` is the one that it replaces; nil: a first registration. The outcome goes to legacy listeners.
    public func registerDeviceToken(
        _ token: String,
        platform: String = "Apple",
        applicationID: String,
        previousToken: String? = nil
    ) {
        core.send(
            .deviceTokenChanged(
                DeviceToken(
                    platform: platform,
                    applicationID: applicationID,
                    token: token,
                    previousToken: previousToken
                )
            )
        )
    }

    /// Asks the server to reset the badge counter of the registered device. The outcome goes to legacy listeners.
    public func resetBadge() { core.send(.badgeReset) }
}

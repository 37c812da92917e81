extension LightstreamerClient {
    /// The delegates, in the order in which they were added. They are held strongly.
    public var delegates: [any ClientDelegate] { core.state.withLock { $0.delegates } }

    /// Adds a delegate; one that is there already is ignored. Its first event is `clientDidAddDelegate`; events that
    /// happened before are not told to it.
    public func addDelegate(_ delegate: any ClientDelegate) {
        let isNew = core.state.withLock { state in
            guard !state.delegates.contains(where: { $0 === delegate }) else { return false }
            state.delegates.append(delegate)
            return true
        }
        if isNew { core.perform { $0.add(delegate) } }
    }

    /// Removes a delegate; an unknown one is ignored. What happened before is still told to it, then its last event is
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

    /// Removes an observer.
    package func removeObserver(_ observer: any ClientObserver & Sendable) { core.perform { $0.remove(observer) } }
}

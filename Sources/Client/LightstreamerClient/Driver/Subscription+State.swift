internal import SessionCore

extension Subscription {
    /// The state that a subscription's getters read.
    struct State {
        var draft: SubscriptionDraft
        /// Identifies the present or the last `subscribe`; nil before the first.
        var token: SubscriptionToken?
        var isActive = false
        /// The client that it is, or was last, active on.
        weak var core: ClientCore?
        /// The values; nil while inactive.
        var table: ValueTable?
        /// COMMAND only: the position of the key field, as announced last for these fields.
        var keyPosition: Int?
        /// COMMAND only: the position of the command field, as announced last for these fields.
        var commandPosition: Int?
        /// Its `LS_subId` since the last `subscribe`; nil before the first, and on clients without a handover.
        var number: Int?
        /// The refusal or removal that ended its last activity; nil while active, and if the application unsubscribed.
        var refusal: SubscriptionRefused?
        /// The delegates as the getter returns them.
        var delegates: [any SubscriptionDelegate] = []
        /// The receivers of events, in order of addition: package observers, event sequences, and the adapters of those
        /// delegates whose first event was delivered and whose last one was not.
        var observers: [any SubscriptionObserver] = []

        init(draft: SubscriptionDraft) { self.draft = draft }

        mutating func deactivate() {
            isActive = false
            table = nil
        }
    }
}

/// Activation, deactivation and the present values.
extension Subscription {
    /// Makes the subscription active; returns its properties, or the error.
    ///
    /// - Parameter table: Its values in a session that is adopted; nil: none yet.
    func activate(
        _ token: SubscriptionToken,
        on core: ClientCore,
        with table: ValueTable? = nil
    ) -> Result<SubscriptionProperties, ClientError> {
        state.withLock { state in
            if state.isActive {
                return .failure(ClientError(.lifecycle, rule: "Cannot subscribe to an active Subscription"))
            }
            guard state.draft.items != nil else {
                return .failure(
                    ClientError(.lifecycle, property: "items", rule: "Specify property 'items' or 'itemGroup'")
                )
            }
            guard let properties = state.draft.properties else {
                return .failure(
                    ClientError(.lifecycle, property: "fields", rule: "Specify property 'fields' or 'fieldSchema'")
                )
            }
            state.isActive = true
            state.refusal = nil
            state.token = token
            state.core = core
            state.table = table
            if let position = table?.keyPosition { state.keyPosition = position }
            if let position = table?.commandPosition { state.commandPosition = position }
            if table == nil { state.table = ValueTable(properties: properties) }
            return .success(properties)
        }
    }

    func noteNumber(_ number: Int?) { state.withLock { $0.number = number } }

    /// Makes the subscription inactive; returns its token, nil if it was inactive, or the error.
    func deactivate(on core: ClientCore) -> Result<SubscriptionToken?, ClientError> {
        state.withLock { state in
            guard state.isActive else { return .success(nil) }
            guard state.core === core else {
                return .failure(ClientError(.lifecycle, rule: "The Subscription is not subscribed to this Client"))
            }
            state.deactivate()
            return .success(state.token)
        }
    }

    /// Applies an event to the values; returns whether it made the subscription inactive, and the observers to notify.
    /// Events of an earlier activity, which the user has ended meanwhile, change nothing.
    func take(
        _ event: SubscriptionEvent,
        of token: SubscriptionToken,
        at now: Moment
    ) -> (hasEnded: Bool, observers: [any SubscriptionObserver]) {
        state.withLock { state in
            guard state.isActive, state.token == token else { return (false, state.observers) }
            if case .update(let update) = event {
                state.table?.apply(update, at: now)
                valueWeight.store(state.table?.weight ?? 0, ordering: .relaxed)
                return (false, state.observers)
            }
            switch event {
            case .failed, .unsubscribed(isFinal: true):
                state.deactivate()
                state.refusal = SubscriptionRefused(event)
                return (true, state.observers)
            default:
                if case .subscribed(_, _, let keyPosition, let commandPosition) = event {
                    state.keyPosition = keyPosition
                    state.commandPosition = commandPosition
                }
                state.table?.apply(event, at: now)
                return (false, state.observers)
            }
        }
    }

    /// The receivers of events.
    var observers: [any SubscriptionObserver] { state.withLock { $0.observers } }

    /// Adds an observer, which receives every event from now on. It is held strongly.
    package func addObserver(_ observer: any SubscriptionObserver) {
        state.withLock { $0.observers.append(observer) }
    }

    /// Removes an observer; an unknown one is ignored.
    package func removeObserver(_ observer: any SubscriptionObserver) {
        state.withLock { state in state.observers.removeAll { $0 === observer } }
    }

    /// The receivers of events if the activity of this token is over and was the last one.
    func observersIfEnded(_ token: SubscriptionToken) -> [any SubscriptionObserver] {
        state.withLock { !$0.isActive && $0.token == token ? $0.observers : [] }
    }

    /// The refusal or removal that ended its last activity; nil while active, and if the application unsubscribed.
    var refusal: SubscriptionRefused? { state.withLock { $0.refusal } }

    /// Makes the subscription inactive at the end of its client.
    func abandon(_ token: SubscriptionToken?) {
        state.withLock { state in
            if state.token == token { state.deactivate() }
        }
    }
}

extension Subscription {
    /// Changes the draft, if the subscription is inactive and the result is valid.
    func edit(_ change: (inout SubscriptionDraft) -> Void) throws(ClientError) {
        let refusal: ClientError? = state.withLock { state in
            if state.isActive { return Self.activeError }
            var draft = state.draft
            change(&draft)
            // The draft was valid before this change: every change is checked.
            if let violation = draft.violations.first { return violation }
            if draft.fields != state.draft.fields {
                state.keyPosition = nil
                state.commandPosition = nil
            }
            state.draft = draft
            return nil
        }
        if let refusal { throw refusal }
    }

    /// Changes the requested frequency, of an active subscription as well.
    func editFrequency(_ frequency: RequestedMaxFrequency?) throws(ClientError) {
        let refusal: ClientError? = state.withLock { state in
            var draft = state.draft
            draft.requestedMaxFrequency = frequency
            if let violation = draft.violations.first { return violation }
            if state.isActive, state.draft.requestedMaxFrequency != frequency {
                guard let frequency, frequency != .unfiltered, state.draft.requestedMaxFrequency != .unfiltered else {
                    return Self.frequencyError(frequency)
                }
                // Inside the lock, so that two changes reach the driver in the order in which the getter saw them.
                if let token = state.token { state.core?.mailbox.put(.changeMaxFrequency(token, frequency)) }
            }
            state.draft = draft
            return nil
        }
        if let refusal { throw refusal }
    }

    private static let activeError = ClientError(
        .lifecycle,
        rule: "Cannot modify an active Subscription. Please unsubscribe before applying any change"
    )

    private static func frequencyError(_ frequency: RequestedMaxFrequency?) -> ClientError {
        ClientError(
            .lifecycle,
            property: "requestedMaxFrequency",
            value: frequency?.text,
            rule: "cannot be changed from or to unfiltered, or to null, while the Subscription is active"
        )
    }
}

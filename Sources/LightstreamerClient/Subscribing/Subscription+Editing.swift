internal import SessionCore

extension Subscription {
    /// Changes the draft, if the subscription is inactive and the outcome admitted.
    func edit(_ change: (inout SubscriptionDraft) -> Void) throws(ClientError) {
        let refusal: ClientError? = state.withLock { state in
            if state.isActive { return Self.activeError }
            var draft = state.draft
            change(&draft)
            // What was wrong before this change cannot be: every change is checked.
            if let violation = draft.violations.first { return violation }
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

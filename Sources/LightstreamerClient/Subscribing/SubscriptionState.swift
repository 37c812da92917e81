internal import SessionCore

/// What a subscription's getters read.
struct SubscriptionState {
    var draft: SubscriptionDraft
    /// Names the present, or else the last, time it was subscribed to; nil before the first.
    var token: SubscriptionToken?
    var isActive = false
    /// The client it is active on, or was last.
    weak var core: ClientCore?
    /// The values; nil while inactive.
    var table: ValueTable?
    /// As the getter tells them.
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

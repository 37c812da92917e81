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
    /// As events find them: those whose first event has come and whose last one has not.
    var listening: [any SubscriptionDelegate] = []

    /// The event sequences being read.
    var feeds: [SequenceFeed<SubscriptionEvent>] = []

    init(draft: SubscriptionDraft) { self.draft = draft }

    mutating func deactivate() {
        isActive = false
        table = nil
    }
}

internal import Changes
internal import SessionCore

/// The hub's record of a client.
struct ClientRecord: Sendable {
    /// How many channels of released subscriptions are kept for streams that resume.
    static let departedLimit = 16

    /// Its present status.
    private(set) var status: ClientStatus
    /// Why it has no connection; nil while it has one, and if another member of the cluster alone knows.
    private(set) var failure: LastFailure?
    /// `status` and `server-error`: for its own streams and for those of its subscriptions.
    var connection: Channel
    /// Properties and messages.
    var own: Channel
    /// The events for legacy listeners.
    var legacy: Channel
    /// The subscriptions that it carries, in the order in which they were added.
    var members: [SubscriptionID] = []
    /// The channels of the subscriptions that it released last.
    var departed: [Channel] = []
    /// The streams that have it as a source.
    var streams: Set<String> = []

    /// The record of a client with these channels.
    init(status: ClientStatus, connection: Channel, own: Channel, legacy: Channel) {
        self.status = status
        self.connection = connection
        self.own = own
        self.legacy = legacy
    }

    /// The status has changed.
    mutating func changed(_ status: ClientStatus, _ failure: LastFailure?) {
        self.status = status
        self.failure = failure
    }

    /// Its channels.
    var channels: [Channel] { [connection, own, legacy] }

    /// Adds a subscription.
    mutating func add(_ subscription: SubscriptionID, _ channel: Channel) {
        departed.removeAll { $0 === channel }
        members.append(subscription)
    }

    /// Removes a subscription; its last events stay available to streams that resume.
    mutating func remove(_ subscription: SubscriptionID, _ channel: Channel) {
        guard let index = members.firstIndex(of: subscription) else { return }
        members.remove(at: index)
        departed.append(channel)
        if departed.count > Self.departedLimit { departed.removeFirst() }
    }
}

/// The hub's record of a subscription resource.
struct SubscriptionRecord: Sendable {
    /// Its properties.
    var properties: SubscriptionProperties
    /// Its events.
    var channel: Channel
    /// Its present values, for streams that join.
    var table: ValueTable
    /// Whether it is active.
    var isActive = false
    /// Why the server last refused or removed it; nil since it was activated or confirmed.
    var lastError: UpstreamRefusal?
    /// The client that carries it.
    var client: ClientID?
    /// Its state when that client, or the last one, began to carry it.
    var start: SubscriptionStart?
    /// The streams that have it as a source.
    var streams: Set<String> = []
}

/// The state of a subscription when a client began to carry it: active, not subscribed, without values.
struct SubscriptionStart: Sendable {
    /// The sequence of the last event before it.
    let sequence: UInt64
    /// The client.
    let client: ClientID
    /// The status of the client.
    let status: ClientStatus
}

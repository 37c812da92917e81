internal import SessionCore

/// What the hub knows of a client.
struct ClientRecord: Sendable {
    /// How many channels of subscriptions that went are kept for streams that resume.
    static let departedLimit = 16

    /// Its present status.
    var status: ClientStatus
    /// `status` and `server-error`: for its own streams and for those of its subscriptions.
    let trouble: Channel
    /// Properties and messages.
    let own: Channel
    /// What only legacy streams are told.
    let legacy: Channel
    /// The subscriptions that it carries, in the order in which they came.
    var members: [String] = []
    /// The channels of the last subscriptions that it does not carry any more.
    private(set) var departed: [Channel] = []
    /// The streams that have it as a source.
    var streams: Set<String> = []
    /// The bytes that were received and not told yet.
    var untoldBytes = 0
    /// When bytes were told last.
    var bytesToldAt: Moment?
    /// What legacy streams are told of its other events.
    var derivation: LegacyDerivation

    /// A client's record over its channels.
    init(status: ClientStatus, trouble: Channel, own: Channel, legacy: Channel) {
        self.status = status
        derivation = LegacyDerivation(status: status)
        self.trouble = trouble
        self.own = own
        self.legacy = legacy
    }

    /// A subscription comes.
    mutating func add(_ subscription: String, _ channel: Channel) {
        departed.removeAll { $0 === channel }
        members.append(subscription)
    }

    /// A subscription goes; its last events can still be resumed.
    mutating func remove(_ subscription: String, _ channel: Channel) {
        guard let index = members.firstIndex(of: subscription) else { return }
        members.remove(at: index)
        departed.append(channel)
        if departed.count > Self.departedLimit { departed.removeFirst() }
    }
}

/// What the hub knows of a subscription resource.
struct SubscriptionRecord: Sendable {
    /// What it is.
    let properties: SubscriptionProperties
    /// Its events.
    let channel: Channel
    /// Its present values, for those who join.
    var table: ValueTable
    /// Whether it is active.
    var isActive = false
    /// The client that carries it.
    var client: String?
    /// The streams that have it as a source.
    var streams: Set<String> = []

    /// The present state as a joiner is told it. In MERGE mode, too, the end of the snapshot is told: the server sends
    /// none there, but a joiner has to know when it has all there is.
    var presentState: [SubscriptionEvent] {
        let state = table.presentState()
        guard properties.mode == .merge else { return state }
        return state.flatMap { event -> [SubscriptionEvent] in
            guard case .update(let update) = event else { return [event] }
            return [event, .endOfSnapshot(itemPos: update.itemPos)]
        }
    }
}

/// Names what events can be published about: a client, or a subscription resource.
package enum TopicID: Hashable, Sendable {
    /// A client, by its id.
    case client(String)
    /// A subscription resource, by its id.
    case subscription(String)
}

internal import Changes
internal import SessionCore
internal import Synchronization

struct ClientRecord: Sendable {
    /// How many channels of released subscriptions are kept for streams that resume.
    static let departedLimit = 16

    var status: ClientStatus
    /// Why the client has no connection; nil while it has a connection, and if another member of the cluster alone knows.
    var failure: LastFailure?
    /// `status` and `server-error`: for the streams of the client and for those of its subscriptions.
    var connection: Channel
    /// Properties and messages.
    var own: Channel
    /// The events for legacy listeners.
    var legacy: Channel
    /// The subscriptions that the client carries, with their places in the order in which they were added.
    private(set) var places: [SubscriptionID: UInt64] = [:]
    private(set) var nextPlace: UInt64 = 0
    /// The subscriptions that the client released last.
    var departed: [DepartedSubscription] = []
    /// Events of released subscriptions up to this sequence are not kept.
    var forgottenThrough: UInt64 = 0

    var channels: [Channel] { [connection, own, legacy] }

    /// The subscriptions that the client carries, in the order in which they were added.
    var members: [SubscriptionID] { places.sorted { $0.value < $1.value }.map(\.key) }

    func channel(of event: ClientTopicEvent) -> Channel {
        switch event {
        case .status, .serverError: connection
        case .property, .message: own
        case .legacy, .sessionStarted, .bytesReceived, .activityWarning: legacy
        }
    }

    mutating func add(_ subscription: SubscriptionID, _ channel: Channel) {
        departed.removeAll { $0.channel === channel }
        places[subscription] = nextPlace
        nextPlace += 1
    }

    /// Removes a subscription; its last events stay available to streams that resume.
    mutating func remove(_ subscription: SubscriptionID, _ channel: Channel) {
        guard places.removeValue(forKey: subscription) != nil else { return }
        let log = channel.log
        departed.append(DepartedSubscription(channel: channel, last: log.lastSequence ?? log.forgottenThrough))
        guard departed.count > Self.departedLimit else { return }
        forgottenThrough = max(forgottenThrough, departed.removeFirst().last)
    }

    /// Released subscriptions have no events that a stream can resume from now on.
    mutating func forgetDeparted() { (departed, forgottenThrough) = ([], 0) }
}

/// A subscription that a client has released. Another client may carry the subscription now: the events after the release are
/// no events of the client that has released the subscription.
struct DepartedSubscription: Sendable {
    let channel: Channel
    /// The sequence of the last event before the release; 0: there was none.
    let last: UInt64
}

struct SubscriptionRecord: Sendable {
    var properties: SubscriptionProperties
    var channel: Channel
    /// The present values, for streams that join.
    var table: ValueTable
    var isActive = false
    /// Why the server last refused or removed the subscription; nil since it was activated or confirmed.
    var lastError: UpstreamRefusal?
    var client: ClientID?
    /// The state when the present client, or else the last client, began to carry the subscription.
    var start: SubscriptionStart?

    /// Applies an event; returns whether it is the last one about a subscription that was refused or removed: `failed`,
    /// or the `unsubscribed` that follows it if the subscription was subscribed.
    mutating func apply(_ event: SubscriptionEvent, now: Moment) -> Bool {
        let wasSubscribed = table.isSubscribed
        channel.snapshot = nil
        table.apply(event, at: now)
        switch event {
        case .subscribed:
            isActive = true
            lastError = nil
        case .failed:
            isActive = false
            lastError = UpstreamRefusal(event)
            return !wasSubscribed
        case .unsubscribed(isFinal: true):
            isActive = false
            return lastError != nil
        default: break
        }
        return false
    }

    /// The changes that lead from an unknown subscription to this one.
    var changes: [SubscriptionChange] {
        var changes: [SubscriptionChange] = [.added(properties)]
        if let client { changes.append(.carried(by: client)) }
        if let lastError { changes.append(.event(.failed(code: lastError.code, message: lastError.message))) }
        changes += table.eventsWithRows.map { .event($0) }
        changes.append(.activity(isActive: isActive))
        return changes
    }
}

/// The state of a subscription when a client began to carry it: active, not subscribed, without values.
struct SubscriptionStart: Sendable {
    /// The sequence of the last event before it.
    let sequence: UInt64
    let client: ClientID
    let status: ClientStatus
}

/// A sequence of events and its readers. A subscription has one; a client has three, so that a stream which carries
/// only some kinds of its events does not have to filter.
///
/// `@unchecked`: used under the hub's lock only.
final class Channel: @unchecked Sendable {
    /// The number of the channel within its hub.
    let id: Int
    var log: TopicLog
    /// The newest event that a reader has received before earlier ones.
    lazy var newestAheadOfID = NewestAheadOfID()
    /// A snapshot that a stream has received, for those that join later, while the log has all events after it: since then
    /// there were updates only, and the channel always had a reader.
    var snapshot: Snapshot?
    /// The shards' sides of the channel, by the shard's index; nil for shards without readers.
    var interests: [Interest?] = []

    /// One shard's side of the channel.
    struct Interest {
        let local: ShardChannel
        /// The number of its streams that read the channel.
        var readers = 0
        /// Whether there are events that the shard has not taken over.
        var isDirty = false
    }

    init(id: Int, log: TopicLog) {
        self.id = id
        self.log = log
    }

    func addReader(shard: Int, variant: EventVariant) -> ShardChannel {
        log.addReader(variant)
        while interests.count <= shard { interests.append(nil) }
        var interest = interests[shard] ?? Interest(local: ShardChannel(id: id, view: log.view, newestAheadOfID))
        interest.readers += 1
        interests[shard] = interest
        return interest.local
    }

    func removeReader(shard: Int, variant: EventVariant) {
        log.removeReader(variant)
        guard interests.indices.contains(shard), var interest = interests[shard] else { return }
        interest.readers -= 1
        interests[shard] = interest.readers > 0 || interest.isDirty ? interest : nil
        if snapshot != nil, interests.allSatisfy({ ($0?.readers ?? 0) == 0 }) { snapshot = nil }
    }

    /// Drops the events; the topic may be older than the sequence.
    func forgetEvents(through sequence: UInt64) {
        log.forget(through: sequence, createdAt: 0)
        snapshot = nil
    }

    /// The changes that make a stream read the events after a sequence, up to another one, and no later ones.
    func lastEvents(for request: StreamRequest, after sequence: UInt64, through last: UInt64 = .max) -> [StreamChange] {
        guard sequence < last, let newest = log.lastSequence, newest > sequence,
            let position = log.position(after: sequence)
        else { return [] }
        let view = log.view(through: last)
        let local = ShardChannel(id: id, view: view, newestAheadOfID)
        let variant = EventVariant(of: log.context, in: request, request.types)
        return [.read(local, as: variant, from: position, upTo: view), .retire(local, upTo: view)]
    }
}

/// The newest event that some reader of a channel has received as part of a row before the earlier events of other rows: the row
/// was sent with an id before the earlier events.
final class NewestAheadOfID: Sendable {
    private let newest = Atomic<UInt64>(0)

    /// The sequence of the event; 0: there is none.
    var sequence: UInt64 { newest.load(ordering: .acquiring) }

    func raise(to sequence: UInt64) { newest.max(sequence, ordering: .acquiringAndReleasing) }
}

internal import DequeModule
internal import TLCP

/// The subscriptions of a session, and the order in which their channels send events.
struct EventSchedule: Sendable {
    /// Subscriptions by the client's number.
    private(set) var subscriptions: [SubscriptionID: DemoSubscription] = [:]
    /// Channels that may have events to send, each at most once.
    private var ready = Deque<ChannelReference>()
    /// Channels whose frequency limit delays their next event.
    private var waiting = DeadlineQueue<ChannelReference>()
    private let diffs: DiffFormats

    /// No subscriptions, of a client that accepts these diff formats.
    init(diffs: DiffFormats) { self.diffs = diffs }

    /// Whether a channel may have an event that no frequency limit delays.
    var isReady: Bool { !ready.isEmpty }

    /// When the first of the delayed events may be sent; nil: no event is delayed.
    var endOfDelay: Duration? { mutating get { waiting.earliest } }

    mutating func add(_ subscription: DemoSubscription) {
        subscriptions[subscription.id] = subscription
        listChannels(of: subscription)
    }

    mutating func remove(_ id: SubscriptionID) -> DemoSubscription? { subscriptions.removeValue(forKey: id) }

    /// Changes the frequency of a subscription, nil: not. Returns `CONF`; nil: there is no such subscription.
    mutating func reconfigure(
        _ id: SubscriptionID,
        _ frequency: RequestedMaxFrequency?,
        limits: ServerLimits
    ) -> ServerNotification? {
        if let frequency { subscriptions[id]?.reconfigure(frequency, limits: limits) }
        guard let subscription = subscriptions[id] else { return nil }
        listChannels(of: subscription)
        return subscription.configuration
    }

    /// Queues an event. False: the channel has none to send.
    mutating func offer(_ event: ItemEvent, to reference: ChannelReference) -> Bool {
        subscriptions[reference.subscription]?.offer(event, to: reference.index)
        let isEmpty = subscriptions[reference.subscription]?.channels[reference.index].queue.isEmpty ?? true
        if !isEmpty { list(reference) }
        return !isEmpty
    }

    /// The delays up to now are over.
    mutating func delaysEnded(by now: Duration) { while let due = waiting.popDue(by: now)?.key { list(due) } }

    /// The line of the next event; nil if none may be sent now.
    mutating func nextLine(at now: Duration) -> [UInt8]? {
        while let next = ready.popFirst() {
            let (id, index) = (next.subscription, next.index)
            guard has(next), let head = subscriptions[id]?.channels[index].queue.next(at: now) else { continue }
            subscriptions[id]?.channels[index].isListed = false
            switch head {
            case .empty: break
            case .notBefore(let time): waiting.set(next, at: time)
            case .event(let event):
                let notification = subscriptions[id]?.notification(of: event, index: index, diffs: diffs)
                if subscriptions[id]?.channels[index].queue.isEmpty == false { list(next) }
                return notification?.encoded
            }
        }
        return nil
    }

    private mutating func listChannels(of subscription: DemoSubscription) {
        for index in subscription.channels.indices where !subscription.channels[index].queue.isEmpty {
            list(ChannelReference(subscription: subscription.id, index: index))
        }
    }

    /// Adds a channel to those that may have events to send.
    private mutating func list(_ reference: ChannelReference) {
        guard has(reference), subscriptions[reference.subscription]?.channels[reference.index].isListed == false else {
            return
        }
        subscriptions[reference.subscription]?.channels[reference.index].isListed = true
        ready.append(reference)
    }

    /// Whether the channel still exists: its subscription ID may have been reused for a smaller subscription.
    private func has(_ reference: ChannelReference) -> Bool {
        subscriptions[reference.subscription]?.channels.indices.contains(reference.index) ?? false
    }
}

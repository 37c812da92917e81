internal import SessionCore
internal import Synchronization

/// The reader of one sequence of updates, and its subscription; released with the iterator.
final class UpdateReader: Sendable {
    let feed: UpdateFeed
    let subscription: Subscription
    /// The client that the subscription belongs to for the time of the loop; nil: the application subscribes.
    private let client: LightstreamerClient?
    private let isInUse = Atomic(false)

    /// Reads a subscription of the application, from the next event on.
    init(_ subscription: Subscription, _ buffering: UpdateBuffering) {
        feed = UpdateFeed(buffering, endsWithConnection: false)
        self.subscription = subscription
        client = nil
        subscription.addObserver(feed)
    }

    /// Subscribes for the time of a loop, and connects the client if it is disconnected.
    init(_ subscription: Subscription, of client: LightstreamerClient, _ buffering: UpdateBuffering) throws {
        feed = UpdateFeed(buffering, endsWithConnection: true)
        self.subscription = subscription
        self.client = client
        subscription.addObserver(feed)
        try client.subscribe(subscription)
        try client.core.connectIfDisconnected(while: { [feed] in !feed.isOver }, orElse: { [feed] in feed.fail($0) })
    }

    deinit { release() }

    /// Begins the use by an iterator; false: another one uses the reader.
    fileprivate func take() -> Bool { !isInUse.exchange(true, ordering: .acquiringAndReleasing) }

    /// Ends the use by an iterator.
    fileprivate func giveBack() { isInUse.store(false, ordering: .releasing) }

    /// A loop begins. A refusal from before the reader was made ends the loop, unless the subscription is active again.
    func begin() { if let refusal = subscription.refusal { feed.fail(refusal) } }

    /// The reader's task was cancelled.
    func stop() {
        feed.cancel()
        release()
    }

    private func release() {
        subscription.removeObserver(feed)
        // Fails only for a subscription of another client.
        try? client?.unsubscribe(subscription)
    }
}

/// The use of a reader by one iterator. A following iterator continues with the reader; an iterator that is made during the use
/// has a reader of its own, so that both have all updates from then on.
final class ReaderUse: Sendable {
    let reader: UpdateReader

    init(_ shared: UpdateReader, _ buffering: UpdateBuffering) {
        reader = shared.take() ? shared : UpdateReader(shared.subscription, buffering)
    }

    deinit { reader.giveBack() }
}

extension LightstreamerClient {
    /// The updates of a subscription with these properties, subscribed to for the time of each loop.
    ///
    /// The first `next()` throws `ClientError` for properties that are not valid, or if the client cannot connect.
    public func updates(_ properties: SubscriptionProperties) -> UpdateSequence<ItemUpdate> {
        UpdateSequence(.client(self, { try Subscription(properties: properties) })) { $0 }
    }

    /// The updates of fields of items by name, subscribed to for the time of each loop; `update["last_price"]` is a value.
    ///
    /// - Parameters:
    ///   - mode: How the items behave; in COMMAND mode the fields include `key` and `command`.
    ///   - items: The items by name.
    ///   - fields: The fields by name.
    ///   - dataAdapter: The Data Adapter; nil: the server's `DEFAULT`.
    public func updates(
        mode: SubscriptionMode = .merge,
        items: [String],
        fields: [String],
        dataAdapter: String? = nil
    ) -> UpdateSequence<ItemUpdate> {
        var properties = SubscriptionProperties(mode: mode, items: .list(items), fields: .list(fields))
        properties.dataAdapter = dataAdapter
        return updates(properties)
    }
}

extension Subscription {
    /// The updates of this subscription, from the next event on; throws `SubscriptionRefused` and `SessionRefused`. A
    /// reader that falls behind by more than the limit receives the buffered updates, then `slowReader`.
    public func updates(bufferedUpTo limit: Int = 1_024) -> UpdateSequence<ItemUpdate> {
        let buffering = UpdateBuffering.all(limit: limit)
        return UpdateSequence(.subscription(UpdateReader(self, buffering)), buffering: buffering) { $0 }
    }
}

internal import TLCP

extension DemoSession {
    /// Adds a granted subscription and sends its announcement and snapshots.
    mutating func subscribe(
        _ granted: DemoSubscription,
        snapshots: [FeedSnapshot],
        wrongBy faults: (items: Int, fields: Int) = (0, 0),
        _ context: inout ServerContext
    ) {
        var subscription = granted
        for (index, snapshot) in snapshots.enumerated() where subscription.channels.indices.contains(index) {
            subscription.offerSnapshot(snapshot, to: index)
        }
        subscriptions[subscription.id] = subscription
        for notification in subscription.announcement(wrongBy: faults) { notify(notification, &context) }
        for index in subscription.channels.indices where !subscription.channels[index].queue.isEmpty {
            list(ChannelReference(subscription: subscription.id, index: index))
        }
        pump(&context)
    }

    /// Removes a subscription with its pending events and returns it; nil if there is none with this ID.
    mutating func unsubscribe(_ id: SubscriptionID, _ context: inout ServerContext) -> DemoSubscription? {
        guard let subscription = subscriptions.removeValue(forKey: id) else { return nil }
        notify(.unsub(id), &context)
        pump(&context)
        return subscription
    }

    /// Changes the frequency of a subscription; `CONF` precedes the first update at the new rate.
    mutating func reconfigure(_ id: SubscriptionID, _ frequency: RequestedMaxFrequency?, _ context: inout ServerContext)
    {
        if let frequency { subscriptions[id]?.reconfigure(frequency, limits: context.configuration.limits) }
        guard let subscription = subscriptions[id] else { return }
        notify(subscription.configuration, &context)
        for index in subscription.channels.indices where !subscription.channels[index].queue.isEmpty {
            list(ChannelReference(subscription: id, index: index))
        }
        pump(&context)
    }

    /// Changes the bandwidth; `CONS` precedes the first notification at the new rate.
    mutating func constrain(_ requested: RequestedMaxBandwidth?, _ context: inout ServerContext) {
        switch requested {
        case .limited(let value): bandwidth.request(value)
        case .unlimited: bandwidth.request(nil)
        case nil: break
        }
        // Where it does not fit, the head of the next connection has it.
        if !hidesBandwidth, !writeOrLoop(.cons(bandwidth.granted), &context) { return }
        pump(&context)
    }

    /// `force_rebind`: ends the stream connection with `LOOP`. The session is kept for the requested pause, also if it is not
    /// bound.
    mutating func forceRebind(_ request: ForceRebindRequest, _ context: inout ServerContext) {
        let timings = context.configuration.timings
        let pause = min(.boundedMilliseconds(request.pollingMillis ?? 0), timings.maxPollingInterval)
        stream?.closesSocket = request.closesSocket
        if stream != nil { loop(&context) }
        if pause > .zero { keepUnbound(for: pause + timings.sessionTimeout, &context) }
    }

    /// `destroy`: closes the session.
    mutating func destroy(_ request: DestroyRequest, _ context: inout ServerContext) {
        stream?.closesSocket = request.closesSocket
        guard case .end(let code, var message) = request.end else { return }
        if message.utf8.count > 35, stream?.contentLength != nil { message = "[Custom message skipped]" }
        end(SessionEnd(code: code, message: message), &context)
    }

    /// Queues an event of the item of a channel.
    mutating func offer(_ event: FeedEvent, to reference: ChannelReference, _ context: inout ServerContext) {
        subscriptions[reference.subscription]?.offer(event, to: reference.index)
        guard subscriptions[reference.subscription]?.channels[reference.index].queue.isEmpty == false else { return }
        list(reference)
        pump(&context)
    }
}

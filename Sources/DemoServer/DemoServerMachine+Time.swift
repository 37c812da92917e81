internal import TLCP

extension DemoServerMachine {
    /// Performs everything that is due, in the order of the deadlines.
    package mutating func timePassed(at now: Duration) -> [ServerAction] {
        context.now = now
        while let due = context.timers.popDue(by: now)?.key {
            switch due {
            case .feeds:
                publish(feeds.advance(to: now))
                scheduleFeeds()
            case .session(let handle, .skip(let sequence)):
                sessions[handle]?.messages.waited(in: sequence, at: now)
                work(on: sequence, of: handle)
            case .session(let handle, .work(let sequence)):
                work(on: sequence, of: handle)
            case .session(let handle, let timer):
                sessions[handle]?.timerFired(timer, &context)
                // The session continues to write after the listeners have performed the present actions.
                if timer == .pump { return settle() }
            case .stall(let link):
                context.links.markDirty(link)
                if let session = context.links[link]?.stream { sessions[session]?.pump(&context) }
            case .idle(let link):
                idleDue(link)
            case .stuck(let link):
                context.links.cut(link)
            case .lateAnswer(let number):
                lateAnswerDue(number)
            case .tombstone(let handle):
                if let tombstone = tombstones.removeValue(forKey: handle) { closedHandles[tombstone.id] = nil }
            }
        }
        return settle()
    }

    /// Closes a silent WebSocket; one with a stream is supervised by the timers of its session.
    private mutating func idleDue(_ id: LinkID) {
        guard let link = context.links[id] else { return }
        let end = link.lastReceived + context.configuration.timings.idleSocket
        if link.stream != nil {
            context.timers.set(.idle(id), at: context.now + context.configuration.timings.idleSocket)
        } else if end > context.now {
            context.timers.set(.idle(id), at: end)
        } else {
            context.links.end(id, .close(code: 1_000))
        }
    }

    /// Sets the timer for the next change of the feeds.
    mutating func scheduleFeeds() {
        if let next = feeds.nextChange { context.timers.set(.feeds, at: next) }
    }
}

extension DemoServerMachine {
    /// Publishes an event of a feed.
    package mutating func published(_ request: FeedRequest, to adapter: String, at now: Duration) -> [ServerAction] {
        context.now = now
        publish(feeds.requested(request, to: adapter))
        return settle()
    }

    /// Changes fields of an item; ignored if there is no such item or field.
    mutating func changed(
        _ item: String,
        _ values: [String: String?],
        of adapter: String,
        at now: Duration
    ) -> [ServerAction] {
        context.now = now
        let fields = Dictionary(uniqueKeysWithValues: values.map { (UpstreamName($0), $1) })
        let update = InjectedUpdate(adapter: adapter, item: item, event: .update(fields))
        publish((try? feeds.injected(update)) ?? [])
        return settle()
    }

    /// Passes events to every channel of their items.
    mutating func publish(_ events: [(feed: FeedDirectory.Index, event: FeedEvent)]) {
        for (feed, event) in events {
            for entry in channels.entries(for: ChannelTable.Item(feed: feed, name: event.item)) {
                sessions[entry.session]?.offer(event, to: entry.channel, &context)
            }
        }
    }
}

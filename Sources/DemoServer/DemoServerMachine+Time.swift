extension DemoServerMachine {
    /// Time has passed: everything that is due happens, in the order of its deadlines.
    package mutating func timePassed(at now: Duration) -> [ServerAction] {
        context.now = now
        while let due = context.timers.popDue(by: now)?.key {
            switch due {
            case .feeds:
                publish(feeds.advance(to: now))
                scheduleFeeds()
            case .session(let handle, .skip(let sequence)):
                sessions[handle]?.messages.waited(in: sequence, at: now)
                work(on: sequence, of: handle, from: "")
            case .session(let handle, .work(let sequence)):
                work(on: sequence, of: handle, from: "")
            case .session(let handle, let timer):
                sessions[handle]?.timerFired(timer, &context)
                // A session that wants to go on writing does so after the listeners took what there is.
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
                if let tombstone = tombstones.removeValue(forKey: handle) { buried[tombstone.id] = nil }
            }
        }
        return settle()
    }

    /// A WebSocket on which nothing happens is closed; one that carries a stream looks after itself.
    private mutating func idleDue(_ id: LinkID) {
        guard let link = context.links[id] else { return }
        let end = link.lastHeard + context.configuration.timings.idleSocket
        if link.stream != nil {
            context.timers.set(.idle(id), at: context.now + context.configuration.timings.idleSocket)
        } else if end > context.now {
            context.timers.set(.idle(id), at: end)
        } else {
            context.links.end(id, .close(code: 1_000))
        }
    }

    /// Arranges for the next change of the feeds.
    mutating func scheduleFeeds() {
        if let next = feeds.nextChange { context.timers.set(.feeds, at: next) }
    }
}

extension DemoServerMachine {
    /// A feed is driven by hand.
    package mutating func published(_ order: FeedRequest, to adapter: String, at now: Duration) -> [ServerAction] {
        context.now = now
        publish(feeds.ordered(order, to: adapter))
        return settle()
    }

    /// Hands events to every channel that shows their items.
    mutating func publish(_ events: [(feed: FeedDirectory.Index, event: FeedEvent)]) {
        for (feed, event) in events {
            for route in routes.routes(to: RouteTable.Item(feed: feed, name: event.item)) {
                sessions[route.session]?.offer(event, to: route.channel, &context)
            }
        }
    }
}

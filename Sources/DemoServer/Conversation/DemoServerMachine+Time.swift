extension DemoServerMachine {
    /// Time has passed: everything that is due happens, in the order of its deadlines.
    package mutating func timePassed(at now: Duration) -> [ServerAction] {
        desk.now = now
        while let due = desk.timers.popDue(by: now)?.key {
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
                sessions[handle]?.timerFired(timer, &desk)
                // A session that wants to go on writing does so after the listeners took what there is.
                if timer == .pump { return settle() }
            case .stall(let link):
                desk.links.markDirty(link)
                if let session = desk.links[link]?.stream { sessions[session]?.pump(&desk) }
            case .idle(let link):
                idleDue(link)
            case .stuck(let link):
                desk.links.cut(link)
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
        guard let link = desk.links[id] else { return }
        let end = link.lastHeard + desk.configuration.timings.idleSocket
        if link.stream != nil {
            desk.timers.set(.idle(id), at: desk.now + desk.configuration.timings.idleSocket)
        } else if end > desk.now {
            desk.timers.set(.idle(id), at: end)
        } else {
            desk.links.end(id, .close(code: 1_000))
        }
    }

    /// Arranges for the next change of the feeds.
    mutating func scheduleFeeds() {
        if let next = feeds.nextChange { desk.timers.set(.feeds, at: next) }
    }
}

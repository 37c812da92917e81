internal import Primitives
internal import TLCP

/// The server without its sockets and its clock.
///
/// Every method is one event; it takes the time since the server's start and returns the actions for the listeners, in
/// order. `nextDeadline` is the instant at which `timePassed` has to be called at the latest.
package struct DemoServerMachine: ~Copyable {
    var context: ServerContext
    var sessions: SessionTable
    var feeds: FeedDirectory
    var channels = ChannelTable()
    var metadata: MetadataAdapter

    /// A server without connections. `clockStart`: milliseconds since 1970 at time zero, for the times in the data;
    /// `identitySeed`: of the session IDs, nil: the seed of the configuration, which makes the IDs predictable.
    package init(_ configuration: DemoServerConfiguration, clockStart: Int64 = 0, identitySeed: UInt64? = nil) {
        context = ServerContext(configuration)
        feeds = FeedDirectory(configuration, clockStart: clockStart)
        metadata = MetadataAdapter(configuration)
        sessions = SessionTable(configuration, seed: identitySeed ?? configuration.seed)
        scheduleFeeds()
    }

    /// When `timePassed` has to be called at the latest; nil if there is no deadline.
    package var nextDeadline: Duration? { mutating get { context.timers.earliest } }

    package var census: ServerCensus {
        var census = ServerCensus()
        census.sessions = sessions.open.count
        census.connections = context.links.links.count
        for session in sessions.open.values {
            census.subscriptions += session.subscriptions.count
            guard session.isBound else { continue }
            census.boundSessions += 1
            census.boundSubscriptions += session.subscriptions.count
        }
        census.notifications = context.notifications
        census.messages = metadata.messageCount
        return census
    }

    /// Finishes an event: removes the sessions that ended, and returns the actions.
    mutating func settle() -> [ServerAction] {
        while true {
            for (link, session) in context.links.takeLostStreams() {
                sessions[session]?.connection.broke(link, &context)
            }
            let ended = context.ended
            context.ended.removeAll()
            for (session, end) in ended { close(session, end) }
            let actions = context.links.takeActions(at: context.now)
            // Writing may have cut a connection, which its session has to handle first.
            guard context.links.lostStreams.isEmpty, context.ended.isEmpty else {
                for action in actions { context.links.perform(action) }
                continue
            }
            return actions
        }
    }

    private mutating func close(_ handle: SessionHandle, _ end: SessionEnd?) {
        guard let session = sessions.close(handle, end) else { return }
        for subscription in session.subscriptions.values { channels.remove(subscription, of: handle) }
        for timer in session.messages.timers + [.keepalive, .sync, .inactivity, .poll, .pump, .expiry] {
            context.timers.cancel(.session(handle, timer))
        }
        guard end != nil else { return }
        context.timers.set(.tombstone(handle), at: context.now + context.configuration.timings.tombstoneLife)
    }

    // MARK: - Time

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
                context.lateAnswerDue(number)
            case .tombstone(let handle): sessions.forget(handle)
            }
        }
        return settle()
    }

    /// Closes a silent WebSocket; a WebSocket with a stream is supervised by the timers of its session.
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

    mutating func scheduleFeeds() { if let next = feeds.nextChange { context.timers.set(.feeds, at: next) } }

    // MARK: - Feeds

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
                sessions[entry.session]?.offer(event.content, to: entry.channel, &context)
            }
        }
    }

    /// Installs faults; those for `FaultMoment.now` take effect at once.
    package mutating func faultsInstalled(_ faults: [Fault], at now: Duration) -> [ServerAction] {
        context.now = now
        install(faults)
        return settle()
    }

    /// Removes all faults that have not taken effect yet.
    package mutating func faultsCleared(at now: Duration) -> [ServerAction] {
        context.now = now
        context.faults.clear()
        return settle()
    }

    mutating func install(_ faults: [Fault]) {
        for fault in faults {
            guard fault.moment == .now else {
                context.faults.install(fault)
                continue
            }
            for handle in sessions.open.keys.sorted() {
                if case .end(let code, let message) = fault.effect {
                    sessions[handle]?.end(SessionEnd(code: code, message: message), &context)
                } else {
                    sessions[handle]?.apply(fault.effect, &context)
                }
            }
        }
    }

    /// The response to the test interface; nil if the path is not part of it, or clients may not use it.
    ///
    /// `POST /demo/faults` installs a `FaultScript`, `DELETE /demo/faults` removes all faults, `GET /demo/census`
    /// returns the counts of `ServerCensus`, `POST /v1/updates` publishes an `InjectedUpdate`.
    mutating func testResponse(to request: HTTPRequestText) -> HTTPAnswer? {
        guard context.configuration.acceptsFaultsFromClients else { return nil }
        switch (request.method, request.path) {
        case ("POST", "/demo/faults"):
            do throws(FaultScriptError) {
                let faults = try FaultScript.parse(String(decoding: request.body, as: UTF8.self))
                install(faults)
                return HTTPAnswer(body: Array("\(faults.count)\n".utf8))
            } catch {
                return HTTPAnswer(status: 400, body: Array("\(error.description)\n".utf8))
            }
        case ("POST", "/v1/updates"):
            do throws(InjectionRefusal) {
                let update = try InjectedUpdate(request.body)
                let events = try feeds.injected(update)
                publish(events)
                let readers = events.flatMap { channels.entries(for: .init(feed: $0.feed, name: $0.event.item)) }
                return HTTPAnswer(body: Array("{\"subscriptions\":\(readers.count)}\n".utf8))
            } catch {
                return HTTPAnswer(status: error.status, body: Array("\(error.reason)\n".utf8))
            }
        case ("DELETE", "/demo/faults"):
            context.faults.clear()
            return HTTPAnswer(body: Array("0\n".utf8))
        case ("GET", "/demo/census"):
            let census = census
            let lines = [
                "sessions \(census.sessions)", "bound \(census.boundSessions)", "connections \(census.connections)",
                "subscriptions \(census.subscriptions)", "bound-subscriptions \(census.boundSubscriptions)",
                "notifications \(census.notifications)", "",
            ]
            return HTTPAnswer(body: Array(lines.joined(separator: "\n").utf8))
        default:
            return nil
        }
    }
}

/// An action of the listeners.
package enum ServerAction: Sendable, Equatable {
    /// Answer the HTTP request as a whole.
    case respond(LinkID, HTTPAnswer)
    /// Begin the response of an HTTP request: status 200, a body of unknown length whose parts follow.
    case openStream(LinkID)
    /// Write whole lines at once: a part of the HTTP body, or one text message.
    ///
    /// `isFragment`: the bytes end anywhere and the next write continues the same text message; only by a fault.
    case write(LinkID, [UInt8], isFragment: Bool = false)
    /// End the body of an HTTP stream; `closesSocket` also ends the connection.
    case endStream(LinkID, closesSocket: Bool)
    /// Close the WebSocket with a close frame of this code.
    case close(LinkID, code: Int)
    /// Break the connection without closing the protocol.
    case cut(LinkID)
    /// Read nothing more from the connection, and leave it open.
    case stopReading(LinkID)
}

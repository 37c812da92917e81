internal import Primitives
internal import TLCP

/// The server without its sockets and its clock.
///
/// Every method is one event; it takes the time since the server's start and returns the actions for the listeners, in
/// order. `nextDeadline` is the instant at which `timePassed` has to be called at the latest.
package struct DemoServerMachine: ~Copyable {
    private var context: ServerContext
    var host: SessionHost

    /// A server without connections. `clockStart`: milliseconds since 1970 at time zero, for the times in the data;
    /// `identitySeed`: of the session IDs, nil: the seed of the configuration, which makes the IDs predictable.
    package init(_ configuration: DemoServerConfiguration, clockStart: Int64 = 0, identitySeed: UInt64? = nil) {
        context = ServerContext(configuration)
        let seed = identitySeed ?? configuration.seed
        host = SessionHost(configuration, clockStart: clockStart, identitySeed: seed)
        host.scheduleFeeds(&context)
    }

    /// When `timePassed` has to be called at the latest; nil if there is no deadline.
    package var nextDeadline: Duration? { mutating get { context.timers.earliest } }

    package var census: ServerCensus {
        var census = ServerCensus()
        census.sessions = host.sessions.open.count
        census.connections = context.links.links.count
        for session in host.sessions.open.values {
            census.subscriptions += session.subscriptions.count
            guard session.isBound else { continue }
            census.boundSessions += 1
            census.boundSubscriptions += session.subscriptions.count
        }
        census.notifications = context.notifications
        census.messages = host.metadata.messageCount
        return census
    }

    /// Finishes an event: removes the sessions that ended, and returns the actions.
    private mutating func settle() -> [ServerAction] {
        while true {
            for (link, session) in context.links.takeLostStreams() {
                host.sessions[session]?.connection.broke(link, &context)
            }
            host.removeEnded(&context)
            let actions = context.links.takeActions(at: context.now)
            // Writing may have cut a connection, which its session has to handle first.
            guard context.links.lostStreams.isEmpty, context.ended.isEmpty else {
                for action in actions { context.links.perform(action) }
                continue
            }
            return actions
        }
    }

    // MARK: - Connections

    /// A client requested a WebSocket. Returns the HTTP status of the refusal; nil: the WebSocket is granted.
    package mutating func webSocketRequested(at now: Duration) -> Int? {
        context.now = now
        var refusal: Int?
        for effect in context.faults.effects(at: .handshake) {
            switch effect {
            case .status(let status): refusal = status
            case .refuse, .error, .drop, .ignore: refusal = 403
            default: break
            }
        }
        if context.links.links.count >= context.configuration.limits.connections { refusal = 503 }
        return refusal
    }

    /// A WebSocket is open. `subprotocol`: the requested one, nil: the client named none of TLCP; `peer`: the client's address.
    package mutating func webSocketOpened(
        _ id: LinkID,
        subprotocol: String?,
        from peer: String,
        at now: Duration
    ) -> [ServerAction] {
        context.now = now
        var link = Link(kind: .webSocket, peer: peer, openedAt: now, lastReceived: now)
        let version = subprotocol.flatMap(ProtocolVersion.init(webSocketSubprotocol:))
        if let version { link.version = version }
        if version?.isServed != true { link.versionRejection = .unsupportedVersion(subprotocol, .connection) }
        context.links.add(link, as: id)
        context.timers.set(.idle(id), at: now + context.configuration.timings.idleSocket)
        return settle()
    }

    /// A text message was received on a WebSocket.
    package mutating func received(message: [UInt8], on id: LinkID, at now: Duration) -> [ServerAction] {
        context.now = now
        guard let link = context.links[id], !link.faults.isHalfOpen else { return settle() }
        context.links[id]?.lastReceived = now
        guard message.count <= context.configuration.limits.request else {
            // The session can be recovered.
            context.links.end(id, .close(code: 1_009))
            if let session = link.stream { host.sessions[session]?.connection.broke(id, &context) }
            context.links[id]?.stream = nil
            return settle()
        }
        dispatch(RequestParser.parse(webSocketMessage: message[...]), on: id)
        return settle()
    }

    /// An HTTP request was received; the link stands for the request and its response. `peer`: the client's address;
    /// `opening`: when the client opened the connection, nil: now.
    package mutating func requested(
        _ request: HTTPRequestText,
        on id: LinkID,
        from peer: String,
        connectedAt opening: Duration? = nil,
        at now: Duration
    ) -> [ServerAction] {
        context.now = now
        guard let name = name(of: request.path) else {
            return [.respond(id, testResponse(to: request) ?? HTTPAnswer(status: 404))] + settle()
        }
        guard request.method == "POST" || request.method == "GET" else {
            return [.respond(id, HTTPAnswer(status: 405))]
        }
        guard max(request.body.count, request.query.utf8.count) <= context.configuration.limits.request else {
            return [.respond(id, HTTPAnswer(status: 413, closesSocket: true))]
        }
        guard context.links.links.count < context.configuration.limits.connections else {
            return [.respond(id, HTTPAnswer(status: 503, closesSocket: true))]
        }
        var link = Link(kind: .exchange, peer: peer, openedAt: opening ?? now, lastReceived: now)
        if let version = ProtocolVersion(query: request.query) { link.version = version }
        context.links.add(link, as: id)
        dispatch(RequestParser.parse(name, query: Array(request.query.utf8)[...], body: request.body[...]), on: id)
        return settle()
    }

    /// A connection was closed by the peer, or broke.
    package mutating func closed(_ id: LinkID, at now: Duration) -> [ServerAction] {
        context.now = now
        context.timers.cancel(.idle(id))
        context.timers.cancel(.stall(id))
        context.timers.cancel(.stuck(id))
        context.lateAnswers.ended(id)
        if let session = context.links.remove(id)?.stream { host.sessions[session]?.connection.broke(id, &context) }
        return settle()
    }

    /// The peer of a connection accepts bytes again, or no more for now.
    package mutating func writabilityChanged(of id: LinkID, to takesBytes: Bool, at now: Duration) -> [ServerAction] {
        context.now = now
        context.links[id]?.takesBytes = takesBytes
        if takesBytes {
            context.timers.cancel(.stuck(id))
            if let session = context.links[id]?.stream { host.sessions[session]?.pump(&context) }
        } else if context.links[id] != nil {
            context.timers.set(.stuck(id), at: now + context.configuration.timings.stuckWrite)
        }
        return settle()
    }

    /// Stops the server: closes every session and every connection.
    package mutating func shutDown(at now: Duration) -> [ServerAction] {
        context.now = now
        for handle in host.sessions.open.keys.sorted() {
            host.sessions[handle]?.end(SessionEnd(code: 32, message: "Server closing"), isRemembered: false, &context)
        }
        for id in context.links.links.keys.sorted() {
            let isWebSocket = context.links[id]?.kind == .webSocket
            context.links.end(id, isWebSocket ? .close(code: 1_001) : .complete(closesSocket: true))
        }
        return settle()
    }

    private func name(of path: String) -> RequestName? {
        let prefix = context.configuration.pathPrefix
        guard path.hasPrefix(prefix + "/lightstreamer/") else { return nil }
        let rest = path.dropFirst(prefix.count)
        guard rest.utf8.count(where: { $0 == UInt8(ascii: "/") }) == 2 else { return nil }
        return RequestName(httpPath: String(rest))
    }

    /// Executes the requests of one message or HTTP request.
    private mutating func dispatch(_ outcomes: [RequestParser.Outcome], on id: LinkID) {
        switch outcomes.first {
        case .success(.createSession(let request)): host.create(request, on: id, &context)
        case .success(.bindSession(let request)): host.bind(request, on: id, &context)
        case .success(.wsok): greet(id)
        case .success(.heartbeat(let request)): host.heartbeat(request, on: id, &context)
        case .failure(let refusal) where refusal.carrier == .connection: context.refuse(id, refusal.notification)
        default: host.runBatch(outcomes, on: id, &context)
        }
    }

    private mutating func greet(_ id: LinkID) {
        let effects = context.faults.effects(at: .wsok)
        for effect in effects {
            switch effect {
            case .ignore, .loseAnswer: return
            case .duplicateAnswer: context.write(ServerNotification.wsOK.encoded, on: id)
            default: context.links.apply(id, effect, at: context.now, &context.timers)
            }
        }
        context.write(ServerNotification.wsOK.encoded, on: id)
    }

    // MARK: - Time

    /// Performs everything that is due, in the order of the deadlines.
    package mutating func timePassed(at now: Duration) -> [ServerAction] {
        context.now = now
        while let due = context.timers.popDue(by: now)?.key {
            switch due {
            case .feeds: host.feedsDue(&context)
            case .session(let handle, let timer):
                host.timerFired(timer, of: handle, &context)
                // The session continues to write after the listeners have performed the present actions.
                if timer == .pump { return settle() }
            case .stall(let link):
                context.links.markDirty(link)
                if let session = context.links[link]?.stream { host.sessions[session]?.pump(&context) }
            case .idle(let link): idleDue(link)
            case .stuck(let link): context.links.cut(link)
            case .lateAnswer(let number): context.lateAnswerDue(number)
            case .tombstone(let handle): host.sessions.forget(handle)
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

    // MARK: - Feeds

    package mutating func published(_ request: FeedRequest, to adapter: String, at now: Duration) -> [ServerAction] {
        context.now = now
        host.publish(request, to: adapter, &context)
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
        _ = try? host.publish(update, &context)
        return settle()
    }

    /// Installs faults; those for `FaultMoment.now` take effect at once.
    package mutating func faultsInstalled(_ faults: [Fault], at now: Duration) -> [ServerAction] {
        context.now = now
        host.install(faults, &context)
        return settle()
    }

    /// Removes all faults that have not taken effect yet.
    package mutating func faultsCleared(at now: Duration) -> [ServerAction] {
        context.now = now
        context.faults.clear()
        return settle()
    }

    /// The response to the test interface; nil if the path is not part of it, or clients may not use it.
    ///
    /// `POST /demo/faults` installs a `FaultScript`, `DELETE /demo/faults` removes all faults, `GET /demo/census`
    /// returns the counts of `ServerCensus`, `POST /v1/updates` publishes an `InjectedUpdate`.
    private mutating func testResponse(to request: HTTPRequestText) -> HTTPAnswer? {
        guard context.configuration.acceptsFaultsFromClients else { return nil }
        switch (request.method, request.path) {
        case ("POST", "/demo/faults"):
            do throws(FaultScriptError) {
                let faults = try FaultScript.parse(String(decoding: request.body, as: UTF8.self))
                host.install(faults, &context)
                return HTTPAnswer(body: Array("\(faults.count)\n".utf8))
            } catch {
                return HTTPAnswer(status: 400, body: Array("\(error.description)\n".utf8))
            }
        case ("POST", "/v1/updates"):
            do throws(InjectionRefusal) {
                let count = try host.publish(InjectedUpdate(request.body), &context)
                return HTTPAnswer(body: Array("{\"subscriptions\":\(count)}\n".utf8))
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

internal import EventHub
internal import MicroHTTPD
internal import SessionCore
internal import SessionPool

/// How streams come to their sources, open, and give back what they hold.
struct StreamOpener: Sendable {
    /// How long a prepared stream is kept while nobody reads it.
    static let patience = Duration.seconds(60)

    let services: Services

    /// Sources, and what has to be given back for them.
    struct Holding {
        var sources: [StreamSource] = []
        var joined: [String: SubscriptionResource] = [:]
        var clients: [StreamSource: ClientID] = [:]
    }

    /// Finds, and where necessary joins, the sources that a caller names: all or none.
    func hold(_ orders: [SourceSelector], for call: Call) throws -> Holding {
        for order in orders { try check(order, call) }
        var holding = Holding()
        do {
            for order in orders { try hold(order, in: &holding) }
        } catch {
            release(holding.joined, [:])
            throw error
        }
        return holding
    }

    /// Gives back what a stream held.
    func release(_ joined: [String: SubscriptionResource], _ clients: [StreamSource: ClientID]) {
        for resource in joined.values { services.pool.leaveImplicit(resource) }
        for client in clients.values { services.pool.streamClosed(on: client) }
    }

    /// Opens a stream in one line.
    func open(_ request: StreamRequest, _ orders: [SourceSelector], _ call: Call) throws -> OperationResult {
        if call.isHead {
            for order in orders { try check(order, call) }
            return .stream(StreamRegistry.head(for: request), HeadOnly())
        }
        if let refusal = try refusal(call) { return .response(refusal) }
        let holding = try hold(orders, for: call)
        let id = RandomID.make(prefix: "t")
        var request = request
        request.sources = holding.sources
        var entry = StreamResources.Entry(madeAt: services.clock(), owner: call.caller.identity)
        entry.isOpen = true
        entry.joined = holding.joined
        entry.clients = holding.clients
        services.streamResources.add(id, entry)
        for client in holding.clients.values { services.pool.streamOpened(on: client) }
        return try start(id, request, call)
    }

    /// Opens a stream that was prepared.
    func reopen(_ id: String, _ settings: StreamRequest, _ call: Call) throws -> OperationResult {
        guard let prepared = try services.stream(call).prepared else { throw HubError.unknownStream(id) }
        var request = prepared
        request.format = settings.format
        request.lastEventID = settings.lastEventID
        for source in prepared.sources { try check(.existing(source), call) }
        if call.isHead { return .stream(StreamRegistry.head(for: request), HeadOnly()) }
        if let refusal = try refusal(call) { return .response(refusal) }
        let isFree = services.streamResources.change(id) { entry in
            defer { entry.isOpen = true }
            if entry.isOpen { return false }
            entry.generation &+= 1
            return true
        }
        guard let isFree else { throw HubError.unknownStream(id) }
        guard isFree else { throw Problem(.streamInUse, detail: "The stream \"\(id)\" is open.") }
        return try start(id, request, call)
    }

    /// Forgets a prepared stream that nobody opened in time.
    func expire(_ id: String, generation: UInt64) {
        services.deadlines.after(Self.patience) {
            let entry = services.streamResources.remove(id) { !$0.isOpen && $0.generation == generation }
            if let entry { release(entry.joined, entry.clients) }
        }
    }

    // MARK: - Steps

    private func start(_ id: String, _ request: StreamRequest, _ call: Call) throws -> OperationResult {
        let owner = StreamOwner(peer: call.request.peer.host, identity: call.caller.identity)
        let caller = call.caller
        guard services.access.openStreams.add(caller) else {
            ended(id)
            return .response(try overLimit(caller.rights.streams ?? 0, "for these credentials", call))
        }
        let expiry = closeAtExpiry(id, caller)
        let leave: @Sendable () -> Void = {
            if let expiry { services.deadlines.cancel(expiry) }
            services.access.openStreams.remove(caller)
            ended(id)
        }
        do {
            let content = try services.streams.open(request, owner: owner, id: id) { _ in leave() }
            return .stream(StreamRegistry.head(for: request), content)
        } catch {
            leave()
            throw error
        }
    }

    /// A stream does not outlive the token that opened it.
    private func closeAtExpiry(_ id: String, _ caller: Caller) -> DeadlineID? {
        services.access.remaining(of: caller).flatMap { time in
            services.deadlines.after(time) { services.streams.close(id, reason: "token-expired") }
        }
    }

    private func ended(_ id: String) {
        let generation: UInt64?? = services.streamResources.change(id) { entry in
            entry.isOpen = false
            entry.generation &+= 1
            return entry.prepared == nil ? nil : entry.generation
        }
        if case .some(.some(let generation)) = generation {
            expire(id, generation: generation)
        } else if let entry = services.streamResources.remove(id) {
            release(entry.joined, entry.clients)
        }
    }

    /// What a caller is told where no stream can be opened. An `EventSource` would give up for ever on any status but
    /// 200, so it gets a stream that ends at once and says why.
    private func refusal(_ call: Call) throws(Problem) -> Response? {
        if services.lifetime.isStopping { throw Problem(.unavailable, detail: "The gateway is stopping.") }
        let limit = services.configuration.maxStreams
        return services.streams.count >= limit ? try overLimit(limit, "of all callers", call) : nil
    }

    private func overLimit(_ limit: Int, _ whose: String, _ call: Call) throws(Problem) -> Response {
        guard AcceptHeader(call.header("Accept")).names("text/event-stream") else {
            throw Problem(.unavailable, detail: "The maximum of \(limit) streams \(whose) is open.")
        }
        let retry = Int.random(in: 5_000...15_000)
        let body = "retry: \(retry)\n\nevent: closing\ndata: {\"reason\":\"stream-limit\"}\n\n"
        return Response(status: 200, mediaType: "text/event-stream; charset=utf-8", body: Array(body.utf8))
            .with("Cache-Control", "no-store, no-transform")
    }

    private func check(_ order: SourceSelector, _ call: Call) throws {
        try services.permissions(call).check(order)
        if case .join(let upstream, _) = order { _ = try services.sessionKey(upstream: upstream) }
    }

    private func hold(_ order: SourceSelector, in holding: inout Holding) throws {
        let source: StreamSource
        switch order {
        case .existing(let existing):
            source = existing
            if let client = client(of: existing) { holding.clients[existing] = client }
        case .join(let upstream, let properties):
            let session = try services.sessionKey(upstream: upstream)
            let resource = try services.pool.joinImplicit(SharedKey(session: session, properties: properties))
            let id = resource.id.rawValue
            // Named twice, it is joined once.
            if holding.joined[id] != nil { services.pool.leaveImplicit(resource) }
            holding.joined[id] = resource
            source = .subscription(id)
        }
        if !holding.sources.contains(source) { holding.sources.append(source) }
    }

    /// The dedicated client that a source keeps in use.
    private func client(of source: StreamSource) -> ClientID? {
        switch source {
        case .client(let id, _): return ClientID(id)
        case .subscription(let id):
            guard case .dedicated(let client) = services.pool.resource(ResourceID(id))?.home else { return nil }
            return client
        }
    }
}

/// The content of a stream that only its head is asked for: the front end sends that, without a length, and never opens
/// anything.
private final class HeadOnly: StreamContent {
    func opened(_ opening: StreamOpening) {}
    func fill(_ batch: inout StreamBatch, now: StreamTime) -> StreamProgress { .finish }
    func ended(_ reason: StreamEnd) {}
}

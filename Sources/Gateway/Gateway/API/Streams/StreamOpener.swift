package import Changes
internal import EventHub
internal import GatewayStreaming
internal import MicroHTTPD
internal import SessionCore
internal import SessionPool
package import StreamIO

/// Opens streams: acquires their sources and releases them at the end.
package struct StreamOpener: Sendable {
    /// How long a prepared stream is kept while it is not open.
    static let preparedLifetime = Duration.seconds(60)
    /// The stream of a response to `HEAD`: the HTTP server sends the head without a length and never opens the stream.
    package static let headOnly = AdmittedStream(id: "") { _ in }

    let services: Services

    package init(services: Services) { self.services = services }

    /// Sources, and the resources to release when a stream no longer needs them.
    package struct AcquiredSources {
        package private(set) var sources: [StreamSource] = []
        private var known: Set<StreamSource> = []
        package var joined: [String: JoinedSubscription] = [:]
        var opened: Set<SubscriptionID> = []
        /// The subscriptions that were joined by the name of a feed.
        package var typed: Set<SubscriptionID> = []
        package var clients: [StreamSource: ClientID] = [:]

        mutating func add(_ source: StreamSource) { if known.insert(source).inserted { sources.append(source) } }
    }

    /// Checks the rights of a caller on the sources that a request names in its query or path.
    func check(_ selectors: [SourceSelector], _ call: Call) throws {
        for selector in selectors {
            do { try check(selector, call) } catch {
                // One parameter has all names of a list, or each name has one.
                let name = selector.path(refusedBy: error)[0]
                let names = [name, String(name.dropLast())]
                throw ProblemDetails.located(error, at: names.first(where: call.query.has).map { .parameter($0) })
            }
        }
    }

    /// Checks the rights of a caller on the sources that a body names.
    ///
    /// - Parameter list: The member with the list of the sources; nil: the body is the only source.
    func check(_ selectors: [SourceSelector], in list: String?, _ call: Call) throws {
        for (index, selector) in selectors.enumerated() {
            do { try check(selector, call) } catch {
                let path = (list.map { [$0, "\(index)"] } ?? []) + selector.path(refusedBy: error)
                throw ProblemDetails.located(error, at: .body(at: path))
            }
        }
    }

    /// Finds or joins sources without checks: all or none. The sources count towards the quotas of `owner`.
    package func acquire(_ selectors: [SourceSelector], for owner: Caller) throws -> AcquiredSources {
        var acquired = AcquiredSources()
        do {
            for selector in selectors { try acquire(selector, in: &acquired, owner) }
        } catch {
            release(acquired.joined, [:], of: owner.account)
            throw error
        }
        return acquired
    }

    /// Releases the sources of a stream of a caller.
    package func release(
        _ joined: [String: JoinedSubscription],
        _ clients: [StreamSource: ClientID],
        of owner: String?
    ) {
        for (id, subscription) in joined { leave(id, subscription, of: owner) }
        for client in clients.values { services.pool.streamClosed(on: client) }
    }

    /// Opens a stream that was not prepared.
    func open(_ request: StreamRequest, _ selectors: [SourceSelector], _ call: Call) async throws -> OperationResult {
        try checkRoom(call)
        if services.coordination.contact == .ownStreams, selectors.contains(where: \.isExisting) {
            throw Self.closing("behind", .notInContact, call)
        }
        return try await services.background.perform(for: call, WorkSize(visiting: selectors.count)) {
            try check(selectors, call)
            let request = request.compressed(compresses(selectors.map(\.isSubscription), call))
            if call.isHead {
                try services.streamResources.checkRoom(for: selectors, of: call.caller.account)
                return try head(request, call)
            }
            return try await services.coordination.admit(.sources(selectors, of: call.caller), for: call) {
                try openChecked(request, selectors, call)
            }
        }
    }

    private func openChecked(
        _ request: StreamRequest,
        _ selectors: [SourceSelector],
        _ call: Call
    ) throws -> OperationResult {
        // Other requests may have opened streams while this request waited for its admission.
        try checkRoom(call)
        try services.streamResources.checkRoom(for: selectors, of: call.caller.account)
        let acquired = try acquire(selectors, for: call.caller)
        let id = services.coordination.makeStreamID()
        var request = request
        request.sources = acquired.sources
        request.opened = acquired.opened
        request.typed = acquired.typed
        request.filter = services.permissions(call).filter(of: request.sources)
        var entry = StreamResources.Entry(madeAt: services.clock(), owner: call.caller.account)
        entry.isOpen = true
        entry.opener = call.caller
        entry.sourceCount = acquired.sources.count
        entry.joined = acquired.joined
        entry.clients = acquired.clients
        services.streamResources.add(id, entry)
        for client in acquired.clients.values { services.pool.streamOpened(on: client) }
        return try start(id, request, call)
    }

    /// Opens a prepared stream. A change or deletion of the stream comes before that, or concerns the open stream.
    func reopen(_ id: String, _ settings: StreamRequest, _ call: Call) throws -> OperationResult {
        try services.stream(call).changeLock.mutex.withLock { _ in try reopenUnchanged(id, settings, call) }
    }

    /// Subscribes again to what the server has refused or removed when a prepared stream is opened again, as a request that
    /// joins does. The first reader is told what has become of the subscriptions that were opened for the stream.
    private func renew(_ entry: StreamResources.Entry) {
        for (id, joined) in entry.joined where entry.prepared?.opened.contains(SubscriptionID(id)) == false {
            services.coordination.renew(joined, in: services.pool)
        }
    }

    private func reopenUnchanged(_ id: String, _ settings: StreamRequest, _ call: Call) throws -> OperationResult {
        let entry = try services.stream(call)
        guard let prepared = entry.prepared else {
            throw Problem(.unknownStream, detail: "The stream \"\(id)\" was not prepared by POST /v1/streams.")
        }
        var request = prepared
        request.format = settings.format
        request.lastEventID = settings.lastEventID
        request.since = settings.since
        // Sources that were deleted meanwhile; without any other, the check refuses the first of them.
        request.sources.removeAll { entry.joined[$0.id] == nil && !services.hub.knows($0.topic) }
        if request.sources.isEmpty { request.sources = prepared.sources }
        request.filter = services.permissions(call).filter(of: request.sources)
        request = request.compressed(compresses(request.sources, call))
        for source in request.sources { try check(source, of: id, call) }
        try checkRoom(call)
        if call.isHead {
            if entry.isOpen, !call.reopensStream { throw inUse(id, call) }
            return try head(request, call)
        }
        let isFree = services.streamResources.change(id) { entry in
            defer { entry.isOpen = true }
            if entry.isOpen { return false }
            entry.opener = call.caller
            // A later reader of the stream joins subscriptions that have run for some time.
            entry.prepared?.opened = []
            return true
        }
        guard let isFree else { throw HubError.unknownStream(id) }
        guard isFree else { throw inUse(id, call) }
        // Before the stream begins, which would be told the former refusal.
        renew(entry)
        return try start(id, request, call)
    }

    /// The error if a prepared stream is open. A ticket that has opened the stream closes it, so that the next attempt
    /// of its client succeeds: the connection of the present stream may be lost without a notice.
    package func inUse(_ id: String, _ call: Call) -> any Error {
        let problem = Problem(.streamInUse, detail: "The stream \"\(id)\" is open.")
        guard call.reopensStream else { return problem }
        services.streams.close(id, reason: Self.replaced)
        return Self.closing(Self.replaced, problem, call, retryMilliseconds: 500...2_000)
    }

    /// The reason for which a stream ends whose token expires.
    static let expired = "token-expired"
    /// The reason for which a stream ends whose ticket opens it again.
    package static let replaced = "replaced"

    /// Removes a prepared stream if it is not opened in time from now on.
    package func expire(_ id: String) {
        guard let period = services.streamResources.entry(id)?.period else { return }
        services.timers.schedule(after: Self.preparedLifetime, runsAtStop: false) {
            let entry = services.streamResources.remove(id) { !$0.isOpen && $0.period == period }
            guard let entry else { return }
            services.coordination.made(.streamExpired(id))
            release(entry.joined, entry.clients, of: entry.owner)
        }
    }

    /// Whether a stream of sources, with whether each is a subscription, is compressed. Data of several sources are not
    /// compressed together.
    private func compresses(_ areSubscriptions: [Bool], _ call: Call) -> Bool {
        services.configuration.compression == .auto && areSubscriptions == [true]
            && PagesResource.acceptsGzip(call.header("Accept-Encoding"))
    }

    /// Whether a prepared stream of sources is compressed.
    package func compresses(_ sources: [StreamSource], _ call: Call) -> Bool {
        compresses(sources.map { SourceSelector.existing($0).isSubscription }, call)
    }

    // MARK: - Steps

    private func start(_ id: String, _ request: StreamRequest, _ call: Call) throws -> OperationResult {
        let owner = StreamOwner(peer: call.request.peer.host, identity: call.caller.identity)
        let (caller, redemption) = (call.caller, call.redemption)
        if let former = redemption?.replaced, former != id { services.streams.close(former, reason: Self.replaced) }
        let limit = caller.rights.streams
        guard services.access.openStreams.add(caller, isReplacing: call.reopensStream) else {
            ended(id)
            throw Self.overLimit(limit ?? 0, "for these credentials", call)
        }
        // The stream closes when the token that has opened it expires.
        let expiry = services.access.remaining(of: caller).flatMap { time in
            services.timers.schedule(after: time, runsAtStop: false) {
                services.streams.close(id, reason: Self.expired)
            }
        }
        let leave: @Sendable () -> Void = {
            if let expiry { services.timers.cancel(expiry) }
            services.access.openStreams.remove(caller)
            services.access.closed(id, by: redemption)
            ended(id)
        }
        let topics = services.streamResources.entry(id)?.joined.keys.map(\.self) ?? []
        let waiting = services.coordination.wait(of: request, topics: Set(topics))
        do {
            let former = services.access.opened(id, by: redemption)
            if let former, services.streams.listing(of: former) != nil {
                services.streams.close(former, reason: Self.replaced)
            } else if let limit, services.access.openStreams.count(caller) > limit {
                throw Self.overLimit(limit, "for these credentials", call)
            }
            var request = request
            request.owner = caller.account ?? owner.peer
            let joined = services.streamResources.entry(id)?.joined ?? [:]
            request.joined = Set(joined.keys.map { SubscriptionID($0) })
            request.types = services.types(of: joined, typed: request.typed)
            let isWaiting = waiting != nil
            let content = try services.streams.open(request, owner: owner, id: id, isWaiting: isWaiting) { _ in leave()
            }
            // The timer may have found no stream yet.
            if services.access.remaining(of: caller) == .zero {
                services.streams.close(content.id, reason: Self.expired)
            }
            waiting?(content.id)
            do {
                try services.checkPresent(call)
            } catch {
                content.onEnd(.neverOpened)
                return .response(ProblemDetails.response(to: call, for: error))
            }
            return .stream(StreamRegistry.headers(for: request), content)
        } catch {
            leave()
            throw error
        }
    }

    private func ended(_ id: String) {
        let isPrepared = services.streamResources.change(id) { entry in
            entry.isOpen = false
            entry.opener = nil
            return entry.prepared != nil
        }
        if isPrepared == true {
            services.coordination.made(.streamClosed(id))
            expire(id)
        } else if let entry = services.streamResources.remove(id) {
            release(entry.joined, entry.clients, of: entry.owner)
        }
        // Also for a stream that was removed before a request claimed the stream.
        if services.streamResources.entry(id) == nil { services.coordination.made(.streamRemoved(id)) }
    }

    /// Throws if no stream can be opened.
    private func checkRoom(_ call: Call) throws {
        if services.process.isStopping {
            // The next attempt may reach another process.
            throw Self.closing("shutdown", .stopping, call, retryMilliseconds: 1_000...3_000)
        }
        let limit = services.configuration.maxStreams
        if services.streams.count >= limit { throw Self.overLimit(limit, "of all callers", call, as: .gatewayFull) }
    }

    /// The response to `HEAD` of a stream. Throws if no stream of the caller can be opened at present.
    package func head(_ request: StreamRequest, _ call: Call) throws -> OperationResult {
        try checkRoom(call)
        // A ticket that opens its stream again replaces that stream.
        if let limit = call.caller.rights.streams, !call.reopensStream,
            services.access.openStreams.count(call.caller) >= limit
        {
            throw Self.overLimit(limit, "for these credentials", call)
        }
        return .stream(StreamRegistry.headers(for: request), Self.headOnly)
    }

    /// The error if the limit of streams is reached.
    package static func overLimit(
        _ limit: Int,
        _ whose: String,
        _ call: Call,
        as code: ProblemCode = .streamLimit
    ) -> any Error {
        let setting = code == .gatewayFull ? "streams.max" : Caller.setting("streams", of: call.caller.identity)
        let problem = Problem(code, detail: "The maximum of \(limit) streams \(whose) is open (\(setting)).")
        return closing("stream-limit", problem, call)
    }

    /// The error if no stream can be opened. An `EventSource` never reconnects after a status other than 200, so it
    /// gets a stream with one `closing` event; other clients get the problem.
    package static func closing(
        _ reason: String,
        _ problem: Problem,
        _ call: Call,
        retryMilliseconds: ClosedRange<Int> = 5_000...15_000
    ) -> any Error {
        guard AcceptHeader(call.header("Accept")).names("text/event-stream") else { return problem }
        let format = EventFormat.serverSentEvents
        let body = ClosingEvent.bytes(reason: reason, retryMilliseconds: .random(in: retryMilliseconds), as: format)
        let response = Response(status: 200, mediaType: format.contentType, body: body)
        return AnsweredRequest(response.with("Cache-Control", "no-store, no-transform"))
    }

    /// Checks the rights on a source of a prepared stream. A joined subscription needs the right to join, now as before, but not
    /// its upstream in the configuration: sessions continue after a reload that removes the upstream. A subscription that
    /// another gateway has is not in the pool.
    private func check(_ source: StreamSource, of id: String, _ call: Call) throws {
        if let joined = services.streamResources.entry(id)?.joined[source.id] {
            try services.permissions(call).check(.join(upstream: joined.upstream, joined.properties))
            if joined.resource == nil { return }
        }
        try check(.existing(source), call)
    }

    private func check(_ selector: SourceSelector, _ call: Call) throws {
        try services.permissions(call).check(selector)
        if case .join(let upstream, _, _) = selector { _ = try services.pool.settings.sessionKey(upstream: upstream) }
    }

    /// Releases a shared subscription that a caller has joined.
    func leave(_ id: String, _ subscription: JoinedSubscription, of owner: String?) {
        services.access.owners.usage.remove(id, of: owner)
        services.coordination.leave(subscription, in: services.pool)
    }

    private func acquire(_ selector: SourceSelector, in acquired: inout AcquiredSources, _ caller: Caller) throws {
        let source: StreamSource
        switch selector {
        case .existing(let existing):
            source = existing
            if let client = client(of: existing) { acquired.clients[existing] = client }
        case .join(let upstream, let properties, let isTyped):
            let session = try services.pool.settings.sessionKey(upstream: upstream)
            let key = SharedKey(session: session, properties: properties)
            let joined = try services.coordination.join(key, in: services.pool)
            if joined.isOpened { acquired.opened.insert(SubscriptionID(joined.id)) }
            // A source that is named twice is joined once.
            if acquired.joined[joined.id] != nil {
                services.coordination.leave(joined, in: services.pool)
            } else {
                do {
                    try services.access.owners.usage.add(joined.id, properties, for: caller)
                } catch {
                    services.coordination.leave(joined, in: services.pool)
                    throw error
                }
                acquired.joined[joined.id] = joined
                if isTyped { acquired.typed.insert(SubscriptionID(joined.id)) }
            }
            source = .subscription(SubscriptionID(joined.id))
        }
        acquired.add(source)
    }

    /// The dedicated client that an open source keeps in use.
    private func client(of source: StreamSource) -> ClientID? {
        switch source {
        case .client(let id, _): return id
        case .subscription(let id):
            guard case .dedicated(let client) = services.pool.resource(id)?.home else { return nil }
            return client
        }
    }
}

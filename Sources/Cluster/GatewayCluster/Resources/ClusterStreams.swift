internal import Changes
internal import EventHub
internal import Gateway
internal import GatewayStreaming
internal import JSONText
internal import MicroHTTPD
internal import Primitives
internal import Replication
internal import SessionCore
internal import SessionPool

/// The prepared streams of a cluster. The log has their definitions, so that any member can open a stream, which is
/// open on one member at a time. The member that created the stream, or opened it last, owns it; another member
/// inherits the stream when its owner is removed.
struct ClusterStreams: Sendable {
    /// How long the owner of an open stream may take to confirm that it is open.
    private static let callTime = Duration.seconds(1)

    let cluster: ClusterNode
    let services: Services

    private var opener: StreamOpener { StreamOpener(services: services) }

    // MARK: - Opening

    /// Opens a stream for a request, whichever member created the stream.
    func open(_ call: Call, _ operation: Operation) async throws -> OperationResult {
        let id = call.parameter("id")
        let deadline = cluster.clock() + cluster.configuration.replacementTime
        // The epoch whose log was read up to its end.
        var read: UInt64?
        while true {
            let (place, epoch) = (cluster.place(of: id), cluster.epoch)
            var awaitsEnd = false
            var until = deadline
            let prepared = cluster.preparedStream(id)
            if let stream = prepared, services.permissions(call).sees(streamOf: stream.owner) {
                if call.isHead {
                    if stream.isOpen, !call.reopensStream, await outcome(of: stream, id) == .refused {
                        throw opener.inUse(id, call)
                    }
                    return try head(stream, call)
                }
                switch await outcome(of: stream, id) {
                // The client of the former stream may be reading its last events.
                case .accepted where isEnding(id):
                    closeUnused(id)
                    awaitsEnd = true
                case .accepted: return try await start(id, stream, since: epoch, call, operation)
                case .refused: throw opener.inUse(id, call)
                case .unknown, .pending, .answered, nil:
                    if stream.isOpen, stream.holder != .own {
                        until = min(deadline, cluster.clock() + ClusterRouting.retryInterval)
                    }
                }
            } else if prepared == nil, services.streamResources.entry(id)?.prepared != nil {
                // The log of a new epoch does not have this stream of this member yet, and must open it.
            } else if let read, read == cluster.epoch {
                // The handler reports an unknown stream.
                return try await cluster.performHere(call, operation)
            } else {
                // Another member may have created the stream just now.
                read = await cluster.appliesEnd(isComplete: true) ? epoch : nil
                if read != nil { continue }
            }
            let isChanged = await cluster.changes(of: id, since: awaitsEnd ? nil : place, until: until) {
                awaitsEnd && !isEnding(id)
            }
            let now = cluster.clock()
            // A wait without a change that ends before its time: this member stops.
            guard now < deadline, isChanged || now >= until, !Task.isCancelled else {
                let detail = "The member of the cluster on which the stream is open does not respond."
                // An EventSource does not try again after a 503.
                throw StreamOpener.closing("behind", Problem(.unavailable, detail: detail), call)
            }
        }
    }

    /// Throws for a request with an unused ticket if its stream is open on a member that responds.
    func checkNotInUse(_ call: Call) async throws {
        let id = call.parameter("id")
        guard call.redemption?.isReopening == false, let stream = cluster.preparedStream(id), stream.isOpen,
            await outcome(of: stream, id) == .refused
        else { return }
        throw opener.inUse(id, call)
    }

    /// Whether this member may open a stream: `refused` while a member that responds has it open; nil if not known yet.
    private func outcome(of stream: PreparedStream, _ id: String) async -> RecordOutcome? {
        if stream.isOpen {
            switch stream.holder {
            case .own: return services.streamResources.entry(id)?.isOpen == true ? .refused : nil
            case .process(let process): return await isOpen(id, on: process) ? .refused : nil
            case .none, .unknown: return nil
            }
        }
        let outcome = await cluster.decision(on: .stream(id), by: .stream(.open(id: id)))
        // If another request was faster, the caller checks again whether the stream is open.
        return outcome == .accepted ? .accepted : nil
    }

    private func isOpen(_ id: String, on process: UInt64) async -> Bool {
        let request = ForwardedRequest(
            http: HTTPRequest(method: "GET", rawPath: "/v1/streams/\(id)", peer: PeerAddress(host: "", port: 0)),
            requestID: RequestIdentity.make(),
            caller: Caller(),
            isListing: true
        )
        let responses = try? await cluster.call(process, [request], within: Self.callTime)
        guard let response = responses?.first, response.status == 200 else { return false }
        return (try? JSONValue(parsing: response.bytes))?.object?["open"]?.bool ?? false
    }

    private func head(_ stream: PreparedStream, _ call: Call) throws -> OperationResult {
        let sources = stream.definition.request.sources
        for source in sources { try check(source, stream.definition, call) }
        return try opener.head(StreamQuery.request(call).compressed(opener.compresses(sources, call)), call)
    }

    private func check(_ source: StreamSource, _ definition: StreamDefinition, _ call: Call) throws {
        if case .subscription(let id) = source, let key = definition.shared[id.rawValue] {
            return try services.permissions(call).check(.join(upstream: key.upstream, key.properties))
        }
        try services.permissions(call).check(.existing(source))
    }

    /// Opens a stream that this member owns now.
    private func start(
        _ id: String,
        _ stream: PreparedStream,
        since epoch: UInt64?,
        _ call: Call,
        _ operation: Operation
    ) async throws -> OperationResult {
        // A request and the member, which reports the stream in a new epoch, may open the stream at the same time.
        services.streamResources.keep(id)
        do {
            try add(id, stream.definition, of: stream.owner ?? call.caller.account)
            let result = try await cluster.performHere(call, operation)
            cluster.resourceChanged(id)
            if case .stream = result { keepIfOwned(id, since: epoch, isKept: true) } else { notOpened(id) }
            return result
        } catch {
            notOpened(id)
            throw error
        }
    }

    private func notOpened(_ id: String) {
        services.streamResources.endKeeping(id)
        cluster.write(.stream(.close(id: id)))
        opener.expire(id)
    }

    /// Closes the streams of resources that requests have created: this member cannot serve them alone. Their clients
    /// reconnect until the engine has returned.
    func closeStreamsOfResources() {
        for stream in services.streams.list() {
            let id = stream.summary.id
            let joined = services.streamResources.entry(id)?.joined ?? [:]
            let isOfResources = stream.summary.request.sources.contains { source in
                if case .subscription(let subscription) = source { joined[subscription.rawValue] == nil } else { true }
            }
            if isOfResources { services.streams.close(id, reason: "behind") }
        }
    }

    // MARK: - Owning

    /// The record with the definition of a prepared stream of this member; nil for another stream.
    func declaration(of id: String, _ entry: StreamResources.Entry) -> ClusterRecord? {
        guard let request = entry.prepared else { return nil }
        let shared = entry.joined.mapValues { subscription in
            SharedTopicKey(upstream: subscription.upstream, properties: subscription.properties)
        }
        let definition = StreamDefinition(request: request, shared: shared)
        let specification = ResourceSpecification(
            group: id,
            upstream: nil,
            owner: Caller.identity(of: entry.owner),
            content: definition.bytes
        )
        return .stream(.prepare(id: id, specification))
    }

    /// Writes the definitions of all streams of this member again, after it has joined under another number.
    func declareAgain() { for id in services.streamResources.ids { declareAgain(id) } }

    private func declareAgain(_ id: String) {
        var isOpen = false
        services.streamResources.whileUnchanged(id) { entry in
            guard let entry, let declaration = declaration(of: id, entry) else { return }
            cluster.write(declaration)
            isOpen = entry.isOpen
        }
        guard isOpen else { return }
        services.streamResources.keep(id)
        cluster.decide(.stream(id), by: .stream(.open(id: id)), until: .never) { outcome in
            services.streamResources.endKeeping(id)
            switch outcome {
            case .accepted: opened(id)
            case .refused where cluster.place(of: id).holder != .own: release(id)
            // A member that could not write declares its streams again when it has joined.
            default: break
            }
        }
    }

    /// The log has opened a stream for this member, and no request waits for that: closes it there unless a client has it
    /// open. A stream that this member has released meanwhile is open until its last event is read, and then gone.
    func opened(_ id: String) {
        if services.streamResources.entry(id)?.isOpen != true || isEnding(id) { closeUnused(id) }
    }

    /// Closes a stream that the log has opened for this member, where nothing has opened it. The member owns it now.
    private func closeUnused(_ id: String) {
        cluster.write(.stream(.close(id: id)))
        let stream = cluster.state.withLock { $0.machine.ledger?.specified[id] }
        if let stream { inherit(id, stream.specification) }
    }

    /// Recreates a prepared stream that this member owns now.
    func inherit(_ id: String, _ specification: ResourceSpecification) {
        let epoch = cluster.epoch
        // A job of its own, because the stream may have thousands of sources.
        cluster.addJob {
            defer {
                cluster.shared.withLock { _ = $0.recreated.remove(id) }
                cluster.resourceChanged(id)
            }
            do {
                let definition = try StreamDefinition(specification.content)
                while isEnding(id) {
                    // A member that stops leaves the stream to the others.
                    let isOver = await cluster.changes(of: id, since: nil, until: .never) { !isEnding(id) }
                    guard isOver else { return }
                }
                cluster.shared.withLock { _ = $0.recreated.insert(id) }
                try add(id, definition, of: specification.owner)
                opener.expire(id)
                keepIfOwned(id, since: epoch, isKept: false)
            } catch {
                let cause = ProblemDetails.sentence(for: error)
                cluster.logger.warning("cannot recreate a stream of a removed member", metadata: ["error": "\(cause)"])
                cluster.write(.stream(.remove(id: id, evenIfOpen: false)))
                guard let owner = specification.owner else { return }
                cluster.changeClaims { $0.releaseInherited(units(of: id, specification, owner)) }
            }
        }
    }

    private func units(of id: String, _ specification: ResourceSpecification, _ owner: String) -> [QuotaUnit] {
        let topics = (try? StreamDefinition(specification.content))?.shared.keys.map(\.self) ?? []
        return [.stream(id, of: owner)] + topics.map { .subscription($0, of: owner) }
    }

    /// Gives up a stream that another member owns. The last event of an open stream is `closing`, and the client can resume
    /// the stream through the new owner. A stream that this member is opening stays until the log has decided about the
    /// opening: in a new epoch, the former owner may have declared the stream first.
    func release(_ id: String) {
        // At once, so that this member never declares the stream again. Releasing thousands of sources takes longer.
        let (isKept, removed) = services.streamResources.release(id)
        if let entry = removed {
            cluster.addJob { opener.release(entry.joined, entry.clients, of: entry.owner) }
        } else if !isKept {
            services.streams.close(id, reason: "moved")
        }
    }

    /// Gives up a stream if another member became its owner while this one was adding it.
    ///
    /// - Parameters:
    ///   - epoch: The epoch in which the log gave the stream to this member.
    ///   - isKept: Whether the caller keeps the stream, which ends here.
    private func keepIfOwned(_ id: String, since epoch: UInt64?, isKept: Bool) {
        let place = cluster.place(of: id)
        // The log of a new epoch does not know the stream, or not that it is open here.
        let isUndeclared = place.epoch != epoch && place.holder != .none
        if isUndeclared { declareAgain(id) }
        if isKept { services.streamResources.endKeeping(id) }
        if !isUndeclared, place.holder != .own { release(id) }
    }

    /// Whether a stream that this member gave up is still open.
    private func isEnding(_ id: String) -> Bool {
        services.streamResources.entry(id)?.isReleased == true
    }

    /// Adds a stream of the log, unless it is there.
    private func add(_ id: String, _ definition: StreamDefinition, of owner: String?) throws {
        guard services.streamResources.entry(id) == nil else { return }
        let selectors = definition.request.sources.map { source -> SourceSelector in
            guard case .subscription(let topic) = source, let key = definition.shared[topic.rawValue] else {
                return .existing(source)
            }
            let isTyped = definition.request.typed.contains(topic)
            return .join(upstream: key.upstream, key.properties, isTyped: isTyped)
        }
        var caller = Caller()
        caller.count(for: owner)
        let acquired = try opener.acquire(selectors, for: caller)
        var entry = StreamResources.Entry(prepared: definition.request, madeAt: services.clock(), owner: owner)
        entry.prepared?.sources = acquired.sources
        entry.prepared?.typed = acquired.typed
        entry.prepared?.addedAfter = cluster.lastIDWithoutAdditions(toStream: id)
        entry.joined = acquired.joined
        entry.clients = acquired.clients
        guard services.streamResources.add(id, entry) else { return opener.release(acquired.joined, [:], of: owner) }
        if let identity = Caller.identity(of: owner) { cluster.takeOver(.stream(id, of: identity)) }
        for client in acquired.clients.values { services.pool.streamOpened(on: client) }
    }
}

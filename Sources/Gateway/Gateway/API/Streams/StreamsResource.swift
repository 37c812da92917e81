internal import Changes
internal import EventHub
internal import JSONText
internal import SessionPool

/// `/v1/stream`, `/v1/streams` and the `…/events` of clients and subscriptions.
package struct StreamsResource: Sendable {
    let services: Services

    private var opener: StreamOpener { StreamOpener(services: services) }

    // MARK: - Opening

    /// `GET /v1/stream`.
    func oneLiner(_ call: Call) async throws -> OperationResult {
        let selectors = try StreamQuery.sources(call.query, services.sourceDefaults(for: call))
        return try await opener.open(try StreamQuery.request(call), selectors, call)
    }

    /// `GET /v1/clients/{id}/events`.
    func client(_ call: Call) async throws -> OperationResult {
        var reader = QueryReader(call.query)
        let withSubscriptions = reader.bool("subscriptions", default: false)
        try reader.finish()
        let request = try StreamQuery.request(call, conflates: false)
        let source = StreamSource.client(ClientID(call.parameter("id")), withSubscriptions: withSubscriptions)
        return try await opener.open(request, [.existing(source)], call)
    }

    /// `GET /v1/subscriptions/{id}/events`.
    func subscription(_ call: Call) async throws -> OperationResult {
        let request = try StreamQuery.request(call)
        return try await opener.open(request, [.existing(.subscription(SubscriptionID(call.parameter("id"))))], call)
    }

    /// `GET /v1/streams/{id}/events`.
    func events(_ call: Call) throws -> OperationResult {
        let id = call.parameter("id")
        let request = try StreamQuery.request(call)
        let count = services.streamResources.sourceCount(of: id)
        return try services.visiting(count, call) { try opener.reopen(id, request, call) }
    }

    // MARK: - The resource

    /// `GET /v1/streams`.
    func list(_ call: Call) throws -> OperationResult {
        try services.visiting(services.streamResources.sourceCount, call) { try listed(call) }
    }

    private func listed(_ call: Call) throws -> OperationResult {
        let permissions = services.permissions(call)
        let ids = services.streamResources.ids.filter { id in
            services.streamResources.entry(id).map { services.isVisible(id, $0, permissions) } ?? false
        }
        if call.isListing {
            // The response goes to another gateway, which makes the list.
            let text = ids.joined(separator: "\n")
            return .response(Response(status: 200, mediaType: "text/plain", body: Array(text.utf8)))
        }
        let page = try Page(of: ids, for: call) { $0 }
        return .response(
            page.response("streams") { json, id in view(id, services.streamResources.entry(id)).write(to: &json) }
        )
    }

    /// `GET /v1/streams/{id}`.
    func get(_ call: Call) throws -> OperationResult {
        let id = call.parameter("id")
        return try services.visiting(services.streamResources.sourceCount(of: id), call) {
            let view = view(id, try services.stream(call))
            return .response(response(view).tagged(view.tag, isKnown: try view.tag.isKnown(to: call)))
        }
    }

    /// `POST /v1/streams`.
    func create(_ call: Call) async throws -> Response {
        let reader = try RequestBody.reader(of: call)
        let request = settings(reader)
        let selectors = selectors(reader, services.callerDefaults(call))
        try reader.refusals.finish()
        let most = services.configuration.maxStreams
        guard services.streams.count + services.streamResources.waiting < most else {
            throw Problem(.gatewayFull, detail: "The maximum of \(most) streams is open or prepared (streams.max).")
        }
        try checkPrepared(call)
        let size = WorkSize(visiting: selectors.count)
        try opener.check(selectors, in: reader.has("sources") ? "sources" : nil, call)
        return try await services.coordination.admit(.sources(selectors, of: call.caller), for: call) {
            try await services.background.perform(for: call, size) { try prepare(request, selectors, call) }
        }
    }

    private func prepare(_ request: StreamRequest, _ selectors: [SourceSelector], _ call: Call) throws -> Response {
        var request = request
        try services.streamResources.checkRoom(for: selectors, of: call.caller.account)
        let acquired = try opener.acquire(selectors, for: call.caller)
        request.sources = acquired.sources
        request.opened = acquired.opened
        request.typed = acquired.typed
        var entry = StreamResources.Entry(madeAt: services.clock(), owner: call.caller.account)
        entry.joined = acquired.joined
        entry.clients = acquired.clients
        entry.prepared = request
        let id = services.coordination.makeStreamID()
        services.streamResources.add(id, entry)
        for client in acquired.clients.values { services.pool.streamOpened(on: client) }
        opener.expire(id)
        return response(try view(id), status: 201).with("Location", "/v1/streams/\(id)")
    }

    /// `PATCH /v1/streams/{id}`: adds and removes sources of an open stream.
    func patch(_ call: Call) async throws -> Response {
        let size = WorkSize(visiting: services.streamResources.sourceCount(of: call.parameter("id")))
        return try await services.background.perform(for: call, size) { try await patched(call) }
    }

    private func patched(_ call: Call) async throws -> Response {
        let id = call.parameter("id")
        _ = try services.stream(call)
        let reader = try RequestBody.reader(of: call, types: RequestBody.patchTypes)
        reader.allow(only: ["add", "remove"])
        let add = SourceReader.list("add", of: reader, joining: services.callerDefaults(call)) ?? []
        let remove = SourceReader.list("remove", of: reader) ?? []
        try reader.refusals.finish()
        try checkTag(of: id, call)
        try opener.check(add, in: "add", call)
        var owner = call.caller
        owner.count(for: services.streamResources.entry(id)?.owner)
        return try await services.coordination.admit(.sources(add, of: owner), for: call) {
            let size = WorkSize(visiting: add.count + remove.count)
            return try await services.background.perform(for: call, size) {
                try change(id, add: add, remove: remove, of: owner, call)
                let view = try view(id)
                return response(view).tagged(view.tag, isKnown: false)
            }
        }
    }

    /// `DELETE /v1/streams/{id}`.
    func delete(_ call: Call) throws -> OperationResult {
        let count = services.streamResources.sourceCount(of: call.parameter("id"))
        return try services.visiting(count, call) { try deleted(call) }
    }

    private func deleted(_ call: Call) throws -> OperationResult {
        let id = call.parameter("id")
        let lock = try services.stream(call).changeLock
        let entry: StreamResources.Entry? = try lock.mutex.withLock { _ in
            try checkTag(of: id, call)
            services.coordination.made(.streamDeleted(id))
            return services.streamResources.delete(id)
        }
        if let entry {
            opener.release(entry.joined, entry.clients, of: entry.owner)
        } else {
            services.streams.close(id, reason: "deleted")
        }
        return .response(Response(status: 204))
    }

    /// Rejects a prepared stream if those of the caller have reached its share, or its open and prepared streams its limit.
    private func checkPrepared(_ call: Call) throws(Problem) {
        guard let owner = call.caller.account else { return }
        let waiting = services.streamResources.waiting(of: owner)
        let share = services.configuration.preparedShare
        if waiting >= share {
            throw SubscriptionUsage.overQuota("prepared streams", share, "streams.maxPreparedPerCaller")
        }
        guard let limit = call.caller.rights.streams else { return }
        guard waiting + services.access.openStreams.count(call.caller) < limit else {
            throw Self.overLimit(limit, of: owner)
        }
    }

    /// The caller has reached its limit of open and prepared streams.
    package static func overLimit(_ limit: Int, of identity: String) -> Problem {
        let setting = Caller.setting("streams", of: identity)
        let detail = "The maximum of \(limit) streams for these credentials is open or prepared (\(setting))."
        return Problem(.streamLimit, detail: detail)
    }

    private func checkTag(of id: String, _ call: Call) throws {
        if call.hasPreconditions { try view(id).tag.check(changeBy: call) }
    }

    /// The permissions of the caller that has opened a stream; nil if the stream is not open.
    private func permissionsOfOpener(of id: String, _ call: Call) -> Permissions? {
        guard let opener = services.streamResources.entry(id)?.opener else { return nil }
        var call = call
        call.caller = opener
        return services.permissions(call)
    }

    /// Refuses further sources of an open stream that the caller which has opened the stream may not read.
    private func checkOpener(of id: String, _ selectors: [SourceSelector], _ call: Call) throws {
        guard let permissions = permissionsOfOpener(of: id, call) else { return }
        for selector in selectors {
            do { try permissions.check(selector) } catch {
                throw Challenge.insufficient(nil, "The credentials that opened the stream do not cover a new source.")
            }
        }
    }

    /// Adds and removes sources. The tag is checked again: the stream may have changed while the request waited for its
    /// admission.
    private func change(
        _ id: String,
        add: [SourceSelector],
        remove: [SourceSelector],
        of owner: Caller,
        _ call: Call
    ) throws {
        let topics = Set(
            remove.compactMap { selector in
                if case .existing(let source) = selector { source.topic } else { nil }
            }
        )
        try services.streamResources.checkRoom(for: add, of: owner.account)
        // Without a lock: joining a subscription takes the locks of subscriptions that change.
        let acquired = try opener.acquire(add, for: owner)
        let freed: FreedSources
        do {
            guard let lock = services.streamResources.entry(id)?.changeLock else { throw HubError.unknownStream(id) }
            freed = try lock.mutex.withLock { _ in
                try checkTag(of: id, call)
                try checkOpener(of: id, add, call)
                return try exchange(id, adding: acquired, removing: topics, call)
            }
        } catch {
            opener.release(acquired.joined, [:], of: owner.account)
            throw error
        }
        for client in acquired.clients.values { services.pool.streamOpened(on: client) }
        for (id, subscription) in freed.subscriptions { opener.leave(id, subscription, of: owner.account) }
        for client in freed.clients { services.pool.streamClosed(on: client) }
    }

    /// Exchanges the sources of a stream, open or not; returns what the stream no longer needs. Throws `unknownStream` if the
    /// stream has ended.
    private func exchange(
        _ id: String,
        adding acquired: StreamOpener.AcquiredSources,
        removing topics: Set<TopicID>,
        _ call: Call
    ) throws(HubError) -> FreedSources {
        var last = services.hub.lastID
        if services.streamResources.entry(id)?.isOpen == true {
            let present = services.streams.listing(of: id)?.summary.request.sources ?? []
            let gone = present.filter { topics.contains($0.topic) }
            let types = services.types(of: acquired.joined, typed: acquired.typed)
            let filter = permissionsOfOpener(of: id, call)?.filter(of: present + acquired.sources)
            do throws(HubError) {
                last = try services.hub.change(
                    stream: id,
                    add: acquired.sources,
                    remove: gone,
                    types: types,
                    filter: filter
                )
            } catch {
                // The stream has ended just now: its entry is changed as that of a stream which is not open.
                guard error == .unknownStream(id) else { throw error }
            }
        }
        let count = services.streams.listing(of: id)?.summary.request.sources.count
        let freed = services.streamResources.change(id) { [last] entry in
            let present = Set(entry.prepared?.sources ?? [])
            if acquired.sources.contains(where: { !present.contains($0) }) { entry.prepared?.addedAfter = last.text }
            if entry.prepared == nil, let count { entry.sourceCount = count }
            return entry.exchange(adding: acquired, removing: topics)
        }
        guard let freed else { throw .unknownStream(id) }
        return freed
    }

    // MARK: - Input

    private func settings(_ reader: ObjectReader) -> StreamRequest {
        var request = StreamRequest(sources: [])
        request.conflates = reader.bool("conflate") ?? true
        if let value = reader.object["maxFrequency"], !value.isNull {
            let greatest = StreamQuery.greatestFrequency
            request.maxFrequency = value.number?.doubleValue.flatMap { $0 > 0 && $0 <= greatest ? $0 : nil }
            if request.maxFrequency == nil {
                reader.refuse("maxFrequency", "A number greater than 0 is expected, \(Int(greatest)) at most.")
            }
        }
        if let word = reader.string("fieldsSent") {
            if word != "all", word != "changed" { reader.refuse("fieldsSent", "changed or all is expected.") }
            request.sendsAllFields = word == "all"
        }
        request.includesLegacy = reader.bool("legacy") ?? false
        return request
    }

    private func selectors(_ reader: ObjectReader, _ defaults: SourceDefaults) -> [SourceSelector] {
        let members: Set = ["sources", "conflate", "maxFrequency", "fieldsSent", "legacy"]
        if reader.has("sources") {
            reader.allow(only: members)
            if reader.object["sources"]?.array?.isEmpty == true {
                reader.refuse("sources", "At least one source is expected.")
            }
            return SourceReader.list("sources", of: reader, joining: defaults) ?? []
        }
        return SourceReader.join(reader, defaults, others: members).map { [$0] } ?? []
    }

    // MARK: - Output

    private func response(_ view: StreamView, status: Int = 200) -> Response { .json(status) { view.write(to: &$0) } }

    private func view(_ id: String) throws(HubError) -> StreamView {
        guard let entry = services.streamResources.entry(id) else { throw .unknownStream(id) }
        return view(id, entry)
    }

    private func view(_ id: String, _ entry: StreamResources.Entry?) -> StreamView {
        let listing = services.streams.listing(of: id)
        return StreamView(id: id, entry: entry, listing: listing, now: services.clock(), hub: services.hub)
    }
}

/// The resources that a stream does not need any more.
private typealias FreedSources = (subscriptions: [(String, JoinedSubscription)], clients: [ClientID])

extension StreamResources.Entry {
    /// Adds acquired sources, removes topics, and returns the resources to release.
    fileprivate mutating func exchange(
        adding acquired: StreamOpener.AcquiredSources,
        removing topics: Set<TopicID>
    ) -> FreedSources {
        var subscriptions: [(String, JoinedSubscription)] = []
        var clients: [ClientID] = []
        for case .subscription(let id) in topics {
            if let subscription = joined.removeValue(forKey: id.rawValue) {
                subscriptions.append((id.rawValue, subscription))
            }
        }
        for source in self.clients.keys where topics.contains(source.topic) {
            if let client = self.clients.removeValue(forKey: source) { clients.append(client) }
        }
        for (id, subscription) in acquired.joined {
            // A source that the stream already has is released at once.
            if joined.updateValue(subscription, forKey: id) != nil { subscriptions.append((id, subscription)) }
        }
        for (source, client) in acquired.clients {
            if let present = self.clients.updateValue(client, forKey: source) { clients.append(present) }
        }
        let before = Set(prepared?.sources ?? [])
        prepared?.sources.removeAll { topics.contains($0.topic) }
        let present = Set(prepared?.sources ?? [])
        prepared?.sources += acquired.sources.filter { !present.contains($0) }
        // A subscription that the stream has already keeps the form of its values.
        let typed = (prepared?.typed ?? []).union(acquired.typed.filter { !before.contains(.subscription($0)) })
        let after = Set(prepared?.sources ?? [])
        prepared?.typed = typed.filter { after.contains(.subscription($0)) }
        prepared?.opened.formUnion(acquired.opened)
        return (subscriptions, clients)
    }
}

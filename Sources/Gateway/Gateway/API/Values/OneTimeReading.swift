internal import Changes
internal import EventHub
internal import Primitives
internal import SessionCore
internal import SessionPool
internal import Synchronization

/// One request that reads the values of a shared subscription: it has joined the subscription, waits for the values and
/// leaves the subscription with the response, or when its client leaves.
final class OneTimeReading: Sendable {
    private let services: Services
    private let call: Call
    private let query: ValuesQuery
    private let topic: SubscriptionID
    private let joined: JoinedSubscription
    private let caching: CachePolicy
    /// The earliest response to a request with a cursor.
    private let earliest: Moment?
    private let progress = RankedMutex(SnapshotProgress())
    private let hasLeft = Atomic(false)
    /// Whether the subscription has changed since it was joined.
    private let hasChanged: Atomic<Bool>

    init(services: Services, call: Call, query: ValuesQuery, topic: SubscriptionID, joined: JoinedSubscription) {
        (self.services, self.call, self.query, self.topic, self.joined) = (services, call, query, topic, joined)
        caching = CachePolicy(services.configuration.values, for: call.caller)
        earliest = query.cursor == nil ? nil : caching.earliestResponse(to: call.record.since, of: topic)
        // The pool of this process activates a subscription before the join returns. The error of an earlier reader stays
        // until the pool of another gateway has activated it again.
        hasChanged = Atomic(joined.resource != nil)
    }

    /// Responds at once or when the values are there, at the latest after the requested wait.
    func begin() throws -> OperationResult {
        do {
            if let queue = services.background[writing] { return try begin(on: queue) }
            let change = services.readings.change(of: topic)
            var versions = services.versions(of: topic)
            if let response = decideAndKeep(&versions) {
                leave()
                return .response(response)
            }
            if query.wait <= 0 {
                defer { leave() }
                return .response(late())
            }
            let pending = try services.pendingResponse(call, reading: joined)
            pending.onCompletion { self.leave() }
            wait(with: pending, since: change)
            return .deferred
        } catch {
            leave()
            throw error
        }
    }

    /// How long it takes to write the table.
    private var writing: WorkSize { services.hub.read(topic, \.table.writing) ?? .small }

    /// Begins on a background queue, because the values of the table take long to write.
    private func begin(on queue: BackgroundQueue) throws -> OperationResult {
        let pending = try services.pendingResponse(call, reading: joined)
        pending.onCompletion { self.leave() }
        let isAdded = queue.add(for: call.shareName) {
            if pending.isComplete { return }
            let change = self.services.readings.change(of: self.topic)
            var versions = self.services.versions(of: self.topic)
            if let response = self.decideAndKeep(&versions) { return pending.complete { response } }
            if self.query.wait <= 0 { return pending.complete(self.late) }
            self.wait(with: pending, since: change)
        }
        guard isAdded else {
            pending.cancel()
            throw queue.refusal
        }
        return .deferred
    }

    private func wait(with pending: PendingResponse, since change: WaitingReadings.Change?) {
        let (background, readings, topic, timers) = (services.background, services.readings, topic, services.timers)
        let caller = call.shareName
        let timer = timers.schedule(after: .seconds(query.wait)) {
            let queue = background.queue(for: self.writing)
            let isAdded = queue.add(for: caller, isBounded: false) { pending.complete(self.late) }
            if !isAdded { pending.complete(self.late) }
        }
        if let timer { pending.onCompletion { timers.cancel(timer) } }
        if let earliest {
            let timer = timers.schedule(after: earliest - services.clock(), runsAtStop: false) {
                readings.attempt(topic)
            }
            if let timer { pending.onCompletion { timers.cancel(timer) } }
        }
        let number = readings.add(to: topic, known: change) { versions, hasChanged in
            if hasChanged { self.hasChanged.store(true, ordering: .relaxed) }
            if !pending.isComplete, let response = self.decide(&versions) { pending.complete { response } }
        }
        pending.onCompletion { readings.remove(number, from: topic) }
    }

    // MARK: - Responses

    /// The response, whose values are kept for equal requests; nil while the request has to wait.
    private func decideAndKeep(_ versions: inout CurrentVersions) -> Response? {
        let response = decide(&versions)
        if let response, response.problem == nil { keep(&versions) }
        return response
    }

    /// The response; nil while the request has to wait.
    private func decide(_ versions: inout CurrentVersions) -> Response? {
        let state = services.hub.read(topic) { [self] state in
            (isComplete: progress.withLock { $0.isComplete(state.table) }, isActive: state.isActive)
        }
        guard let state else { return hasChanged.load(ordering: .relaxed) ? late() : nil }
        if !state.isActive, let refusal = refusal() { return refusal }
        // Before the values are encoded: until then, no change of them is a response.
        if let earliest, services.clock() < earliest { return nil }
        // The values can be those of another moment, and the subscription can have begun again since the last look.
        guard state.isComplete, let version = versions.version(for: query) else { return nil }
        if let refusal = version.secondLevelRefusal { return response(refusedBy: refusal) }
        guard version.isComplete else { return nil }
        return response(with: version.content, isLate: false)
    }

    /// The response at the end of the wait: the values if every item has some, else a 504 problem with those that are there, or
    /// a 503 problem if the gateway is stopping, or has no contact to the cluster that would ask the server.
    private func late() -> Response {
        if let refusal = refusal() { return refusal }
        var versions = services.versions(of: topic)
        guard let version = versions.version(for: query) else {
            return confirmed(ProblemDetails.response(to: call, for: PoolError.unknownSubscription(topic.rawValue)))
        }
        let values = version.values
        if let refusal = version.secondLevelRefusal { return response(refusedBy: refusal) }
        if version.hasSnapshot, let response = response(with: version.content, isLate: true) { return response }
        // The wait has ended before its time, and another gateway may have the values.
        if services.process.isStopping { return ProblemDetails.response(to: call, for: Problem.stopping) }
        // A server may send rows of a COMMAND or DISTINCT item without ever ending its snapshot.
        let hasRows = values.table.isSubscribed && values.missingItems == 0
        if hasRows, let response = response(with: version.content, isLate: true) { return response }
        // Nobody has asked the server.
        if !values.table.isSubscribed, services.coordination.contact == .none {
            return ProblemDetails.response(to: call, for: Problem.notInContact)
        }
        let state = services.hub.snapshot(of: topic)
        let client = state?.client.flatMap { services.pool.client($0) }
        let cause = client.flatMap { client in client.trouble.map { TroubleText.sentence($0, of: client) } }
        let problem = Problem.noValues(values, state?.status, cause, within: query.wait, at: services.clock())
        return confirmed(ProblemDetails.response(to: call, for: problem))
    }

    /// A problem response, which confirms the wait that the request has asked for.
    private func confirmed(_ response: Response) -> Response {
        query.isWaitRequested ? response.waited(query.wait) : response
    }

    /// The response if the server has refused the subscription.
    private func refusal() -> Response? {
        guard hasChanged.load(ordering: .relaxed), let state = services.hub.snapshot(of: topic), !state.isActive,
            let refusal = state.lastError
        else { return nil }
        return response(refusedBy: refusal)
    }

    private func response(refusedBy refusal: UpstreamRefusal) -> Response {
        confirmed(ProblemDetails.response(to: call, refusedBy: refusal, of: .subscription))
    }

    /// The response with values; nil if the request waits for others.
    private func response(with content: CurrentVersions.Content, isLate: Bool) -> Response? {
        let now = services.clock()
        if !isLate {
            if query.isWaitRequested, (try? content.tag.isKnown(to: call)) == true { return nil }
            if query.cursor == content.tag.opaque { return nil }
        }
        return content.response(to: call, query, caching, at: now, services.configuration.http)
    }

    /// Keeps the reading for equal requests, unless its response depends on more than the present values.
    private func keep(_ versions: inout CurrentVersions) {
        guard query.cursor == nil, !query.isWaitRequested,
            services.configuration.pool.subscriptionLinger >= RecentReadings.lifetime,
            let content = versions.version(for: query)?.content
        else { return }
        let reading = RecentReadings.Reading(query, of: topic, content, services.current.version)
        services.recentReadings.keep(reading, content, for: call, services.timers)
    }

    private func leave() {
        guard !hasLeft.exchange(true, ordering: .relaxed) else { return }
        StreamOpener(services: services).leave(topic.rawValue, joined, of: call.caller.account)
    }
}

extension Problem {
    /// Values did not arrive in time. The response has those that did, and why there is no connection.
    fileprivate static func noValues(
        _ values: CurrentValues,
        _ status: ClientStatus?,
        _ cause: String?,
        within seconds: Int,
        at now: Moment
    ) -> Problem {
        let count = values.missingItems
        let items = count == 1 ? "1 item" : "\(count) items"
        let session = (status ?? .disconnected).rawValue
        let state =
            values.table.isSubscribed
            ? "The server has accepted the subscription, and has sent no values for \(items) within \(seconds) s."
            : "The server has not answered the subscription within \(seconds) s; the session is \(session)."
        var problem = Problem(.noValue, detail: [state, cause].compactMap(\.self).joined(separator: " "))
        problem.members = { json in
            json.member("session", session)
            json.member("subscribed", values.table.isSubscribed)
            json.key("items")
            json.raw(values.presentItems(at: now))
        }
        return problem
    }
}

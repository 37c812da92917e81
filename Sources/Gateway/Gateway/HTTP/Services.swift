internal import Changes
internal import EventHub
package import GatewayStreaming
internal import LightstreamerClient
package import SessionCore
package import SessionPool

/// The services that handlers use. An object, because every handler of every request refers to it.
package final class Services: Sendable {
    let current: LiveConfiguration
    package let access: AccessControl
    package let pool: SessionPool
    package let streams: StreamRegistry
    /// The values and the state of every subscription.
    var hub: EventHub { streams.hub }
    package let streamResources: StreamResources
    let timers: TimerQueue
    let waiting: WaitingRequests
    let feedContract = FeedContract()
    let encodedTables = EncodedTables()
    let mcpSessions = MCPSessions()
    /// Runs work that takes long outside the threads of the HTTP server.
    let background = BackgroundQueues()
    /// The requests that wait for values of shared subscriptions.
    let readings: WaitingReadings
    /// The requests that have read values of shared subscriptions in the last second.
    let recentReadings = RecentReadings()
    let process: ProcessState
    let metrics: @Sendable () -> String
    let messages: MessageMemory
    /// The memory budgets; nil where there are none.
    let memory: (@Sendable () -> MemoryBudgets)?
    package let clock: @Sendable () -> Moment
    /// The door to the other gateways that behave as one with this one.
    let coordination: any Coordination

    init(
        current: LiveConfiguration,
        access: AccessControl,
        pool: SessionPool,
        streams: StreamRegistry,
        streamResources: StreamResources,
        timers: TimerQueue,
        process: ProcessState,
        metrics: @escaping @Sendable () -> String,
        clock: @escaping @Sendable () -> Moment,
        coordination: any Coordination,
        messages: MessageMemory = MessageMemory(),
        memory: (@Sendable () -> MemoryBudgets)? = nil
    ) {
        self.messages = messages
        self.memory = memory
        self.current = current
        waiting = WaitingRequests(most: current.value.http.connectionLimit)
        self.access = access
        self.pool = pool
        self.streams = streams
        readings = WaitingReadings(hub: streams.hub, coordination: coordination, background: background)
        self.streamResources = streamResources
        self.timers = timers
        self.process = process
        self.metrics = metrics
        self.clock = clock
        self.coordination = coordination
    }
}

extension Services {
    var configuration: GatewayConfiguration { current.value }

    /// The values that null restores in the options of a client by address.
    var defaultOptions: ConnectionOptionValues { pool.settings.configuration.edition.defaultOptions }

    func versions(of topic: SubscriptionID) -> CurrentVersions {
        CurrentVersions(of: topic, in: hub, coordination.contact)
    }
}

/// Lookup of the resources that requests name. Resources that the caller may not see are reported as unknown.
extension Services {
    package func permissions(_ call: Call) -> Permissions {
        Permissions(
            caller: call.caller,
            owners: access.owners,
            pool: pool,
            coordination: coordination,
            feeds: current.version.visibleFeeds
        )
    }

    func upstream(_ call: Call) throws(PoolError) -> UpstreamConfiguration {
        let name = call.parameter("name")
        guard permissions(call).sees(upstream: name), let upstream = pool.settings.upstream(name) else {
            throw .unknownUpstream(name)
        }
        return upstream
    }

    /// The client of the path, or the client with `id`; it counts as used, unless it is only listed. Throws
    /// `unknownClient`.
    func client(_ call: Call, id: String? = nil) throws(PoolError) -> PooledClient {
        let id = ClientID(id ?? call.parameter("id"))
        guard let client = pool.client(id), permissions(call).sees(client) else { throw .unknownClient(id.rawValue) }
        return call.isListing ? client : try pool.usedClient(id)
    }

    /// The client of the path, if the caller may change it. Throws `unknownClient`, and a 403 problem for a client of
    /// the pool.
    func controlledClient(_ call: Call) throws -> PooledClient {
        let client = try client(call)
        guard permissions(call).controls(client) else {
            throw Challenge.insufficient(.manage, "The client belongs to the pool and serves many.")
        }
        return client
    }

    /// The client of the path, if the caller may change it and it is dedicated. Throws as `controlledClient`, and a 409
    /// problem for a client of the pool.
    func dedicatedClient(_ call: Call) throws -> PooledClient {
        let client = try controlledClient(call)
        guard client.isDedicated else {
            throw Problem(.notDedicated, detail: "The client belongs to the pool and serves many.")
        }
        return client
    }

    /// The subscription of the path; the dedicated client that carries it counts as used. Throws `unknownSubscription`.
    func subscription(_ call: Call) throws(PoolError) -> SubscriptionResource {
        let id = SubscriptionID(call.parameter("id"))
        guard let resource = pool.resource(id) else { throw .unknownSubscription(id.rawValue) }
        if !call.caller.rights.reachesOverAll, !permissions(call).sees(resource) {
            throw .unknownSubscription(id.rawValue)
        }
        if call.isListing { return resource }
        pool.use(resource)
        if case .dedicated(let client) = resource.home { _ = try? pool.usedClient(client) }
        return resource
    }

    /// The response to a request that has waited some seconds for a client or subscription which this gateway does not have any
    /// more: 503 if another gateway has the resource, else the problem of an unknown resource. The gateway that has forwarded a
    /// request finds the present owner by itself.
    func response(to call: Call, waiting seconds: Int, for unknown: PoolError, _ id: String) -> Response {
        if !call.isForwarded, coordination.hasMoved(id) { return ProblemDetails.response(to: call, for: Problem.moved) }
        return ProblemDetails.response(to: call, for: unknown).waited(seconds)
    }

    /// The resources of the stream of the path. Throws `unknownStream`.
    func stream(_ call: Call) throws(HubError) -> StreamResources.Entry {
        let id = call.parameter("id")
        guard let entry = streamResources.entry(id), isVisible(id, entry, permissions(call)) else {
            throw .unknownStream(id)
        }
        return entry
    }

    /// Whether a stream with all its sources is visible, so that it may be changed. A stream that ends here because another gateway
    /// has taken the stream over is not visible, also where the other gateway has deleted the stream.
    func isVisible(_ id: String, _ entry: StreamResources.Entry, _ permissions: Permissions) -> Bool {
        guard !entry.isReleased, permissions.sees(streamOf: entry.owner) else { return false }
        let sources = streams.listing(of: id)?.summary.request.sources ?? entry.prepared?.sources ?? []
        return sources.allSatisfy { permissions.sees($0, joinedAs: entry.joined[$0.id]) }
    }

    /// The subscription of the path, if a POST created it. Throws a 409 problem for a subscription that streams share.
    func ownSubscription(_ call: Call) throws -> SubscriptionResource {
        let resource = try subscription(call)
        guard !resource.isImplicit else {
            throw Problem(.lifecycle, detail: "The subscription belongs to the streams that joined it.")
        }
        return resource
    }

    /// Refuses a caller whose rights changed after they were checked: `end(_:)` does not find what is made later.
    func checkPresent(_ call: Call) throws(Problem) {
        let policy = access.policy
        // The member that received a forwarded request, or one that creates a client again, has checked the credentials by its
        // own configuration.
        guard !policy.isOpen, !call.isForwarded, !call.isInherited, !policy.recognises(call.caller) else { return }
        throw Challenge.changed()
    }

    /// A response with a client and those of its subscriptions that the caller sees.
    func clientResponse(_ client: PooledClient, _ call: Call, status: Int = 200) -> Response {
        .json(status) { write(client, permissions(call), to: &$0) }
    }
}

/// The configuration in force, which a reload replaces.
package final class LiveConfiguration: Sendable {
    /// A configuration with what requests often ask of it. An object: a request takes a reference, not a copy.
    final class Version: Sendable {
        let configuration: GatewayConfiguration
        let sourceDefaults: SourceDefaults
        let visibleFeeds: VisibleFeeds

        init(_ configuration: GatewayConfiguration) {
            self.configuration = configuration
            sourceDefaults = SourceDefaults(configuration)
            visibleFeeds = VisibleFeeds(configuration)
        }
    }

    private let state: RankedMutex<(version: Version, isLatest: Bool)>

    package init(_ configuration: GatewayConfiguration) { state = RankedMutex((Version(configuration), true)) }

    /// The configuration in force, as an object.
    var version: Version { state.withLock { $0.version } }

    package var value: GatewayConfiguration { version.configuration }

    /// Whether the last reload has put its configuration in force; true before the first one.
    package var isLatest: Bool { state.withLock { $0.isLatest } }

    /// Puts another configuration in force.
    package func replace(by configuration: GatewayConfiguration) {
        let version = Version(configuration)
        state.withLock { $0 = (version, true) }
    }

    /// Keeps the configuration in force: that of a reload has a mistake.
    package func keep() { state.withLock { $0.isLatest = false } }
}

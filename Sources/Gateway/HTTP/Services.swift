internal import LightstreamerClient
internal import Logging
internal import SessionCore
internal import SessionPool

/// What the operations work on.
struct Services: Sendable {
    /// What the gateway was told, at its start or since.
    let current: LiveConfiguration
    /// Who may come in.
    let access: AccessControl
    /// The upstream side.
    let pool: SessionPool
    /// The open streams.
    let streams: StreamRegistry
    /// What the streams that REST made hold.
    let streamBook: PreparedStreams
    /// Who watches the time for requests that wait.
    let deadlines: Deadlines
    /// The state of the process, as health tells it.
    let lifetime: Lifetime
    /// The readable API page.
    let docs: DocsPage
    /// The figures as Prometheus text; the room that counts sets it.
    let metrics: @Sendable () -> String
    /// The time.
    let clock: @Sendable () -> Moment
}

extension Services {
    /// What the gateway was told last.
    var configuration: GatewayConfiguration { current.value }

    /// What null restores in the options of a client by address.
    var defaultOptions: ConnectionOptionValues { pool.configuration.edition.defaultOptions }
}

/// Finding what a path names.
extension Services {
    /// The client of the path; it counts as used. Throws `unknownClient`.
    func client(_ call: Call) throws(PoolError) -> PooledClient {
        try pool.usedClient(ClientID(call.parameter("id")))
    }

    /// The client of the path, if it is dedicated. Throws `unknownClient`, and a 409 problem for a pooled one.
    func dedicatedClient(_ call: Call) throws -> PooledClient {
        let client = try client(call)
        guard client.isDedicated else {
            throw Problem(.notDedicated, detail: "The client belongs to the pool and serves many.")
        }
        return client
    }

    /// The subscription of the path. Throws `unknownSubscription`.
    func subscription(_ call: Call) throws(PoolError) -> SubscriptionResource {
        let id = ResourceID(call.parameter("id"))
        guard let resource = pool.resource(id) else { throw .unknownSubscription(id.rawValue) }
        if case .dedicated(let client) = resource.home { _ = try? pool.usedClient(client) }
        return resource
    }

    /// The subscription of the path, if a POST made it. Throws a 409 problem for one that streams share.
    func ownSubscription(_ call: Call) throws -> SubscriptionResource {
        let resource = try subscription(call)
        guard !resource.isImplicit else {
            throw Problem(.lifecycle, detail: "The subscription belongs to the streams that joined it.")
        }
        return resource
    }

    /// The answer that shows a client, with those of its subscriptions that the caller sees.
    func clientAnswer(_ client: PooledClient, status: Int = 200, seenBy permissions: Permissions? = nil) -> Answer {
        let subscriptions = pool.subscriptions(of: client.id).filter { permissions?.sees($0) ?? true }.map(
            \.id.rawValue
        )
        return .json(status) { ClientView.write(client, subscriptions: subscriptions, to: &$0) }
    }

    /// The answer that shows a subscription.
    func subscriptionAnswer(_ resource: SubscriptionResource, status: Int = 200) -> Answer {
        .json(status) { SubscriptionView.write(resource, of: pool, to: &$0) }
    }
}

extension SubscriptionResource {
    /// The client that carries the resource, or that it belongs to.
    var carrierID: ClientID? {
        if case .dedicated(let id) = home { id } else { client?.id }
    }
}

/// The rule of the class reference for server addresses.
enum ServerAddressRule {
    /// The rule.
    static let sentence = "An http or https URL without a query, of at most 2048 characters, is expected."

    /// Whether an address obeys it.
    static func admits(_ address: String) -> Bool {
        address.utf8.count <= 2048 && (try? LightstreamerClient(serverAddress: address)) != nil
    }
}

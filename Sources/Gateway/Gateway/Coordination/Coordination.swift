package import Changes
package import JSONText
package import SessionPool

/// The one door between a gateway and the other gateways that behave as one with it.
///
/// Handlers ask the same questions in both forms: `SingleProcess`, whose answers are trivial, and the clustered form, whose
/// answers come from an ordered log. A handler does not know which form it has.
package protocol Coordination: AnyObject, Sendable {
    // MARK: Place

    /// Performs a request here, or has the gateway perform it that has its resource. A request with an
    /// `Idempotency-Key` is performed once, and a ticket is used once.
    func perform(_ call: Call, _ operation: Operation) throws -> OperationResult

    /// The resources that the gateway serves at the moment.
    var contact: Contact { get }

    /// The description of a client or subscription that another gateway has; nil: there is none.
    func resourceElsewhere(_ id: String) -> ResourceElsewhere?

    /// Whether another gateway has taken over a client or subscription that this one had, or is about to.
    func hasMoved(_ id: String) -> Bool

    /// The id of a new stream, from which all gateways can find the one that opened it.
    func makeStreamID() -> String

    /// Waits until this gateway has all values that any gateway had at the time of the call, for 2 seconds at most.
    /// Returns at once without contact to the others.
    func catchUp() async

    // MARK: Admission

    /// Decides on one request of a name whose rate is limited.
    func take(_ name: String, rate: Double, burst: Double) -> TokenBucket.Decision

    /// Performs the part of a request that begins to use resources, once they are within the limits; again if the pool had
    /// no credits for them.
    ///
    /// - Throws: The limit, the error of `perform`, or the response of another gateway, which has performed the request.
    func admit<Result>(_ use: ResourceUse, for call: Call, _ perform: () async throws -> Result) async throws -> Result

    var tickets: any Tickets { get }

    // MARK: Changes

    /// A request, or a stream, has changed a resource of this gateway.
    func made(_ change: ResourceChange)

    var publisher: any PoolSink { get }

    // MARK: Shared subscriptions

    /// Joins the shared subscription with these properties. Each call needs one call of `leave`.
    ///
    /// - Throws: The error of the pool. Nothing is joined then.
    func join(_ key: SharedKey, in pool: SessionPool) throws(PoolError) -> JoinedSubscription

    /// Has a shared subscription that the server has refused or ended subscribed to again, as another `join` does. A
    /// subscription that has no room stays as it is.
    func renew(_ subscription: JoinedSubscription, in pool: SessionPool)

    func leave(_ subscription: JoinedSubscription, in pool: SessionPool)

    /// The wait of a stream with these shared subscriptions; nil if the stream begins at once. Otherwise it is admitted as
    /// one that waits, and the result, which is called with its id then, has the hub begin or close it later.
    func wait(of request: StreamRequest, topics: Set<String>) -> (@Sendable (_ stream: String) -> Void)?

    // MARK: Figures

    /// The use of each caller's limits on all gateways together; empty for a gateway that runs alone. The streams of a
    /// caller without a limit of streams are not counted together.
    var uses: [String: CallerUse] { get }

    /// The ids of the subscriptions that callers use on any gateway, by identity; empty for a gateway that runs alone.
    var held: [String: Set<String>] { get }

    /// The present figures; nil for a gateway that runs alone.
    var figures: (any CoordinationFigures)? { get }

    // MARK: Life

    /// Sets the pool of the gateway; called once, before `run`.
    func attach(_ pool: SessionPool)

    /// Sets the host of the gateway; called once, before `run`.
    func attach(_ host: HTTPHost)

    /// Coordinates until cancelled.
    func run() async

    /// Hands over what this gateway has; returns when others have it, or after `time`.
    func leave(within time: Duration) async

    func reload(_ configuration: GatewayConfiguration)
}

/// The resources that a gateway serves at a moment.
package enum Contact: Sendable {
    case all
    /// Shared subscriptions of its own streams only.
    case ownStreams
    case none
}

/// The figures of a coordination, for operators.
package protocol CoordinationFigures: Sendable {
    func write(to text: inout MetricsText)

    /// Writes the member of the response to `GET /health`.
    func write(to json: inout JSONBytes)
}

extension PoolSink {
    /// The value of a connection property as REST shows it.
    package func shownValue(of property: String, on client: PooledClient) -> JSONValue? {
        ClientPropertyValue.json(property, of: client)
    }

    /// Why a client has no connection.
    package func lastFailure(of client: PooledClient) -> LastFailure? { TroubleText.lastFailure(of: client) }
}

extension Problem {
    /// This gateway has no contact to the other gateways, which have to decide about a request.
    package static let notInContact = Problem(.unavailable, detail: "The gateway is not connected to its cluster.")
    /// Another gateway has taken over the resource that a request waited for.
    static let moved = Problem(.unavailable, detail: "Another gateway of the cluster has taken over the resource.")
}

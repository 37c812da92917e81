public import SessionCore
internal import Synchronization
public import TLCPTransports

/// A client of one Lightstreamer server: opens a session, maintains it, and carries subscriptions and messages.
///
/// A client may be used from any thread, and inside delegate methods. All events of a client are delivered one at a time on
/// a task of its own. Releasing the last reference disconnects the client; `shutdown()` does the same and waits.
public final class LightstreamerClient: Sendable {
    /// The status of the connection.
    public typealias Status = ClientStatus

    /// The name of the library.
    public static let libName = "swift_server_client"
    /// The version of the library.
    public static let libVersion = "1.3.0"

    private static let exceptionsAreLimited = Atomic(false)

    /// Whether value getters return nil (or false) instead of throwing for unknown names, positions out of bounds or
    /// another mode than COMMAND. For all clients of the process; default false. Setters are not affected.
    public static var limitExceptionsUse: Bool {
        get { exceptionsAreLimited.load(ordering: .relaxed) }
        set { exceptionsAreLimited.store(newValue, ordering: .relaxed) }
    }

    /// Address, adapter set, credentials, and the session properties sent by the server.
    public let connectionDetails: ConnectionDetails
    /// Timeouts, intervals, transports and limits.
    public let connectionOptions: ConnectionOptions

    let core: ClientCore
    /// Ends when the client is shut down.
    let driving: Task<Void, Never>

    /// A disconnected client. Throws `invalidValue` or `addressNotAllowed` for a bad address, `invalidTLS` for TLS
    /// settings that cannot be used.
    public init(
        serverAddress: String? = nil,
        adapterSet: String? = nil,
        configuration: ClientConfiguration = ClientConfiguration()
    ) throws(ClientError) {
        let core = ClientCore(configuration: configuration)
        try core.check(address: serverAddress)
        core.updateDetails {
            $0.serverAddress = serverAddress
            $0.adapterSet = adapterSet
        }
        let connector = try ConnectionHooks(core: core).makeConnector()
        self.core = core
        connectionDetails = ConnectionDetails(core: core)
        connectionOptions = ConnectionOptions(core: core)
        // The driver must not keep its client alive: it holds the core, which refers to the client weakly.
        driving = Task(executorPreference: configuration.taskExecutor) {
            await SessionDriver(core: core, connector: connector).run()
        }
        core.state.withLock { $0.client = self }
    }

    deinit { core.beginShutdown() }

    /// Disconnects, aborts messages that wait for a session, delivers pending events, closes every connection, and returns
    /// when all of that is done. The client cannot be used afterwards. Must not be awaited inside a delegate method.
    public func shutdown() async {
        core.beginShutdown()
        await driving.value
    }

    // MARK: - Connecting

    /// The status of the connection. It may not yet reflect a `connect()` or `disconnect()`; it always reflects the
    /// last event.
    public var status: ClientStatus { core.state.withLock { $0.status } }

    /// Why the last connection failed, or would fail if it ended now; nil before the first one.
    package var lastFailure: FailureKind? { core.state.withLock { $0.attempt.failure } }

    /// The HTTP status of the last failure; nil: the failure has none.
    package var lastHTTPStatus: Int? { core.state.withLock { $0.attempt.httpStatus } }

    /// The error of the server, if the last failure was one, known before the status after the failure; nil: another failure,
    /// or a call has disconnected the client.
    package var lastRefusal: UpstreamRefusal? { core.state.withLock { $0.attempt.refusal } }

    /// The server address that the present or last session, or the last attempt to create one, was requested from.
    package var attemptAddress: String? { core.state.withLock { $0.attemptAddress } }

    /// The control link of the server, if the last connection went there; nil: the last connection went to `attemptAddress`.
    package var attemptedControlLink: String? { core.state.withLock { $0.attempt.controlLink } }

    /// The pause from the status `DISCONNECTED:WILL-RETRY` or `DISCONNECTED:TRYING-RECOVERY`, or from a failed attempt to
    /// recover the session, to the next attempt, when that was reported; nil before the first one.
    package var attemptPause: Duration? { core.state.withLock { $0.attempt.pause } }

    /// The edition of the class reference that the client was configured with.
    public var edition: ClientConfiguration.Edition { core.configuration.edition }

    /// Totals since the client was created.
    public var counters: ClientCounters {
        var counters = core.state.withLock { $0.counters }
        counters.updates = core.updates.load(ordering: .relaxed)
        counters.bytesReceived = core.bytesReceived.load(ordering: .relaxed)
        counters.linesReceived = core.linesReceived.load(ordering: .relaxed)
        return counters
    }

    /// Opens a session and maintains it until `disconnect()` or a refusal by the server. In
    /// `DISCONNECTED:WILL-RETRY` and `DISCONNECTED:TRYING-RECOVERY` it ends a pause between attempts and tries at
    /// once, or 0.1 s after the start of the last attempt; while an attempt is under way or a session is bound it does
    /// nothing. Throws `noServerAddress`, `tooManySessions` where the policy is `BLOCK`, and `shutDown`.
    public func connect() throws(ClientError) { try core.connect() }

    /// Ends the session. Active subscriptions stay active, and are subscribed to again by the next session.
    public func disconnect() { core.disconnect() }

    /// The work of the client's task: a number that grows with each step, and nil while nothing waits for it.
    package var waitingWork: UInt64? { core.mailbox.isWaiting ? core.rounds.load(ordering: .relaxed) : nil }

    // MARK: - Subscriptions

    /// The active subscriptions, in the order in which they were subscribed to.
    public var subscriptions: [Subscription] {
        core.state.withLock { $0.subscriptions }.sorted { $0.key.rawValue < $1.key.rawValue }.map(\.value)
    }

    /// Makes a subscription active: it is sent to the server now, or as soon as there is a session. Throws `lifecycle`
    /// if it is active already or lacks items or fields, `shutDown` after `shutdown()`.
    public func subscribe(_ subscription: Subscription) throws(ClientError) { try core.subscribe(subscription) }

    /// Makes a subscription active, with a further receiver of its events, which is held strongly. Throws as `subscribe(_:)`.
    package func subscribe(_ subscription: Subscription, observer: any SubscriptionObserver) throws(ClientError) {
        try core.subscribe(subscription, observer: observer)
    }

    /// Makes a subscription inactive; its values are cleared at once, `subscriptionDidUnsubscribe` follows. Does
    /// nothing for an inactive one. Throws `lifecycle` if it is active on another client.
    public func unsubscribe(_ subscription: Subscription) throws(ClientError) { try core.unsubscribe(subscription) }

    // MARK: - Messages

    /// Sends a message to the server's Metadata Adapter.
    ///
    /// - Parameters:
    ///   - text: the message.
    ///   - sequence: messages of one sequence are processed in order; ASCII letters, digits and underscores. Nil, or
    ///     `UNORDERED_MESSAGES`: none. A message of a further sequence is aborted if the session has 100,000.
    ///   - delayTimeout: how many seconds the server may wait for missing earlier messages of the sequence; nil or
    ///     negative: the server decides.
    ///   - delegate: receives the outcome; nil: the outcome is not requested.
    ///   - enqueueWhileDisconnected: whether the message waits for a session if there is none; otherwise it is aborted.
    /// - Throws: `invalidValue` for a bad sequence name or timeout, `overloaded`, `shutDown`.
    /// - Returns: the token of the `ClientEvent.message` with the outcome.
    @discardableResult
    public func sendMessage(
        _ text: String,
        withSequence sequence: String? = nil,
        timeout delayTimeout: Double? = nil,
        delegate: (any ClientMessageDelegate)? = nil,
        enqueueWhileDisconnected: Bool = false
    ) throws(ClientError) -> MessageToken {
        try sendMessage(
            text,
            withSequence: sequence,
            timeout: delayTimeout,
            delegate: delegate,
            wantsOutcome: delegate != nil,
            enqueueWhileDisconnected: enqueueWhileDisconnected
        )
    }

    /// As above; with `wantsOutcome` the outcome is requested even without a delegate, for event sequences.
    @discardableResult
    public func sendMessage(
        _ text: String,
        withSequence sequence: String?,
        timeout delayTimeout: Double?,
        delegate: (any ClientMessageDelegate)?,
        wantsOutcome: Bool,
        enqueueWhileDisconnected: Bool
    ) throws(ClientError) -> MessageToken {
        var onOutcome: MessageOutcomeHandler?
        if let delegate {
            onOutcome = { client, outcome in
                if let outcome { delegate.receive(outcome, of: text, client: client) }
            }
        }
        return try core.sendMessage(
            text,
            sequence: sequence,
            delayTimeout: delayTimeout,
            enqueueWhileDisconnected: enqueueWhileDisconnected,
            wantsOutcome: wantsOutcome || delegate != nil,
            onOutcome: onOutcome
        )
    }

    /// As above, with a closure that is called once; nil: the outcome is not requested. A message that the server reports as
    /// a duplicate is `aborted` unless the outcome of the copy that the server has arrives.
    ///
    /// - Parameters:
    ///   - sender: The sender, where several use the client: each sender has a share of the sequences. Nil: there is one sender.
    ///   - retained: Is kept until the message is finished.
    @discardableResult
    package func sendMessage(
        _ text: String,
        withSequence sequence: String?,
        timeout delayTimeout: Double?,
        enqueueWhileDisconnected: Bool,
        from sender: String? = nil,
        retaining retained: (any Sendable)? = nil,
        onOutcome: (@Sendable (MessageOutcome) -> Void)?
    ) throws(ClientError) -> MessageToken {
        var handler: MessageOutcomeHandler?
        if let onOutcome { handler = { _, outcome in onOutcome(outcome ?? .aborted(sentOnNetwork: true)) } }
        return try core.sendMessage(
            text,
            sequence: sequence,
            delayTimeout: delayTimeout,
            enqueueWhileDisconnected: enqueueWhileDisconnected,
            wantsOutcome: onOutcome != nil,
            from: sender,
            retaining: retained,
            onOutcome: handler
        )
    }

    // MARK: - Cookies

    /// The cookies sent with requests and handshakes of this client, and set by servers.
    public var cookieJar: CookieJar { core.cookieJar }

    /// Adds cookies; they are sent from the next request on, to servers whose domain they match.
    public func addCookies(_ cookies: [Cookie]) { core.cookieJar.add(cookies) }

    /// The cookies that would be sent to an `http` or `https` URL; nil: all that have not expired. Empty for another
    /// URL.
    public func cookies(forURL url: String?) -> [Cookie] {
        guard let url else { return core.cookieJar.all }
        return CookieOrigin(url: url).map(core.cookieJar.cookies(for:)) ?? []
    }

    // MARK: - Handing a session over; only with `ClientConfiguration.handover`

    /// The present session as another client can continue it after the present event; nil without a session. Only for
    /// observers.
    package var offeredSession: OfferedSession? {
        let details = connectionDetails
        guard let session = details.sessionId, let server = details.serverAddress else { return nil }
        let address = details.serverInstanceAddress ?? server
        return OfferedSession(id: session, address: address, processed: notificationNumber)
    }

    /// The number of the data notification that the present event comes from, 0 for the first events of a session. Only for
    /// observers.
    package var notificationNumber: Int { core.notificationNumber.load(ordering: .relaxed) }

    /// Whether other clients know the present session, so that they can adopt it.
    package var isSessionOffered: Bool {
        get { core.isSessionOffered.load(ordering: .relaxed) }
        set { core.isSessionOffered.store(newValue, ordering: .relaxed) }
    }

    /// Continues a session that another client has opened, with these inactive subscriptions, their `LS_subId`, and the
    /// values that they have after the processed data notifications. The server repeats all later notifications. If it
    /// refuses, the subscriptions are unsubscribed, and a new session follows. For a client that was never connected.
    package func adopt(_ session: OfferedSession, _ subscriptions: [(Subscription, number: Int, table: ValueTable)]) {
        core.adopt(session, subscriptions)
    }

    /// Leaves the session to another client: closes the connections, and sends nothing to the server.
    package func abandon() { core.send(.abandon) }
}

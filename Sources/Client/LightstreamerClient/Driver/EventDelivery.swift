internal import SessionCore
internal import Synchronization

/// Passes the events of a client to its observers, one at a time, on the driver's task; before each event it updates
/// the state that getters read. Used by that task alone.
final class EventDelivery {
    private let core: ClientCore
    /// The observers in order of addition: adapters of delegates and legacy listeners, event sequences, package
    /// observers.
    private var observers: [any ClientObserver] = [] {
        didSet {
            subscriptionObservers = observers.filter(\.observesSubscriptions)
            bytesInterval = observers.map(\.bytesInterval).min() ?? .zero
            bytesReportDue = .zero
        }
    }
    /// The observers that receive the events of subscriptions as well.
    private var subscriptionObservers: [any ClientObserver] = []
    private var subscriptions: [SubscriptionToken: Subscription] = [:]
    /// The subscription of the last event, to which the next one usually belongs; nil once a subscription has ended.
    private var recent: (token: SubscriptionToken, subscription: Subscription)?
    private var messages: [MessageToken: OutgoingMessage] = [:]
    /// The bytes that no event has reported yet.
    private var unreportedBytes = 0
    /// The least time between two events that report bytes, except before a status.
    private var bytesInterval = Duration.zero
    private var bytesReportDue = Moment.zero
    /// The time of the input that is being handled.
    var now = Moment.zero
    private var retainedClient: LightstreamerClient?

    init(core: ClientCore) { self.core = core }

    /// The client; nil once it is released. It is retained from its first use in an input until the end of the input.
    private var client: LightstreamerClient? {
        if retainedClient == nil { retainedClient = core.state.withLock { $0.client } }
        return retainedClient
    }

    func endInput() { retainedClient = nil }

    // MARK: - Observers

    func add(_ observer: any ClientObserver) { observers.append(observer) }

    func remove(_ observer: any ClientObserver) { remove { $0 === observer } }

    func remove(where isRemoved: (any ClientObserver) -> Bool) { observers.removeAll(where: isRemoved) }

    // MARK: - Tokens

    func began(_ subscription: Subscription, _ token: SubscriptionToken) {
        subscriptions[token] = subscription
        // Those that miss the end of the former activity, which another client has not delivered yet.
        let observers: [any SubscriptionObserver] = subscription.state.withLock { state in
            if let begun = state.begun, begun.rawValue > token.rawValue { return [] }
            state.begun = token
            guard let announced = state.announced, announced != token else { return [] }
            state.announced = nil
            return state.observers
        }
        for observer in observers { observer.subscription(subscription, emitted: .unsubscribed(isFinal: false)) }
    }

    /// The application has unsubscribed.
    func ended(_ token: SubscriptionToken) {
        guard let subscription = subscriptions.removeValue(forKey: token) else { return }
        recent = nil
        for observer in subscription.observersIfEnded(token) {
            observer.subscription(subscription, stopped: .unsubscribed)
        }
    }

    /// Tells the subscriptions why no further events follow, except those that the application has moved to another client.
    private func stop(_ cause: SubscriptionStop) {
        for subscription in subscriptions.values where subscription.state.withLock({ $0.core === core }) {
            for observer in subscription.observers { observer.subscription(subscription, stopped: cause) }
        }
    }

    func began(_ message: OutgoingMessage) { messages[message.pending.token] = message }

    /// Removes a finished message, which no longer counts against the limits.
    private func removeMessage(_ token: MessageToken) -> OutgoingMessage? {
        guard let message = messages.removeValue(forKey: token) else { return nil }
        core.state.withLock { $0.messages.remove(message.pending.text) }
        return message
    }

    // MARK: - Events

    func deliver(_ event: SessionEvent) {
        switch event {
        case .statusChanged(let status): changeStatus(status)
        case .serverError(let code, let message):
            core.state.withLock { $0.counters.serverErrors &+= 1 }
            emit(.serverError(code: code, message: message))
            stop(.sessionRefused(SessionRefused(code: code, message: message)))
        case .propertyChanged(let change): changeProperty(change)
        case .subscription(let token, let event): deliver(event, of: token)
        case .message(let token, let outcome): deliver(outcome, of: token)
        case .messageReleased(let token):
            if let message = removeMessage(token), let client { message.onOutcome?(client, nil) }
        case .legacy(let event):
            if case .connectionFailed = event { core.state.withLock { $0.counters.connectionFailures &+= 1 } }
            emit(.legacy(event))
            if event == .closed { stop(core.closure) }
        }
    }

    /// Emits a change of a property by the user; the state holds the new value already.
    func notifyProperty(_ name: String) { emit(.property(name)) }

    func received(byteCount: Int, lineCount: Int) {
        core.bytesReceived.wrappingAdd(UInt64(clamping: byteCount), ordering: .relaxed)
        core.linesReceived.wrappingAdd(UInt64(clamping: lineCount), ordering: .relaxed)
        unreportedBytes += byteCount
        if now >= bytesReportDue { reportBytes() }
    }

    private func reportBytes() {
        if unreportedBytes > 0 { emit(.bytesReceived(unreportedBytes)) }
        unreportedBytes = 0
        bytesReportDue = now + bytesInterval
    }

    /// Ends the client's subscriptions, performs the calls that had to wait for that, and removes all observers.
    func finish() {
        leaveCensus()
        for (token, subscription) in subscriptions {
            for observer in subscription.abandon(token) { observer.subscription(subscription, stopped: .shutDown) }
        }
        core.state.withLock { $0.subscriptions = [:] }
        (subscriptions, recent) = ([:], nil)
        while let calls = core.takeLastCalls() {
            for call in calls { call(self) }
        }
        observers = []
    }

    // MARK: - Session

    private func changeStatus(_ status: ClientStatus) {
        reportBytes()
        let address = core.state.withLock { state in
            // A client without a session that tries a recovery continues the session of another one.
            let isAdopting = state.status == .disconnected && status == .disconnectedTryingRecovery
            state.status = status
            // The session ends here: between this status and the property events, its getters already return nil.
            if status == .disconnected || status == .disconnectedWillRetry { state.session = ServerProperties() }
            if status == .disconnectedWillRetry || status == .disconnectedTryingRecovery, !isAdopting {
                state.counters.reconnects &+= 1
            }
            return state.attemptAddress
        }
        switch status {
        case .connectedHTTPStreaming: enterCensus(address)
        case .stalled: break
        default: leaveCensus()
        }
        emit(.status(status))
    }

    private func enterCensus(_ address: String?) {
        guard let server = address.flatMap({ ServerAddress($0) }) else { return }
        SessionCensus.shared.opened(server: server.censusKey, client: ObjectIdentifier(core))
    }

    private func leaveCensus() { SessionCensus.shared.closed(client: ObjectIdentifier(core)) }

    private func changeProperty(_ change: PropertyChange) {
        core.state.withLock { $0.take(change) }
        emit(.property(change.name))
    }

    // MARK: - Subscriptions and messages

    func deliver(_ event: SubscriptionEvent, of token: SubscriptionToken) {
        guard let subscription = subscription(of: token) else { return }
        let ownObservers: [any SubscriptionObserver]
        switch event {
        case .failed, .unsubscribed(isFinal: true):
            ownObservers = core.apply(ending: event, of: token, to: subscription, at: now)
            (subscriptions[token], recent) = (nil, nil)
        default:
            ownObservers = subscription.take(event, of: token, at: now).observers
            if case .update = event { core.updates.wrappingAdd(1, ordering: .relaxed) }
        }
        if !subscriptionObservers.isEmpty { emit(.subscription(subscription, event), to: subscriptionObservers) }
        for observer in ownObservers { observer.subscription(subscription, emitted: event) }
    }

    private func subscription(of token: SubscriptionToken) -> Subscription? {
        if let recent, recent.token == token { return recent.subscription }
        guard let found = subscriptions[token] else { return nil }
        recent = (token, found)
        return found
    }

    private func deliver(_ outcome: MessageOutcome, of token: MessageToken) {
        guard let message = removeMessage(token) else { return }
        emit(.message(token, text: message.pending.text, outcome))
        if let client, let onOutcome = message.onOutcome { onOutcome(client, outcome) }
    }

    private func emit(_ event: ClientEvent) { emit(event, to: observers) }

    private func emit(_ event: ClientEvent, to observers: [any ClientObserver]) {
        guard !observers.isEmpty, let client else { return }
        for observer in observers { observer.client(client, emitted: event) }
    }
}

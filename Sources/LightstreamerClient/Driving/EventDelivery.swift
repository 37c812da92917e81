internal import SessionCore
internal import Synchronization

/// Brings events to observers and delegates, one after the other, on the driver's task; before each the state that
/// getters read is made to agree with it. Used by that task alone.
final class EventDelivery {
    private let core: ClientCore
    private var delegates: [any ClientDelegate] = []
    private var observers: [any ClientObserver] = []
    private var legacyAdapters: [LegacyAdapter] = []
    private var subscriptions: [SubscriptionToken: Subscription] = [:]
    private var messages: [MessageToken: OutgoingMessage] = [:]
    private var censusKey: String?
    /// The time of the input that is being handled.
    var now = Moment.zero

    init(core: ClientCore) { self.core = core }

    private var client: LightstreamerClient? { core.state.withLock { $0.client } }

    // MARK: - Listeners

    func add(_ delegate: any ClientDelegate) {
        delegates.append(delegate)
        if let client { delegate.clientDidAddDelegate(client) }
    }

    func remove(_ delegate: any ClientDelegate) {
        if let client { delegate.clientDidRemoveDelegate(client) }
        delegates.removeAll { $0 === delegate }
    }

    func add(_ observer: any ClientObserver) { observers.append(observer) }

    func remove(_ observer: any ClientObserver) { observers.removeAll { $0 === observer } }

    func add(_ listener: any LegacyConnectionListener) { legacyAdapters.append(LegacyAdapter(listener: listener)) }

    func remove(_ listener: any LegacyConnectionListener) { legacyAdapters.removeAll { $0.serves(listener) } }

    // MARK: - What tokens stand for

    func began(_ subscription: Subscription, _ token: SubscriptionToken) { subscriptions[token] = subscription }

    func ended(_ token: SubscriptionToken) { subscriptions[token] = nil }

    func began(_ message: OutgoingMessage) {
        if message.wantsOutcome { messages[message.token] = message } else { releaseMessage() }
    }

    private func releaseMessage() { core.state.withLock { $0.pendingMessages -= 1 } }

    // MARK: - Events

    /// Delivers an event of the session's machine.
    func deliver(_ event: SessionEvent) {
        switch event {
        case .statusChanged(let status): changeStatus(status)
        case .serverError(let code, let message): emit(.serverError(code: code, message: message))
        case .propertyChanged(let change): changeProperty(change)
        case .subscription(let token, let event): deliver(event, of: token)
        case .message(let token, let outcome): deliver(outcome, of: token)
        case .legacy(let event):
            if case .connectionFailed = event { core.state.withLock { $0.counters.connectionFailures &+= 1 } }
            emit(.legacy(event))
        }
    }

    /// Tells that the user changed a property; the state holds it already.
    func notifyProperty(_ name: String) { emit(.property(name)) }

    /// Counts and tells what came from the network.
    func received(byteCount: Int, lineCount: Int) {
        core.state.withLock { state in
            state.counters.bytesReceived &+= UInt64(clamping: byteCount)
            state.counters.linesReceived &+= UInt64(clamping: lineCount)
        }
        emit(.bytesReceived(byteCount))
    }

    /// The client has ended: whatever is still active is no more.
    func finish() {
        leaveCensus()
        for (token, subscription) in subscriptions { subscription.abandon(token) }
        core.state.withLock { $0.subscriptions = [] }
        subscriptions = [:]
        delegates = []
        observers = []
        legacyAdapters = []
    }

    // MARK: - Session

    private func changeStatus(_ status: ClientStatus) {
        let address = core.state.withLock { state in
            state.status = status
            return state.details.serverAddress
        }
        switch status {
        case .connectedHTTPStreaming: enterCensus(address)
        case .stalled: break
        default: leaveCensus()
        }
        emit(.status(status))
    }

    private func enterCensus(_ address: String?) {
        guard censusKey == nil, let server = address.flatMap({ ServerAddress($0) }) else { return }
        censusKey = server.censusKey
        SessionCensus.shared.opened(server: server.censusKey)
    }

    private func leaveCensus() {
        if let censusKey { SessionCensus.shared.closed(server: censusKey) }
        censusKey = nil
    }

    private func changeProperty(_ change: PropertyChange) {
        core.state.withLock { $0.take(change) }
        emit(.property(change.name))
    }

    // MARK: - Subscriptions and messages

    private func deliver(_ event: SubscriptionEvent, of token: SubscriptionToken) {
        guard let subscription = subscriptions[token] else { return }
        if subscription.take(event, of: token, at: now) { core.forget(subscription) }
        switch event {
        case .failed, .unsubscribed(isFinal: true): subscriptions[token] = nil
        case .update: core.state.withLock { $0.counters.updates &+= 1 }
        default: break
        }
        emit(.subscription(subscription, event))
        subscription.deliver(event)
    }

    private func deliver(_ outcome: MessageOutcome, of token: MessageToken) {
        guard let message = messages.removeValue(forKey: token) else { return }
        releaseMessage()
        emit(.message(token, text: message.text, outcome))
        if let client, let delegate = message.delegate { delegate.receive(outcome, of: message.text, client: client) }
    }

    private func emit(_ event: ClientEvent) {
        guard !(observers.isEmpty && delegates.isEmpty && legacyAdapters.isEmpty), let client else { return }
        for observer in observers { observer.client(client, emitted: event) }
        for adapter in legacyAdapters { adapter.take(event, of: client) }
        switch event {
        case .status(let status): delegates.forEach { $0.client(client, didChangeStatus: status) }
        case .serverError(let code, let message):
            delegates.forEach { $0.client(client, didReceiveServerError: code, withMessage: message) }
        case .property(let name): delegates.forEach { $0.client(client, didChangeProperty: name) }
        case .subscription, .message, .legacy, .bytesReceived: break
        }
    }
}

extension ClientMessageDelegate {
    func receive(_ outcome: MessageOutcome, of text: String, client: LightstreamerClient) {
        switch outcome {
        case .processed(let response): self.client(client, didProcessMessage: text, withResponse: response)
        case .denied(let code, let message): self.client(client, didDenyMessage: text, withCode: code, error: message)
        case .discarded: self.client(client, didDiscardMessage: text)
        case .failed: self.client(client, didFailMessage: text)
        case .aborted(let sent): self.client(client, didAbortMessage: text, sentOnNetwork: sent)
        }
    }
}

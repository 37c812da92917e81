internal import SessionCore

/// Checks every event of a client against the class reference.
struct EventChecker {
    /// The violations, in order.
    var violations: [String] = []
    /// All statuses so far.
    private(set) var statuses: [ClientStatus] = []
    /// All status changes so far.
    var changes: Set<StatusRules.Change> {
        Set(zip([.disconnected] + statuses, statuses).map { StatusRules.Change(from: $0, to: $1) })
    }
    /// Errors of the server that ended a session for good.
    private(set) var serverErrors: [Int] = []
    /// The outcome of each message; nil: none yet.
    private(set) var messages: [MessageToken: MessageOutcome?] = [:]

    private var rules = StatusRules()
    private var subscriptions: [SubscriptionToken: CheckedSubscription] = [:]
    private var order: [SubscriptionToken] = []
    private var lastToken: UInt64 = 0

    /// The subscriptions that the user has not ended, in their order.
    var activeSubscriptions: [(SubscriptionToken, SubscriptionProperties)] {
        order.compactMap { token in
            subscriptions[token].flatMap { $0.isActive ? (token, $0.table.properties) : nil }
        }
    }

    /// How often the server has accepted each subscription.
    var cycles: [Int] { order.compactMap { subscriptions[$0]?.cycles } }

    /// The mirrors of the subscriptions that the user has not ended.
    var tables: [ValueTable] { activeSubscriptions.compactMap { subscriptions[$0.0]?.table } }

    mutating func expect(_ properties: SubscriptionProperties) -> SubscriptionToken {
        lastToken += 1
        let token = SubscriptionToken(lastToken)
        subscriptions[token] = CheckedSubscription(properties)
        order.append(token)
        return token
    }

    /// The user ends a subscription: one more event may come.
    mutating func ended(_ token: SubscriptionToken) { subscriptions[token]?.isActive = false }

    mutating func expectMessage() -> MessageToken {
        lastToken += 1
        messages[MessageToken(lastToken)] = .some(nil)
        return MessageToken(lastToken)
    }

    mutating func saw(_ event: SessionEvent) {
        switch event {
        case .statusChanged(let status):
            if !rules.allows(status) {
                violations.append("status \(status.rawValue) after \(statuses.last?.rawValue ?? "none")")
            }
            statuses.append(status)
        case .serverError(let code, let message):
            if statuses.last != .disconnected { violations.append("server error before DISCONNECTED") }
            serverErrors.append(code)
            violations.append("server error \(code): \(message)")
        case .subscription(let token, let event):
            guard subscriptions[token] != nil else { return violations.append("event of an unknown subscription") }
            if let violation = subscriptions[token]?.saw(event) { violations.append(violation) }
        case .message(let token, let outcome):
            if let known = messages[token] {
                if known != nil { violations.append("a second outcome: \(outcome)") }
            } else {
                violations.append("outcome of an unknown message")
            }
            messages[token] = .some(outcome)
        case .messageReleased(let token):
            if let known = messages[token], known != nil { violations.append("release of a message with an outcome") }
            messages[token] = nil
        case .propertyChanged, .legacy: break
        }
    }
}

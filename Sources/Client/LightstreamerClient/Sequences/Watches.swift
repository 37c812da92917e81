internal import Primitives
internal import SessionCore

/// Waits for a session of a client.
final class ConnectionWatch: ClientObserver, Sendable {
    let wait = Awaited<Void>()

    func client(_ client: LightstreamerClient, emitted event: ClientEvent) {
        switch event {
        case .status(let status): if status.isConnected { wait.end(.success(())) }
        case .serverError(let code, let message):
            wait.end(.failure(SessionRefused(code: code, message: message)))
        case .legacy(.closed): wait.end(.failure(client.core.closure.error))
        case .subscription, .property, .message, .legacy, .bytesReceived: break
        }
    }
}

/// Waits for a state of a subscription, which is examined after each event.
final class SubscriptionWatch<Value: Sendable>: SubscriptionObserver {
    let wait = Awaited<Value>()
    private let find: @Sendable (Subscription) -> Value?

    /// Waits until `find` returns a value.
    init(_ find: @escaping @Sendable (Subscription) -> Value?) { self.find = find }

    func examine(_ subscription: Subscription) {
        if let value = find(subscription) { wait.end(.success(value)) }
    }

    func subscription(_ subscription: Subscription, emitted event: SubscriptionEvent) {
        if let refusal = SubscriptionRefused(event) { return wait.end(.failure(refusal)) }
        examine(subscription)
    }

    func subscription(_ subscription: Subscription, stopped cause: SubscriptionStop) {
        wait.end(.failure(cause.error))
    }
}

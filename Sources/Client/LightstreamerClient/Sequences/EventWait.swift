internal import Primitives
internal import SessionCore

/// A value that one task waits for and another provides, once.
final class EventWait<Value: Sendable>: Sendable {
    private struct State {
        var result: Result<Value, any Error>?
        var reader: CheckedContinuation<Value, any Error>?
    }

    private let state = RankedMutex(State())

    /// Provides the value or an error; later calls are ignored.
    func resolve(_ result: Result<Value, any Error>) {
        let reader = state.withLock { state in
            guard state.result == nil else { return nil as CheckedContinuation<Value, any Error>? }
            state.result = result
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(with: result)
    }

    /// Whether the value or an error was provided.
    var isOver: Bool { state.withLock { $0.result != nil } }

    /// Waits for the value; throws `CancellationError` in a cancelled task.
    func value() async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state in
                    if state.result == nil { state.reader = continuation }
                    return state.result
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            resolve(.failure(CancellationError()))
        }
    }
}

/// Waits for a session of a client.
final class ConnectionWatch: ClientObserver, Sendable {
    let wait = EventWait<Void>()

    func client(_ client: LightstreamerClient, emitted event: ClientEvent) {
        switch event {
        case .status(let status): if status.isConnected { wait.resolve(.success(())) }
        case .serverError(let code, let message):
            wait.resolve(.failure(SessionRefused(code: code, message: message)))
        case .legacy(.closed): wait.resolve(.failure(client.core.closure.error))
        case .subscription, .property, .message, .legacy, .bytesReceived: break
        }
    }
}

/// Waits for a state of a subscription, which is examined after each event.
final class SubscriptionWatch<Value: Sendable>: SubscriptionObserver {
    let wait = EventWait<Value>()
    private let find: @Sendable (Subscription) -> Value?

    /// Waits until `find` returns a value.
    init(_ find: @escaping @Sendable (Subscription) -> Value?) { self.find = find }

    func examine(_ subscription: Subscription) {
        if let value = find(subscription) { wait.resolve(.success(value)) }
    }

    func subscription(_ subscription: Subscription, emitted event: SubscriptionEvent) {
        if let refusal = SubscriptionRefused(event) { return wait.resolve(.failure(refusal)) }
        examine(subscription)
    }

    func subscription(_ subscription: Subscription, stopped cause: SubscriptionStop) {
        wait.resolve(.failure(cause.error))
    }
}

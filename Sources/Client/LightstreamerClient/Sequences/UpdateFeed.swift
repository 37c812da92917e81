internal import Primitives
internal import SessionCore

/// Passes the updates of a subscription to one reader. The client's task writes, the reader's task reads.
final class UpdateFeed: SubscriptionObserver {
    /// How the sequence ends after the buffered updates.
    private enum End {
        case finished
        case failed(any Error)
    }

    private struct State {
        var buffer: UpdateBuffer
        var end: End?
        var reader: CheckedContinuation<ItemUpdate?, any Error>?

        /// The next result for the reader; nil: wait.
        mutating func next() -> Result<ItemUpdate?, any Error>? {
            if let update = buffer.take() { return .success(update) }
            switch end {
            case nil: return nil
            case .finished: return .success(nil)
            case .failed(let error):
                end = .finished
                return .failure(error)
            }
        }
    }

    private let state: RankedMutex<State>
    /// Whether `disconnect()` ends the sequence.
    private let endsWithConnection: Bool

    init(_ buffering: UpdateBuffering, endsWithConnection: Bool) {
        state = RankedMutex(State(buffer: UpdateBuffer(buffering)))
        self.endsWithConnection = endsWithConnection
    }

    func subscription(_ subscription: Subscription, emitted event: SubscriptionEvent) {
        change { state in
            guard state.end == nil else { return }
            if let refusal = SubscriptionRefused(event) {
                state.end = .failed(refusal)
            } else if !state.buffer.put(event) {
                state.end = .failed(ClientError(.slowReader, rule: "The updates were read too slowly"))
            }
        }
    }

    func subscription(_ subscription: Subscription, stopped cause: SubscriptionStop) {
        switch cause {
        case .sessionRefused(let refusal): fail(refusal)
        case .shutDown: finish()
        case .unsubscribed, .disconnected: if endsWithConnection { finish() }
        }
    }

    /// Whether no further update will be put into the buffer.
    var isOver: Bool { state.withLock { $0.end != nil } }

    /// Ends the sequence after the buffered updates.
    func finish() { change { state in if state.end == nil { state.end = .finished } } }

    /// Ends the sequence with an error after the buffered updates.
    func fail(_ error: any Error) { change { state in if state.end == nil { state.end = .failed(error) } } }

    /// Drops the buffered updates and ends the sequence with `CancellationError`.
    func cancel() {
        change { state in
            state.buffer.removeAll()
            state.end = .failed(CancellationError())
        }
    }

    /// Changes the state, and resumes the reader if there is something for it.
    private func change(_ body: (inout State) -> Void) {
        let resumption = state.withLock { state in
            body(&state)
            guard let reader = state.reader, let result = state.next() else {
                return nil as (CheckedContinuation<ItemUpdate?, any Error>, Result<ItemUpdate?, any Error>)?
            }
            state.reader = nil
            return (reader, result)
        }
        if let (reader, result) = resumption { reader.resume(with: result) }
    }

    /// The next update; nil at the end. For one task at a time.
    func next(isolation: isolated (any Actor)?) async throws -> ItemUpdate? {
        if let result = state.withLock({ $0.next() }) { return try result.get() }
        return try await withCheckedThrowingContinuation(isolation: isolation) { continuation in
            let result: Result<ItemUpdate?, any Error>? = state.withLock { state in
                precondition(state.reader == nil, "two tasks read one iterator of updates")
                if let result = state.next() { return result }
                state.reader = continuation
                return nil
            }
            if let result { continuation.resume(with: result) }
        }
    }
}

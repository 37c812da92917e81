/// A value that one task waits for, and that any thread provides. The first result counts.
package final class Awaited<Value: Sendable>: Sendable {
    private struct State {
        var result: Result<Value, any Error>?
        var task: CheckedContinuation<Value, any Error>?
        var actions: [@Sendable () -> Void]
    }

    private let state: RankedMutex<State>

    package init() { state = RankedMutex(State(actions: [])) }

    /// The value. Cancellation of the task is an error.
    package var value: Value {
        get async throws {
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { task in
                    let result = state.withLock { state in
                        if state.result == nil { state.task = task }
                        return state.result
                    }
                    if let result { task.resume(with: result) }
                }
            } onCancel: {
                end(.failure(CancellationError()))
            }
        }
    }

    /// Whether there is a result.
    package var isOver: Bool { state.withLock { $0.result != nil } }

    /// Provides the value or an error, unless there is a result.
    package func end(_ result: Result<Value, any Error>) {
        let (task, actions) = state.withLock { state in
            defer { (state.task, state.actions) = (nil, []) }
            if state.result == nil { state.result = result }
            return (state.task, state.actions)
        }
        task?.resume(with: result)
        for action in actions { action() }
    }

    /// Runs an action once there is a result; at once if there is one.
    package func onEnd(_ action: @escaping @Sendable () -> Void) {
        let hasEnded = state.withLock { state in
            if state.result == nil { state.actions.append(action) }
            return state.result != nil
        }
        if hasEnded { action() }
    }
}

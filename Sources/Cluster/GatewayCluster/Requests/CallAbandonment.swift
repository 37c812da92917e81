internal import Gateway
internal import Synchronization

/// Whether the client of a request has left before the response, and the actions to run in that case.
final class CallAbandonment: Sendable {
    private struct State {
        var isAbandoned = false
        var actions: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())

    /// The client has not left.
    init() {}

    /// Whether the client has left.
    var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

    /// Runs an action when the client leaves; at once if it has left. The action must be quick.
    func add(_ action: @escaping @Sendable () -> Void) {
        let isAbandoned = state.withLock { state in
            if !state.isAbandoned { state.actions.append(action) }
            return state.isAbandoned
        }
        if isAbandoned { action() }
    }

    /// The client has left: runs the actions, once.
    func abandon() {
        let actions = state.withLock { state in
            defer { state = State(isAbandoned: true) }
            return state.actions
        }
        for action in actions { action() }
    }
}

internal import Synchronization

/// A queue with many writers and one reader, which takes all that waits at once.
///
/// It has no bound of its own, for nothing in it may be dropped; its writers have: transports stop reading when their
/// receive window is used up, messages are refused beyond `maxPendingMessages`, each timer and each connection has at
/// most one input waiting beside its lines, and the rest are calls of the user.
final class Mailbox<Element: Sendable>: Sendable {
    private struct State {
        var waiting: [Element] = []
        var reader: CheckedContinuation<[Element], Never>?
    }

    private let state = Mutex(State())

    /// Adds an element; wakes the reader if it waits.
    func put(_ element: Element) {
        let reader: CheckedContinuation<[Element], Never>? = state.withLock { state in
            guard let reader = state.reader else {
                state.waiting.append(element)
                return nil
            }
            state.reader = nil
            return reader
        }
        reader?.resume(returning: [element])
    }

    /// All that waits, in order; suspends while there is nothing. One reader only.
    func take() async -> [Element] {
        await withCheckedContinuation { continuation in
            let waiting: [Element]? = state.withLock { state in
                if state.waiting.isEmpty {
                    state.reader = continuation
                    return nil
                }
                defer { state.waiting = [] }
                return state.waiting
            }
            if let waiting { continuation.resume(returning: waiting) }
        }
    }
}

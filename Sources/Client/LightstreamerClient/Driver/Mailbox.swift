internal import Synchronization

/// A queue with many writers and one reader, which takes all waiting elements at once.
///
/// It has no bound of its own, since no element may be dropped. Its writers are bounded: transports stop reading when
/// their receive window is used up, messages are refused beyond `maxPendingMessages`, each timer and each connection
/// has at most one input waiting beside its lines; the rest are calls of the user.
final class Mailbox<Element: Sendable>: Sendable {
    private struct State {
        var waiting: [Element] = []
        var reader: CheckedContinuation<[Element], Never>?
    }

    private let state = Mutex(State())

    /// Adds an element and resumes a waiting reader.
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

    /// Whether elements wait for the reader.
    var isWaiting: Bool { state.withLock { !$0.waiting.isEmpty } }

    /// Takes all waiting elements in order; suspends while there are none. For one reader only.
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

internal import CMicroHTTPD
internal import Glibc
internal import Primitives
internal import Synchronization

/// The messages of other threads to a loop, in order, with an eventfd that wakes it if it sleeps. Valid as long as it
/// is referenced, so that a late call after the end of the loop has no effect.
final class LoopMailbox: Sendable {
    private enum Attention: UInt8, AtomicRepresentable {
        /// The loop runs and has seen all calls. *Entered* by `endWait`; *leaves to* `waiting`, `called`.
        case running
        /// The loop waits for events. *Entered* by `beginWait`; *leaves to* `called`, `running`.
        case waiting
        /// There is a call that the loop has not seen. *Entered* by `call`; *leaves to* `running`.
        case called
    }

    /// An eventfd in the loop's epoll set, watched for `raised` and never read.
    let descriptor: Int32
    private let messages = Mutex<[LoopMessage]?>([])
    private let attention = Atomic(Attention.running)
    private let isFeedDue = Atomic(false)

    init() throws(DaemonError) {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard descriptor >= 0 else { throw .systemRefused(SystemText.last()) }
    }

    deinit {
        Glibc.close(descriptor)
    }

    /// Adds a message; no effect after `close`, except that a stream that will not be opened is ended.
    func post(_ message: LoopMessage) {
        let isTaken = messages.withLock { messages in
            messages?.append(message)
            return messages != nil
        }
        if isTaken {
            call()
        } else {
            message.refuse()
        }
    }

    /// Makes the feed due.
    func wakeFeed() {
        if !isFeedDue.exchange(true, ordering: .acquiringAndReleasing) { call() }
    }

    /// Whether the loop waits and was not called.
    var isLoopWaiting: Bool { attention.load(ordering: .relaxed) == .waiting }

    /// Called by the loop before it waits; false if there is a call, so that it must not wait.
    func beginWait() -> Bool {
        attention.compareExchange(expected: .running, desired: .waiting, ordering: .acquiringAndReleasing).exchanged
    }

    /// Called by the loop after it waited; true if there was a call since the last time.
    func endWait() -> Bool {
        // An exchange and not a store: it synchronizes with the writes of the threads that called.
        attention.exchange(.running, ordering: .acquiringAndReleasing) == .called
    }

    /// The messages since the last call of this function.
    func take() -> [LoopMessage] {
        messages.withLock { messages in
            guard let present = messages, !present.isEmpty else { return [] }
            messages = []
            return present
        }
    }

    /// Whether the feed was made due since the last call.
    func takeFeed() -> Bool {
        isFeedDue.load(ordering: .relaxed) && isFeedDue.exchange(false, ordering: .acquiringAndReleasing)
    }

    /// Whether the feed is due and `takeFeed` has not returned it yet.
    var isFeedWaiting: Bool { isFeedDue.load(ordering: .acquiring) }

    /// Rejects all later messages, and those that were not taken.
    func close() {
        let left = messages.withLock { messages in
            defer { messages = nil }
            return messages ?? []
        }
        left.forEach { $0.refuse() }
    }

    /// Makes the loop take its messages and collect from its feed. Costs a system call only while the loop waits.
    private func call() {
        guard attention.exchange(.called, ordering: .acquiringAndReleasing) == .waiting else { return }
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }
}

extension LoopMessage {
    /// Completes the message without acting on it: the loop has ended.
    func refuse() {
        switch self {
        case .answer(_, let answer): answer.refuse()
        case .drain(_, let completion): completion(true)
        case .replaceCertificate(_, let completion): completion(.notRunning)
        case .stopAccepting, .close: break
        }
    }
}

/// A message of another thread to a loop.
enum LoopMessage: Sendable {
    /// The answer to a waiting exchange.
    case answer(UInt64, LateAnswer)
    /// Serve new connections with this certificate, and report the error, if any.
    case replaceCertificate(DaemonConfiguration.Certificate, completion: @Sendable (DaemonError?) -> Void)
    /// Stop listening.
    case stopAccepting
    /// Report when no request and no stream is open, or at the deadline.
    case drain(until: Moment, completion: @Sendable (Bool) -> Void)
    /// End all streams and servers, and the thread.
    case close
}

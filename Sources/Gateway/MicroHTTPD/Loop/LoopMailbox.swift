internal import CMicroHTTPD
internal import Glibc
internal import Primitives
internal import Synchronization

/// The messages of other threads to a loop, in order, with an eventfd that wakes it if it sleeps. Valid as long as it
/// is referenced, so that a late call after the end of the loop has no effect.
final class LoopMailbox: Sendable {
    /// The bits of `attention`; 0: the loop runs, and nothing is due.
    private enum Bit {
        /// The loop waits for events. Set by `beginWait`, removed by `endWait`.
        static let waiting: UInt8 = 1
        /// The feed is due. Set by `wakeFeed`, removed by `takeFeed`.
        static let feed: UInt8 = 2
        /// There are messages that the loop has not seen. Set by `post`, removed by `endWait`.
        static let messages: UInt8 = 4
    }

    /// An eventfd in the loop's epoll set, watched for `raised` and never read.
    let descriptor: Int32
    private let messages = Mutex<[LoopMessage]?>([])
    private let attention = Atomic<UInt8>(0)

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
            call(Bit.messages)
        } else {
            message.refuse()
        }
    }

    /// Makes the feed due.
    func wakeFeed() { call(Bit.feed) }

    /// Whether the loop waits, and neither its feed nor messages are due.
    var isLoopIdle: Bool { attention.load(ordering: .relaxed) == Bit.waiting }

    /// Called by the loop before it waits; false if there is something that it has not seen, so that it must not wait.
    ///
    /// - Parameter feedIsDue: Whether the loop has seen that the feed is due.
    func beginWait(feedIsDue: Bool) -> Bool {
        let seen = feedIsDue ? Bit.feed : 0
        return attention.compareExchange(
            expected: seen,
            desired: seen | Bit.waiting,
            ordering: .acquiringAndReleasing
        ).exchanged
    }

    /// Called by the loop after it waited; true if messages were posted since the last time.
    func endWait() -> Bool {
        // An exchange and not a store: it synchronizes with the writes of the threads that called.
        attention.bitwiseAnd(Bit.feed, ordering: .acquiringAndReleasing).oldValue & Bit.messages != 0
    }

    /// The messages since the last call of this function.
    func take() -> [LoopMessage] {
        messages.withLock { messages in
            guard let present = messages, !present.isEmpty else { return [] }
            messages = []
            return present
        }
    }

    /// The loop collects from its feed, which is no longer due.
    func takeFeed() { attention.bitwiseAnd(~Bit.feed, ordering: .acquiringAndReleasing) }

    /// Whether the feed is due.
    var isFeedDue: Bool { attention.load(ordering: .acquiring) & Bit.feed != 0 }

    /// Rejects all later messages, and those that were not taken.
    func close() {
        let left = messages.withLock { messages in
            defer { messages = nil }
            return messages ?? []
        }
        left.forEach { $0.refuse() }
    }

    /// Makes the loop take its messages or collect from its feed. Costs a system call only while the loop waits.
    private func call(_ bit: UInt8) {
        let former = attention.bitwiseOr(bit, ordering: .acquiringAndReleasing).oldValue
        guard former & Bit.waiting != 0, former & (bit | Bit.messages) == 0 else { return }
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

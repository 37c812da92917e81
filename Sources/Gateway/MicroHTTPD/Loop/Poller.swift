internal import CMicroHTTPD
internal import Glibc

/// An epoll set. Confined to its loop's thread.
final class Poller {
    /// The events to watch on a descriptor, or those that occurred.
    struct Events: OptionSet {
        var rawValue: UInt32
        static let readable = Events(rawValue: EPOLLIN.rawValue)
        static let writable = Events(rawValue: EPOLLOUT.rawValue)
        /// A connection can be accepted; of several loops that watch one socket only some are woken.
        static let connection = Events(rawValue: EPOLLIN.rawValue | 1 << 28)  // EPOLLEXCLUSIVE
        /// An eventfd was written, also while its former value was not read.
        static let raised = Events(rawValue: EPOLLIN.rawValue | 1 << 31)  // EPOLLET
        /// Bytes arrived, or can be written again, or the connection closed: each occurrence once.
        static let changes = Events(rawValue: EPOLLIN.rawValue | EPOLLOUT.rawValue | closed.rawValue | 1 << 31)
        /// The peer closed its side, or both, or the connection broke.
        static let closed = Events(rawValue: EPOLLRDHUP.rawValue | broken.rawValue)
        /// Both sides are closed, or the connection broke.
        static let broken = Events(rawValue: EPOLLHUP.rawValue | EPOLLERR.rawValue)
        /// As `closed`, but only once after each `add` or `change`.
        static let closedOnce = Events(rawValue: closed.rawValue | 1 << 30)  // EPOLLONESHOT
    }

    struct Occurrence {
        var token: UInt64
        var events: Events
    }

    private static let capacity = 512

    private let descriptor: Int32
    private let buffer = UnsafeMutablePointer<epoll_event>.allocate(capacity: Poller.capacity)
    private(set) var count = 0

    init() throws(DaemonError) {
        descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard descriptor >= 0 else { throw .systemRefused(SystemText.last()) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        buffer.deallocate()
    }

    /// Watches a descriptor; false if the system refuses.
    func add(_ other: Int32, token: UInt64, _ events: Events) -> Bool {
        control(EPOLL_CTL_ADD, other, token, events)
    }

    func change(_ other: Int32, token: UInt64, _ events: Events) {
        _ = control(EPOLL_CTL_MOD, other, token, events)
    }

    /// Stops watching. Occurrences that were already taken may still have its token.
    func remove(_ other: Int32) { epoll_ctl(descriptor, EPOLL_CTL_DEL, other, nil) }

    /// Waits for events, up to a time; afterwards there are `count` occurrences.
    ///
    /// - Parameter milliseconds: The longest wait; -1 for no limit.
    func wait(milliseconds: Int32) {
        count = Int(max(0, epoll_wait(descriptor, buffer, Int32(Self.capacity), milliseconds)))
    }

    /// Whether no occurrence has another token than this one.
    func has(onlyToken token: UInt64) -> Bool { count > 0 ? count == 1 ? buffer[0].data.u64 == token : false : true }

    /// One of the `count` occurrences.
    subscript(index: Int) -> Occurrence {
        Occurrence(token: buffer[index].data.u64, events: Events(rawValue: buffer[index].events))
    }

    private func control(_ operation: Int32, _ other: Int32, _ token: UInt64, _ events: Events) -> Bool {
        var event = epoll_event()
        event.events = events.rawValue
        event.data.u64 = token
        return epoll_ctl(descriptor, operation, other, &event) == 0
    }
}

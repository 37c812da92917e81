internal import MicroHTTPD
internal import Synchronization

/// A feed that names the streams whose contents were given something.
final class TestFeed: StreamFeed, Sendable {
    private let due = Mutex<[StreamID]>([])

    func add(_ id: StreamID) {
        due.withLock { $0.append(id) }
    }

    func wokenUp(_ ready: inout [StreamID], now: StreamTime) {
        ready += due.withLock { due in
            defer { due = [] }
            return due
        }
    }
}

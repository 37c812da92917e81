internal import MicroHTTPD
internal import Synchronization

/// A feed that names the streams whose contents were given something, and shares what the test wants to share.
final class TestFeed: StreamFeed, Sendable {
    private let due = Mutex<[StreamID]>([])
    private let shared = Mutex<[(bytes: SharedBytes, streams: [StreamID])]>([])

    func add(_ id: StreamID) {
        due.withLock { $0.append(id) }
    }

    func share(_ bytes: [UInt8], to streams: [StreamID]) {
        shared.withLock { $0.append((SharedBytes(bytes), streams)) }
    }

    func wokenUp(_ news: inout FeedNews, now: StreamTime) {
        news.ready += due.withLock { due in
            defer { due = [] }
            return due
        }
        let shared = shared.withLock { shared in
            defer { shared = [] }
            return shared
        }
        for (bytes, streams) in shared {
            var write = SharedWrite(streams: streams)
            write.append(bytes.bytes, owner: bytes)
            news.shared.append(write)
        }
    }
}

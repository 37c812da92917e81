internal import MicroHTTPD
internal import Primitives
internal import StreamIO
internal import Synchronization

/// A feed that reports the streams with new payloads, and the shared writes of the test.
final class TestFeed: StreamFeed, Sendable {
    private let loop: StreamLoop
    private let due = Mutex<[StreamID]>([])
    private let shared = Mutex<[SharedWrite]>([])

    init(_ loop: StreamLoop) { self.loop = loop }

    func wake() { loop.wake() }

    func add(_ id: StreamID) {
        due.withLock { $0.append(id) }
    }

    func share(_ bytes: [UInt8], to streams: [StreamID]) {
        shared.withLock { shared in
            let bytes = SharedBytes(bytes)
            let piece = StreamPiece(owner: bytes, bytes: bytes.bytes)
            shared.append(SharedWrite(streams: streams, pieces: [piece]))
        }
    }

    func open(_ opening: StreamOpening) -> any StreamContent {
        TestContent.opened(opening, by: self)
    }

    func collect(into news: inout FeedNews, ifAtMost limit: Int?, now: Moment) -> Bool {
        let ready: [StreamID]? = due.withLock { due in
            if let limit, due.count > limit { return nil }
            defer { due = [] }
            return due
        }
        let writes: [SharedWrite]? = shared.withLock { shared in
            if let limit, shared.reduce(0, { $0 + $1.streams.count }) > limit { return nil }
            defer { shared = [] }
            return shared
        }
        news.ready += ready ?? []
        news.shared += writes ?? []
        return ready != nil && writes != nil
    }
}

/// One chunk around a payload.
func chunk(_ payload: [UInt8]) -> [UInt8] {
    Array("\(String(payload.count, radix: 16))\r\n".utf8) + payload + Array("\r\n".utf8)
}

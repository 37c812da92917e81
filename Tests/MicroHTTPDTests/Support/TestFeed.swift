internal import MicroHTTPD
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

    func collect(into news: inout FeedNews, now: Moment) {
        news.ready += due.withLock { due in
            defer { due = [] }
            return due
        }
        news.shared += shared.withLock { shared in
            defer { shared = [] }
            return shared
        }
    }
}

/// One chunk around a payload.
func chunk(_ payload: [UInt8]) -> [UInt8] {
    Array("\(String(payload.count, radix: 16))\r\n".utf8) + payload + Array("\r\n".utf8)
}

internal import Changes
internal import JSONText
internal import Primitives
internal import SessionCore
internal import StreamIO
internal import TestSupport

@testable import EventHub

/// The reading end of a stream.
final class TestStream {
    /// One event with its data parsed.
    struct Event {
        let name: String
        let id: String?
        let data: JSONValue

        subscript(_ member: String) -> JSONValue? { data[member] }
        var sequence: UInt64? { id.flatMap(EventID.init)?.sequence }
    }

    let subscriber: Subscriber
    let isChunked: Bool
    let format: EventFormat
    /// While true, the reader reads nothing.
    var isBlocked = false {
        didSet { if isBlocked { subscriber.blocked() } }
    }
    /// While true, the loop does not come to visit the stream, whose client would accept bytes.
    var isNeglected = false
    /// The number of its broadcasts.
    private(set) var broadcasts = 0
    /// The owner of the bytes of the last broadcast.
    private(set) weak var lastOwner: AnyObject?
    /// The limit of one visit.
    var limit = 256 << 10
    private(set) var bytes: [UInt8] = []
    private(set) var isFinished = false
    private(set) var wakeAt: Moment?
    private(set) var pieces = 0

    init(subscriber: Subscriber, isChunked: Bool, format: EventFormat) {
        self.subscriber = subscriber
        self.isChunked = isChunked
        self.format = format
    }

    /// Receives a broadcast.
    func take(_ write: SharedWrite) {
        precondition(!isBlocked, "a blocked stream has no part in broadcasts")
        broadcasts += 1
        lastOwner = write.pieces.last?.owner
        for piece in write.pieces { bytes += piece.bytes }
        pieces += write.pieces.count
    }

    /// Visits until nothing is due.
    func visit(_ now: Moment) {
        while !isBlocked, !isNeglected, !isFinished {
            guard visitOnce(now) else { return }
        }
    }

    /// Performs one visit; false if nothing more is due.
    @discardableResult
    func visitOnce(_ now: Moment) -> Bool {
        var batch = StreamBatch(byteLimit: limit, pieceLimit: 256)
        let result = subscriber.fill(&batch, now: now)
        for piece in batch.pieces { bytes += piece.bytes }
        pieces += batch.pieces.count
        switch result {
        case .more: return true
        case .finish: isFinished = true
        case .idle(let moment): wakeAt = moment
        }
        return false
    }

    var payload: [UInt8] {
        get throws {
            let body = isChunked ? try ChunkReader.payload(of: bytes) : bytes
            return subscriber.compression == nil ? body : try Gunzip(body).content
        }
    }

    var text: String {
        get throws { String(decoding: try payload, as: UTF8.self) }
    }

    /// All events so far.
    var events: [Event] {
        get throws {
            switch format {
            case .serverSentEvents:
                var parser = EventStreamParser()
                var last = ""
                return try parser.feed(try payload).map { event in
                    defer { last = event.id }
                    let data = try JSONValue(parsing: Array(event.data.utf8))
                    return Event(name: event.name, id: event.id == last ? nil : event.id, data: data)
                }
            case .ndjson:
                return try payload.split(separator: 0x0A).map { line in
                    let value = try JSONValue(parsing: Array(line))
                    return Event(
                        name: value["event"]?.string ?? "",
                        id: value["id"]?.string,
                        data: value["data"] ?? .null
                    )
                }
            }
        }
    }

    /// The names of all events but `stream`.
    var names: [String] {
        get throws { try events.map(\.name).filter { $0 != "stream" } }
    }
}

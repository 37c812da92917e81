internal import FoundationEssentials
internal import Glibc
internal import JSONText
internal import NIOCore
internal import NIOHTTP1

/// One stream of a benchmark: its request, and the events of its response.
final class BenchStream: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    /// The most bytes of a response other than a stream.
    private static let longestProblem = 1 << 16

    private let request: HTTPRequestHead
    private let ledger: BenchLedger
    /// The number of the stream in the ledger; nil before the status 200.
    private var number: Int?
    /// The field with the time at which an event was made, as the beginning of its member in JSON.
    private let timestampKey: String?
    /// Succeeds with the head of a stream, and fails with the reason of another response.
    private let opened: EventLoopPromise<Void>
    private var status: HTTPResponseStatus?
    private var unread = ByteBuffer()
    private var event = BenchLedger.Event(position: 0)
    private var hasId = false
    private var name = ""
    private var isGap = false
    /// Why the server ends the stream; nil until it has said so.
    private var closingReason: String?

    init(
        _ request: HTTPRequestHead,
        ledger: BenchLedger,
        timestampField: String?,
        opened: EventLoopPromise<Void>
    ) {
        self.request = request
        self.ledger = ledger
        self.opened = opened
        timestampKey = timestampField.map { "\"\($0)\":" }
    }

    func channelActive(context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(.head(request)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            status = head.status
            if head.status == .ok, head.isOfEventStream {
                opened.succeed()
                number = ledger.add()
            } else if head.status == .ok {
                opened.fail(WatchFailure("no Server-Sent Events"))
                context.close(promise: nil)
            }
        case .body(var bytes):
            let searched = unread.readableBytes
            unread.writeBuffer(&bytes)
            if number != nil { readLines(at: .now(), searched) }
            if unread.readableBytes > (number == nil ? Self.longestProblem : GatewayWatch.longestLine) {
                closingReason = "a line is too long"
                context.close(promise: nil)
            }
        case .end: context.close(promise: nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        opened.fail(status.map(refusal) ?? ChannelError.eof)
        if let number { ledger.streamClosed(number, reason: closingReason ?? "the connection ended") }
    }

    /// The title and detail of the problem that came in place of a stream.
    private func refusal(_ status: HTTPResponseStatus) -> any Error {
        WatchFailure(ProblemText.sentence(status: status.code, String(buffer: unread)))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        opened.fail(error)
        context.close(promise: nil)
    }

    /// Reads the whole lines. The first `searched` bytes have no line end.
    private func readLines(at now: NIODeadline, _ searched: Int) {
        unread.readWithUnsafeReadableBytes { bytes in
            var (start, searched) = (0, searched)
            while let end = bytes[searched...].firstIndex(ofByte: UInt8(ascii: "\n")) {
                read(UnsafeRawBufferPointer(rebasing: bytes[start..<end]), at: now)
                start = end + 1
                searched = start
            }
            return start
        }
        unread.discardReadBytes()
    }

    private func read(_ line: UnsafeRawBufferPointer, at now: NIODeadline) {
        if line.isEmpty {
            dispatch(at: now)
        } else if let value = line.value(of: "data") {
            readData(value)
        } else if let value = line.value(of: "id") {
            event.position = value.position
            hasId = true
        } else if let value = line.value(of: "event") {
            name = String(decoding: value, as: UTF8.self)
        }
    }

    /// Searches the members that a benchmark needs. Within a JSON string the quotation marks of a name are escaped, so that
    /// no value is taken for a member.
    private func readData(_ data: UnsafeRawBufferPointer) {
        let isStream = name == "stream"
        isGap = isStream && data.number(after: "\"resume\":\"gap\"") != nil
        guard !isStream else { return }
        if name == "subscription-error" || name == "closing" { readReason(data) }
        event.isSnapshot = data.number(after: "\"snapshot\":true") != nil
        event.updates = max(1, Int(data.number(after: "\"conflated\":") ?? 1))
        event.madeAt = timestampKey.flatMap { data.number(after: $0) }
    }

    /// The detail of a refused subscription says more than the reason of the event after it.
    private func readReason(_ data: UnsafeRawBufferPointer) {
        let content = try? JSONValue(parsing: String(decoding: data, as: UTF8.self))
        closingReason = content?["detail"]?.string ?? closingReason ?? content?["reason"]?.string
    }

    private func dispatch(at now: NIODeadline) {
        if let number, isGap { ledger.restarted(stream: number) }
        if let number, hasId, name.isEmpty || name == "update" {
            let milliseconds = Int64(Date().timeIntervalSince1970 * 1000)
            ledger.received(event, stream: number, at: now, milliseconds: milliseconds)
        }
        event = BenchLedger.Event(position: 0)
        name = ""
        hasId = false
        isGap = false
    }
}

/// Counts the bytes of a connection, with the framing of HTTP.
final class BenchByteCounter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let ledger: BenchLedger

    init(_ ledger: BenchLedger) { self.ledger = ledger }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        ledger.counts.bytes += unwrapInboundIn(data).readableBytes
        context.fireChannelRead(data)
    }
}

extension HTTPResponseHead {
    /// Whether the body is a stream of Server-Sent Events.
    fileprivate var isOfEventStream: Bool {
        headers.first(name: "Content-Type")?.lowercased().hasPrefix("text/event-stream") ?? false
    }
}

extension Slice<UnsafeRawBufferPointer> {
    fileprivate func firstIndex(ofByte byte: UInt8) -> Int? {
        let bytes = UnsafeRawBufferPointer(rebasing: self)
        guard let base = bytes.baseAddress, let found = memchr(base, Int32(byte), bytes.count) else { return nil }
        return startIndex + (UnsafeRawPointer(found) - base)
    }
}

extension UnsafeRawBufferPointer {
    /// The value of a line of an event stream, if it has this field name.
    fileprivate func value(of field: StaticString) -> UnsafeRawBufferPointer? {
        let length = field.utf8CodeUnitCount
        guard count > length, let baseAddress, memcmp(baseAddress, field.utf8Start, length) == 0,
            self[length] == UInt8(ascii: ":")
        else { return nil }
        let start = count > length + 1 && self[length + 1] == UInt8(ascii: " ") ? length + 2 : length + 1
        return UnsafeRawBufferPointer(rebasing: self[start...])
    }

    /// The place that an id tells: its number after the last hyphen, or, of the form `time:number`, both.
    fileprivate var position: UInt64 {
        let start = lastIndex(of: UInt8(ascii: "-")).map { $0 + 1 } ?? 0
        let numbers = String(decoding: self[start...], as: UTF8.self).split(separator: ":")
        return numbers.prefix(2).reduce(0) { ($0 << 24) &+ (UInt64($1) ?? 0) }
    }

    /// The digits behind the first occurrence of `key`, quoted or not; 0 without digits, nil without the key.
    fileprivate func number(after key: String) -> Int64? {
        var key = key
        return key.withUTF8 { key in
            guard let end = end(of: UnsafeRawBufferPointer(key)) else { return nil }
            var digits = self[end...]
            if digits.first == UInt8(ascii: "\"") { digits = digits.dropFirst() }
            return digits.prefix(18).prefix { (48...57).contains($0) }
                .reduce(Int64(0)) { $0 * 10 + Int64($1 - 48) }
        }
    }
    /// The index behind the first occurrence of some bytes.
    private func end(of key: UnsafeRawBufferPointer) -> Int? {
        guard let baseAddress, let wanted = key.baseAddress, let first = key.first else { return nil }
        var start = 0
        while let place = self[start...].firstIndex(ofByte: first), place + key.count <= count {
            if memcmp(baseAddress + place, wanted, key.count) == 0 { return place + key.count }
            start = place + 1
        }
        return nil
    }
}

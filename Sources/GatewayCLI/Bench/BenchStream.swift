internal import Foundation
internal import NIOCore
internal import NIOHTTP1

/// One stream of a benchmark: its request, and the events of its response.
final class BenchStream: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let request: HTTPRequestHead
    private let ledger: BenchLedger
    private let number: Int
    /// The field with the time at which an event was made, as the beginning of its member in JSON.
    private let timestampKey: [UInt8]?
    /// Succeeds with the status of the response.
    private let opened: EventLoopPromise<HTTPResponseStatus>
    private var status: HTTPResponseStatus?
    private var unread = ByteBuffer()
    private var event = BenchLedger.Event(position: 0)
    private var hasId = false
    private var name: [UInt8] = []
    private var isGap = false

    init(
        _ request: HTTPRequestHead,
        ledger: BenchLedger,
        timestampField: String?,
        opened: EventLoopPromise<HTTPResponseStatus>
    ) {
        self.request = request
        self.ledger = ledger
        self.opened = opened
        number = ledger.add()
        timestampKey = timestampField.map { Array("\"\($0)\":".utf8) }
    }

    func channelActive(context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(.head(request)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            status = head.status
            opened.succeed(head.status)
            if head.status != .ok { context.close(promise: nil) }
        case .body(var bytes):
            guard status == .ok else { return }
            unread.writeBuffer(&bytes)
            readLines(at: .now())
        case .end: context.close(promise: nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        opened.fail(ChannelError.eof)
        if status == .ok { ledger.streamClosed() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        opened.fail(error)
        context.close(promise: nil)
    }

    private func readLines(at now: NIODeadline) {
        while let end = unread.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) {
            let line = unread.readableBytesView[unread.readerIndex..<end]
            if line.isEmpty {
                dispatch(at: now)
            } else if let value = line.value(of: "data") {
                readData(value)
            } else if let value = line.value(of: "id") {
                event.position = value.position
                hasId = true
            } else if let value = line.value(of: "event") {
                name = Array(value)
            }
            unread.moveReaderIndex(to: end + 1)
        }
        unread.discardReadBytes()
    }

    /// Searches the members that a benchmark needs. Within a JSON string the quotation marks of a name are escaped, so that
    /// no value is taken for a member.
    private func readData(_ data: ByteBufferView) {
        let isStream = name.elementsEqual("stream".utf8)
        isGap = isStream && data.number(after: "\"resume\":\"gap\"".utf8) != nil
        guard !isStream else { return }
        event.isSnapshot = data.number(after: "\"snapshot\":true".utf8) != nil
        event.updates = max(1, Int(data.number(after: "\"conflated\":".utf8) ?? 1))
        event.madeAt = timestampKey.flatMap { data.number(after: $0) }.flatMap { $0 > 0 ? $0 : nil }
    }

    private func dispatch(at now: NIODeadline) {
        if isGap { ledger.restarted(stream: number) }
        if hasId, name.isEmpty || name.elementsEqual("update".utf8) {
            let milliseconds = Int64(Date().timeIntervalSince1970 * 1000)
            ledger.received(event, stream: number, at: now, milliseconds: milliseconds)
        }
        event = BenchLedger.Event(position: 0)
        name = []
        hasId = false
        isGap = false
    }
}

/// Counts the bytes of a connection, with the framing of HTTP.
final class BenchByteCounter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let ledger: BenchLedger

    init(_ ledger: BenchLedger) {
        self.ledger = ledger
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        ledger.bytes += unwrapInboundIn(data).readableBytes
        context.fireChannelRead(data)
    }
}

extension ByteBufferView {
    /// The value of a line of an event stream, if it has this field name.
    fileprivate func value(of field: String) -> ByteBufferView? {
        guard starts(with: field.utf8), count > field.utf8.count else { return nil }
        var value = dropFirst(field.utf8.count)
        guard value.first == UInt8(ascii: ":") else { return nil }
        value = value.dropFirst()
        return value.first == UInt8(ascii: " ") ? value.dropFirst() : value
    }

    /// The place that an id tells: its number after the last hyphen, or, of the form `time:number`, both.
    fileprivate var position: UInt64 {
        let numbers = split(separator: UInt8(ascii: "-")).last?.split(separator: UInt8(ascii: ":")) ?? []
        return numbers.prefix(2).reduce(0) { sum, digits in
            (sum << 24) &+ (UInt64(String(decoding: digits, as: UTF8.self)) ?? 0)
        }
    }

    /// The digits behind the first occurrence of `key`, quoted or not; 0 without digits, nil without the key.
    fileprivate func number(after key: some Collection<UInt8>) -> Int64? {
        guard let range = firstRange(of: key) else { return nil }
        var digits = self[range.upperBound...]
        if digits.first == UInt8(ascii: "\"") { digits = digits.dropFirst() }
        return digits.prefix(18).prefix { (48...57).contains($0) }
            .reduce(Int64(0)) { $0 * 10 + Int64($1 - 48) }
    }
}

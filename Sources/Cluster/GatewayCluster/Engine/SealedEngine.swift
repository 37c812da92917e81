internal import Cryptography
internal import FoundationEssentials
internal import Logging
internal import Primitives
internal import Replication

/// An engine whose operators and other clients read nothing: everything that goes through it is encrypted with a key from
/// the cluster's secret, and opens only where it belongs.
///
///     frame, broadcast     nonce · encrypted · tag                     with the kind of the message
///     call, notification   sender u64 · number u64 · time i64 · …      with sender, receiver, number and time
///     request to all       mark u64 · …                                with the mark
///     reply                …                                           with the message that it replies to
struct SealedEngine: ClusterEngine {
    private let engine: any ClusterEngine
    private let seals: EngineSeals
    private let logger: Logger

    init(_ engine: any ClusterEngine, secret: String, process: UInt64, logger: Logger) {
        self.engine = engine
        seals = EngineSeals(secret: secret, process: process)
        self.logger = logger
    }

    func connect(_ receive: @escaping @Sendable (EngineInput) -> Void) async throws -> any EngineConnection {
        let hasWarned = RankedMutex(false)
        let connection = try await engine.connect { [seals, logger] input in
            if let opened = seals.open(input) { return receive(opened) }
            let isFirst = hasWarned.withLock { hasWarned in
                defer { hasWarned = true }
                return !hasWarned
            }
            guard isFirst else { return }
            logger.warning(
                "a message on the cluster's engine cannot be read: it was repeated, or encrypted with another cluster.secret"
            )
        }
        return SealedConnection(connection: connection, seals: seals)
    }
}

private struct SealedConnection: EngineConnection {
    let connection: any EngineConnection
    let seals: EngineSeals

    func inspectLog() async throws -> LogGeneration { try await connection.inspectLog() }

    func warnings() async -> [String] { await connection.warnings() }

    func append(_ frame: [UInt8], again: Bool) { connection.append(seals.seal(frame, .frame), again: again) }

    func fetch(_ range: ClosedRange<UInt64>) async throws -> [StoredFrame] {
        try await connection.fetch(range).map(seals.open)
    }

    func broadcast(_ bytes: [UInt8]) { connection.broadcast(seals.seal(bytes, .broadcast)) }

    func requestFromGroup(_ bytes: [UInt8], within time: Duration) async throws -> [UInt8] {
        let mark = UInt64.random(in: .min ... .max)
        let reply = try await connection.requestFromGroup(seals.request(bytes, mark), within: time)
        return try opened(reply, .reply(.request(mark)))
    }

    func call(
        _ process: UInt64,
        _ bytes: [UInt8],
        within time: Duration,
        sent: @escaping @Sendable () -> Void
    ) async throws -> [UInt8] {
        let stamp = seals.nextStamp(for: process)
        let message = seals.message(bytes, stamp, .call(stamp))
        let reply = try await connection.call(process, message, within: time, sent: sent)
        return try opened(reply, .reply(.call(stamp)))
    }

    func notify(_ process: UInt64, _ bytes: [UInt8]) {
        let stamp = seals.nextStamp(for: process)
        connection.notify(process, seals.message(bytes, stamp, .notification(stamp)))
    }

    func close() { connection.close() }

    private func opened(_ reply: [UInt8], _ context: EngineSeals.Context) throws -> [UInt8] {
        guard let bytes = seals.open(reply, context) else { throw EngineError.refused("a reply cannot be read") }
        return bytes
    }
}

/// The encryption of the messages of one process, over all of its connections.
final class EngineSeals: Sendable {
    /// The purpose of a sealed message, which opens for no other purpose.
    struct Context: Sendable, Equatable {
        static let frame = Context(kind: 1)
        static let broadcast = Context(kind: 2)

        private let kind: UInt8
        /// The random mark of a request to all members, or the numbers in the stamp of a call or notification; else empty.
        private var numbers: [UInt64] = []

        static func request(_ mark: UInt64) -> Context { Context(kind: 3, numbers: [mark]) }
        static func call(_ stamp: ReceivedCalls.Stamp) -> Context { Context(kind: 4, numbers: stamp.numbers) }
        static func notification(_ stamp: ReceivedCalls.Stamp) -> Context { Context(kind: 5, numbers: stamp.numbers) }
        static func reply(_ message: Context) -> Context { Context(kind: message.kind + 3, numbers: message.numbers) }

        /// The bytes that are authenticated with a message.
        fileprivate var bytes: [UInt8] { [kind] + EngineSeals.bytes(numbers) }
    }

    /// The calls and notifications of this process and of the others, and the requests of the others.
    private struct Calls {
        /// The number of the last message to each process, and the time of the last one.
        var numbers: [UInt64: UInt64] = [:]
        var time: Int64 = 0
        var received = ReceivedCalls()
        var requests = ReceivedRequests()
    }

    private let process: UInt64
    private let cipher: ClusterCipher
    private let calls = RankedMutex(Calls())
    private let clock: @Sendable () -> Double

    /// - Parameter clock: Seconds since 1970.
    init(secret: String, process: UInt64, clock: @escaping @Sendable () -> Double = { Date().timeIntervalSince1970 }) {
        cipher = ClusterCipher(secret: secret, purpose: "engine")
        self.process = process
        self.clock = clock
    }

    // MARK: - Sealing

    func seal(_ bytes: [UInt8], _ context: Context) -> [UInt8] { cipher.encrypt(bytes, with: context.bytes) }

    func request(_ bytes: [UInt8], _ mark: UInt64) -> [UInt8] { Self.bytes([mark]) + seal(bytes, .request(mark)) }

    func message(_ bytes: [UInt8], _ stamp: ReceivedCalls.Stamp, _ context: Context) -> [UInt8] {
        Self.bytes([stamp.sender, stamp.number, UInt64(bitPattern: stamp.time)]) + seal(bytes, context)
    }

    func nextStamp(for receiver: UInt64) -> ReceivedCalls.Stamp {
        let now = Int64(min(max(clock() * 1000, 0), 1e15))
        return calls.withLock { calls in
            calls.numbers[receiver, default: 0] += 1
            calls.time = max(calls.time, now)
            let number = calls.numbers[receiver, default: 0]
            return ReceivedCalls.Stamp(sender: process, receiver: receiver, number: number, time: calls.time)
        }
    }

    // MARK: - Opening

    /// The opened bytes; nil if they were sealed with another secret, or for something else.
    func open(_ bytes: [UInt8], _ context: Context) -> [UInt8]? { cipher.decrypt(bytes, with: context.bytes) }

    /// A frame that was fetched from the log. A frame that does not open becomes an empty one, which leaves no hole.
    func open(_ frame: StoredFrame) -> StoredFrame {
        StoredFrame(position: frame.position, bytes: open(frame.bytes, .frame) ?? [])
    }

    /// The opened message, with a reply that opens for its sender; nil if it does not open, or was received before. A frame
    /// that does not open may be forged: members fetch the frame that the log has at the position.
    func open(_ input: EngineInput) -> EngineInput? {
        switch input {
        case .frame(let frame):
            return open(frame.bytes, .frame).map { .frame(StoredFrame(position: frame.position, bytes: $0)) }
        case .broadcast(let bytes): return open(bytes, .broadcast).map { .broadcast($0) }
        case .groupRequest(let bytes, let reply):
            guard bytes.count >= 8 else { return nil }
            let mark = Self.number(bytes[..<8])
            guard let opened = open(Array(bytes[8...]), .request(mark)), calls.withLock({ $0.requests.accept(mark) })
            else { return nil }
            return .groupRequest(opened) { [self] in reply(seal($0, .reply(.request(mark)))) }
        case .call(let bytes, let reply): return open(call: bytes, reply)
        case .refused, .notStored, .closed: return input
        }
    }

    private func open(call bytes: [UInt8], _ reply: EngineReply?) -> EngineInput? {
        guard bytes.count >= 24 else { return nil }
        let stamp = ReceivedCalls.Stamp(
            sender: Self.number(bytes[..<8]),
            receiver: process,
            number: Self.number(bytes[8..<16]),
            time: Int64(bitPattern: Self.number(bytes[16..<24]))
        )
        let context = reply == nil ? Context.notification(stamp) : .call(stamp)
        // The stamp counts once it is known to be authentic.
        guard let opened = open(Array(bytes[24...]), context), calls.withLock({ $0.received.accept(stamp) }) else {
            return nil
        }
        let sealing = reply.map { reply -> EngineReply in { [self] in reply(seal($0, .reply(context))) } }
        return .call(opened, reply: sealing)
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The bytes of some numbers, little-endian.
    fileprivate static func bytes(_ numbers: [UInt64]) -> [UInt8] {
        numbers.flatMap { number in withUnsafeBytes(of: number.littleEndian) { Array($0) } }
    }
}

extension ReceivedCalls.Stamp {
    fileprivate var numbers: [UInt64] { [sender, receiver, number, UInt64(bitPattern: time)] }
}

/// Encrypts messages between members, and tickets, which carry credentials and rights, with a key from the cluster's secret.
struct ClusterCipher: Sendable {
    /// The reason for which bytes of another member cannot be decrypted.
    static let mismatch = "it was encrypted with another cluster.secret"

    private let key: [UInt8]

    /// A key for one purpose: it cannot decrypt what was encrypted for another purpose.
    init(secret: String, purpose: String) { key = SHA256.code(of: Array(purpose.utf8), key: Array(secret.utf8)) }

    /// A keyed digest of bytes, which names them in the log: only holders of the secret can compute it.
    func digest(of bytes: [UInt8]) -> RecordKey { RecordKey(bytes: SHA256.code(of: bytes, key: key)) }

    /// - Parameter context: Bytes that are not part of the result, and without which it does not decrypt.
    func encrypt(_ bytes: [UInt8], with context: [UInt8] = []) -> [UInt8] {
        // Encryption fails for a key of another length only.
        SealedBox(key: key).seal(bytes, context: context) ?? []
    }

    /// The decrypted bytes; nil if they were encrypted with another key or context, or changed.
    func decrypt(_ bytes: [UInt8], with context: [UInt8] = []) -> [UInt8]? {
        SealedBox(key: key).open(bytes, context: context)
    }
}

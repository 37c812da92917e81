package import Replication

struct NATSReply: Sendable {
    let bytes: [UInt8]
    /// The position of the requested frame in the log; nil for a reply to another request.
    let position: UInt64?
    /// The reason for a missing body.
    let failure: EngineError?
}

/// The last part of the subject of a reply: the token of the request and, for a frame of the log, the frame's position.
/// The subject tells the position because other clients of NATS can give the frames that they append any header.
///
///     token ["-" position]
struct ReplyName: Equatable {
    let token: UInt64
    let position: UInt64?

    var text: String { position.map { "\(token)-\($0)" } ?? "\(token)" }
}

extension ReplyName {
    /// Reads a name; nil for any other text.
    init?(_ text: Substring) {
        let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        let numbers = parts.compactMap { UInt64($0) }
        guard numbers.count == parts.count else { return nil }
        self.init(token: numbers[0], position: numbers.count == 2 ? numbers[1] : nil)
    }
}

/// A reply that takes several messages: each begins with a number that all of them share, its index, and their count.
///
///     reply u32 · index u16 · count u16 · bytes
struct ReplyPiece {
    /// NATS limits a message to 1 MiB.
    private static let size = 512 << 10
    private static let header = 8

    let reply: UInt32
    let index: Int
    let count: Int
    let bytes: ArraySlice<UInt8>

    /// Reads a piece; nil for anything else.
    init?(_ message: [UInt8]) {
        guard message.count >= Self.header else { return nil }
        reply = message[0..<4].reduce(0) { $0 << 8 | UInt32($1) }
        index = Int(message[4]) << 8 | Int(message[5])
        count = Int(message[6]) << 8 | Int(message[7])
        bytes = message[Self.header...]
    }

    static func messages(of bytes: [UInt8], reply: UInt32) -> [[UInt8]] {
        let count = max(1, (bytes.count + size - 1) / size)
        return (0..<count).map { index in
            let numbers = [reply >> 16, reply & 0xFFFF, UInt32(index), UInt32(count)]
            let header = numbers.flatMap { [UInt8($0 >> 8 & 0xFF), UInt8($0 & 0xFF)] }
            return header + bytes[index * size..<min(bytes.count, (index + 1) * size)]
        }
    }
}

/// Requests that wait for their replies, by the tokens that end the replies' subjects.
struct RequestTable: Sendable {
    typealias Continuation = CheckedContinuation<[NATSReply], any Error>

    /// The condition that completes a request.
    enum Collection: Sendable, Equatable {
        /// This number of messages, or as many as arrive before one is missing or the time is over.
        case messages(Int)
        /// All pieces of the first complete reply of any responder.
        case pieces
    }

    struct Completed: Sendable {
        let continuation: Continuation?
        let result: Result<[NATSReply], any Error>

        func resume() { continuation?.resume(with: result) }
    }

    private struct Pending: Sendable {
        let collection: Collection
        /// Nil until the task that waits is running.
        var continuation: Continuation?
        var replies: [NATSReply] = []
        /// The bytes and the number of the pieces of each incomplete reply.
        var pieces: [UInt32: (bytes: [UInt8], count: Int)] = [:]
        /// The memory of these pieces.
        var size = 0
    }

    /// The memory of a piece beside its bytes.
    private static let overhead = 64

    private var pending: [UInt64: Pending] = [:]
    /// The most memory of all incomplete replies, and the present one.
    private let limit: Int
    private(set) var size = 0

    /// - Parameter limit: The most bytes of incomplete replies that are kept.
    init(limit: Int) { self.limit = limit }

    /// Adds a request; returns its token, a random number, so that only a client that sees the request can reply.
    mutating func add(_ collection: Collection) -> UInt64 {
        var token: UInt64
        repeat { token = .random(in: .min ... .max) } while pending[token] != nil
        pending[token] = Pending(collection: collection)
        return token
    }

    /// Sets the continuation of a request; false if its time is over, or if all requests were removed.
    mutating func wait(for token: UInt64, _ continuation: Continuation) -> Bool {
        guard pending[token] != nil else { return false }
        pending[token]?.continuation = continuation
        return true
    }

    mutating func removeAll() -> [Continuation] {
        defer { (pending, size) = ([:], 0) }
        return pending.values.compactMap(\.continuation)
    }

    func awaits(_ token: UInt64) -> Bool { pending[token] != nil }

    /// The time of a request is over: it is completed with the replies that have arrived.
    mutating func timedOut(_ token: UInt64) -> Completed? { fail(token, .timeout) }

    private mutating func fail(_ token: UInt64, _ error: EngineError) -> Completed? {
        guard let replies = pending[token]?.replies else { return nil }
        return complete(token, replies.isEmpty ? .failure(error) : .success(replies))
    }

    /// Adds a reply; returns the request that it completes.
    mutating func arrived(_ reply: NATSReply, for token: UInt64) -> Completed? {
        guard let collection = pending[token]?.collection else { return nil }
        if let failure = reply.failure { return fail(token, failure) }
        switch collection {
        case .messages(let count):
            pending[token]?.replies.append(reply)
            guard let replies = pending[token]?.replies, replies.count == count else { return nil }
            return complete(token, .success(replies))
        case .pieces:
            guard let piece = ReplyPiece(reply.bytes), let bytes = add(piece, to: token) else { return nil }
            return complete(token, .success([NATSReply(bytes: bytes, position: nil, failure: nil)]))
        }
    }

    /// Adds a piece of a reply; returns the whole reply with the last piece. Pieces of one responder arrive in order.
    private mutating func add(_ piece: ReplyPiece, to token: UInt64) -> [UInt8]? {
        guard piece.index == pending[token]?.pieces[piece.reply]?.count ?? 0 else { return nil }
        pending[token]?.pieces[piece.reply, default: ([], 0)].bytes += piece.bytes
        pending[token]?.pieces[piece.reply]?.count += 1
        if piece.index + 1 == piece.count { return pending[token]?.pieces[piece.reply]?.bytes }
        pending[token]?.size += piece.bytes.count + Self.overhead
        size += piece.bytes.count + Self.overhead
        if size > limit { dropPieces() }
        return nil
    }

    /// Drops the pieces of the request with the most of them. Another client of NATS that sees a request can send pieces
    /// without end; a reply in one piece still completes the request.
    private mutating func dropPieces() {
        guard let token = pending.max(by: { $0.value.size < $1.value.size })?.key else { return }
        size -= pending[token]?.size ?? 0
        pending[token]?.pieces = [:]
        pending[token]?.size = 0
    }

    private mutating func complete(_ token: UInt64, _ result: Result<[NATSReply], any Error>) -> Completed? {
        guard let request = pending.removeValue(forKey: token) else { return nil }
        size -= request.size
        return Completed(continuation: request.continuation, result: result)
    }
}

extension NATSConnection {
    package func fetch(_ range: ClosedRange<UInt64>) async throws -> [StoredFrame] {
        let bodies = range.map { Array("{\"seq\":\($0)}".utf8) }
        let subject = "$JS.API.DIRECT.GET.\(configuration.stream)"
        let replies = try await request(
            subject,
            bodies,
            positions: range,
            collecting: .messages(range.count),
            within: .seconds(3)
        )
        let frames = replies.map { StoredFrame(position: $0.position ?? 0, bytes: $0.bytes) }
        return frames.sorted { $0.position < $1.position }
    }

    package func requestFromGroup(_ bytes: [UInt8], within time: Duration) async throws -> [UInt8] {
        try await request(configuration.groupRequests, [bytes], collecting: .pieces, within: time)[0].bytes
    }

    package func call(
        _ process: UInt64,
        _ bytes: [UInt8],
        within time: Duration,
        sent: @escaping @Sendable () -> Void
    ) async throws -> [UInt8] {
        let subject = configuration.calls(of: process)
        return try await request(subject, [bytes], collecting: .pieces, within: time, sent: sent)[0].bytes
    }

    package func notify(_ process: UInt64, _ bytes: [UInt8]) { publish(bytes, to: configuration.calls(of: process)) }

    /// Sends messages and waits for all replies.
    ///
    /// - Parameter positions: The positions of the frames that the messages request, one each; nil if they request no frames.
    func request(
        _ subject: String,
        _ bodies: [[UInt8]],
        positions: ClosedRange<UInt64>? = nil,
        collecting: RequestTable.Collection,
        within time: Duration,
        sent: @escaping @Sendable () -> Void = {}
    ) async throws -> [NATSReply] {
        let token = state.withLock { state in state.isClosed ? nil : state.requests.add(collecting) }
        guard let token else { throw EngineError.notConnected("closed") }
        return try await withThrowingTaskGroup(of: [NATSReply]?.self) { group in
            group.addTask {
                try await withCheckedThrowingContinuation { continuation in
                    guard self.state.withLock({ $0.requests.wait(for: token, continuation) }) else {
                        return continuation.resume(throwing: EngineError.timeout)
                    }
                    for (index, body) in bodies.enumerated() {
                        let position = positions.map { $0.lowerBound + UInt64(index) }
                        let name = ReplyName(token: token, position: position)
                        self.publish(body, to: subject, replyTo: "\(self.inbox).\(name.text)")
                    }
                    sent()
                }
            }
            group.addTask {
                try? await Task.sleep(for: time)
                self.state.withLock { $0.requests.timedOut(token) }?.resume()
                return nil
            }
            defer { group.cancelAll() }
            while let result = try await group.next() {
                if let replies = result { return replies }
            }
            throw EngineError.timeout
        }
    }
}

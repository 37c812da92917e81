internal import MicroHTTPD
internal import SessionCore
internal import Synchronization

/// The responses to requests with an `Idempotency-Key`, so that a repeated POST is performed once.
///
/// Bounded by number, bytes and time. When it is full, the oldest responses are dropped; no request is rejected.
package final class IdempotencyStore: Sendable {
    /// How to proceed with a request.
    enum Decision: Sendable {
        /// The key is new: perform the request, then call `finished`.
        case perform
        /// The request was performed: repeat this response.
        case replay(Response)
        /// The request is still being performed.
        case inProgress
        /// The key was used with another body.
        case otherRequest
    }

    /// The scope of a key: one caller with its rights, and one path.
    package struct Key: Hashable, Sendable {
        /// The caller and its rights; nil without authentication.
        package let caller: String?
        /// The path, as sent.
        package let path: String
        /// The key.
        package let key: String

        fileprivate var byteCount: Int { (caller ?? "").utf8.count + path.utf8.count + key.utf8.count }
    }

    private struct Entry {
        let body: [UInt8]
        let since: Moment
        let keySize: Int
        var response: Response?
        var size: Int { keySize + body.count + (response?.body.count ?? 0) + 256 }
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var order: [Key] = []
        var size = 0
    }

    private let lifetime: Duration
    private let maxEntries: Int
    private let maxBytes: Int
    private let state = Mutex(State())

    /// An empty store.
    init(lifetime: Duration = .seconds(600), maxEntries: Int = 10_000, maxBytes: Int = 16 << 20) {
        self.lifetime = lifetime
        self.maxEntries = maxEntries
        self.maxBytes = maxBytes
    }

    /// Looks a request up, and adds it if its key is new.
    func begin(_ key: Key, body bytes: [UInt8], now: Moment) -> Decision {
        state.withLock { state in
            drop(&state, now: now)
            if let entry = state.entries[key] {
                guard entry.body == bytes else { return .otherRequest }
                return entry.response.map { .replay($0) } ?? .inProgress
            }
            let entry = Entry(body: bytes, since: now, keySize: key.byteCount)
            state.entries[key] = entry
            state.order.append(key)
            state.size += entry.size
            return .perform
        }
    }

    /// Stores the response. Responses with 429 or 5xx are not stored: a repeated request may succeed.
    func finished(_ key: Key, with response: Response) {
        state.withLock { state in
            guard var entry = state.entries[key] else { return }
            state.size -= entry.size
            entry.response = response
            if response.status >= 500 || response.status == 429 {
                state.entries[key] = nil
                state.order.removeAll { $0 == key }
            } else {
                state.entries[key] = entry
                state.size += entry.size
            }
        }
    }

    private func drop(_ state: inout State, now: Moment) {
        while let first = state.order.first, let entry = state.entries[first],
            now - entry.since > lifetime || state.order.count > maxEntries || state.size > maxBytes
        {
            state.entries[first] = nil
            state.order.removeFirst()
            state.size -= entry.size
        }
    }
}

extension IdempotencyStore {
    /// Calls the handler. A POST with an `Idempotency-Key` is performed once.
    func perform(_ call: Call, _ operation: Operation, now: @autoclosure () -> Moment) throws -> OperationResult {
        try perform(call, operation.method, now: now(), operation.handler)
    }

    /// Calls a handler in place of that of an operation with this method.
    func perform(
        _ call: Call,
        _ method: Operation.Method,
        now: @autoclosure () -> Moment,
        _ handler: Operation.Handler
    ) throws -> OperationResult {
        guard let key = try Self.key(of: call, method) else { return try handler(call) }
        switch begin(key, body: call.body, now: now()) {
        case .perform: return try first(call, key, handler)
        case .replay(let response): return .response(response.with("Idempotency-Replayed", "true"))
        case .inProgress:
            throw Self.inProgress
        case .otherRequest:
            throw Self.otherRequest
        }
    }

    package static let inProgress = Problem(
        .idempotencyConflict,
        detail: "The first request with this key is still being processed."
    )
    package static let otherRequest = Problem(
        .idempotencyConflict,
        detail: "The key was used for a request with another body."
    )

    /// The key of a POST; nil if it has none.
    package static func key(of call: Call, _ method: Operation.Method) throws(Problem) -> Key? {
        guard method == .post, let header = call.header("Idempotency-Key") else { return nil }
        guard (1...255).contains(header.utf8.count) else {
            throw Problem(.malformed, detail: "An Idempotency-Key has 1 to 255 characters.")
        }
        return Key(caller: scope(of: call.caller), path: call.request.rawPath, key: header)
    }

    /// The rights belong to the scope, so that a caller whose rights were reduced, or who shows another token of the
    /// same subject, does not receive a response that its rights do not cover.
    private static func scope(of caller: Caller) -> String? {
        caller.identity.map { "\($0) \(Base64URL.encode(KeyHash.digest(of: caller.rights.line)))" }
    }

    private func first(_ call: Call, _ key: Key, _ handler: Operation.Handler) throws -> OperationResult {
        var noted = call
        noted.respond = { [self] response in
            finished(key, with: response)
            call.respond(response)
        }
        // The client may disconnect and repeat the request to receive the response.
        noted.onAbandonment = { _ in }
        do {
            let reply = try handler(noted)
            if case .response(let response) = reply { finished(key, with: response) }
            return reply
        } catch {
            finished(key, with: ProblemDetails.response(to: call, for: error))
            throw error
        }
    }
}

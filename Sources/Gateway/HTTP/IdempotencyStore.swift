internal import MicroHTTPD
internal import SessionCore
internal import Synchronization

/// The responses that were given under an `Idempotency-Key`, so that a repeated POST is performed once.
///
/// Bounded by number, bytes and time; where it is full the oldest responses are forgotten, never a request refused.
final class IdempotencyStore: Sendable {
    /// What is to be done with a request.
    enum Verdict: Sendable {
        /// It is the first of its key: perform it, then call `finished`.
        case perform
        /// It was performed: this was the response.
        case replay(Response)
        /// It is being performed.
        case inProgress
        /// The key was used for something else.
        case otherRequest
    }

    /// What a key counts for: one caller, method and path.
    struct Key: Hashable, Sendable {
        /// The caller; nil where nobody has to say who they are.
        let caller: String?
        /// The path, as sent.
        let path: String
        /// The key.
        let key: String
    }

    private struct Entry {
        let body: [UInt8]
        let since: Moment
        var response: Response?
        var size: Int { body.count + (response?.body.count ?? 0) + 256 }
    }

    private struct Body {
        var entries: [Key: Entry] = [:]
        var order: [Key] = []
        var size = 0
    }

    private let lifetime: Duration
    private let maxEntries: Int
    private let maxBytes: Int
    private let body = Mutex(Body())

    /// An empty store.
    init(lifetime: Duration = .seconds(600), maxEntries: Int = 10_000, maxBytes: Int = 16 << 20) {
        self.lifetime = lifetime
        self.maxEntries = maxEntries
        self.maxBytes = maxBytes
    }

    /// Looks a request up, and notes it if it is the first of its key.
    func begin(_ key: Key, body bytes: [UInt8], now: Moment) -> Verdict {
        body.withLock { body in
            drop(&body, now: now)
            if let entry = body.entries[key] {
                guard entry.body == bytes else { return .otherRequest }
                return entry.response.map { .replay($0) } ?? .inProgress
            }
            let entry = Entry(body: bytes, since: now)
            body.entries[key] = entry
            body.order.append(key)
            body.size += entry.size
            return .perform
        }
    }

    /// Notes the response. One that says that the gateway failed is not kept: repeating may help.
    func finished(_ key: Key, with response: Response) {
        body.withLock { body in
            guard var entry = body.entries[key] else { return }
            body.size -= entry.size
            entry.response = response
            if response.status >= 500 || response.status == 429 {
                body.entries[key] = nil
                body.order.removeAll { $0 == key }
            } else {
                body.entries[key] = entry
                body.size += entry.size
            }
        }
    }

    private func drop(_ body: inout Body, now: Moment) {
        while let first = body.order.first, let entry = body.entries[first],
            now - entry.since > lifetime || body.order.count > maxEntries || body.size > maxBytes
        {
            body.entries[first] = nil
            body.order.removeFirst()
            body.size -= entry.size
        }
    }
}

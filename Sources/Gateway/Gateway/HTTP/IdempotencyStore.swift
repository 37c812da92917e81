internal import Cryptography
package import JSONText
internal import MicroHTTPD
internal import Primitives

/// The responses to requests with an `Idempotency-Key`, so that a repeated POST is performed once.
///
/// Bounded by number, bytes and time. When it is full, the oldest responses of the caller that has the most are dropped,
/// so that no caller drops responses of others. Requests in progress stay, and do not count: such requests would take the
/// room of the responses of others, and are themselves bounded. No request is rejected.
package final class IdempotencyStore: Sendable {
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

    /// The scope of a key: a caller with the rights of the caller, and a target.
    package struct Key: Hashable, Sendable {
        /// The caller and its rights, or the network of one without the credentials that others need; nil without
        /// authentication.
        package let caller: ExactText?
        /// The path with the query, as sent.
        package let path: ExactText
        package let key: ExactText

        package init(caller: String?, path: String, key: String) {
            (self.caller, self.path, self.key) = (caller.map { ExactText($0) }, ExactText(path), ExactText(key))
        }

        fileprivate var byteCount: Int { [caller ?? "", path, key].reduce(0) { $0 + $1.text.utf8.count } }
    }

    private struct Entry {
        let body: [UInt8]
        let since: Moment
        /// The caller whose share the entry counts towards.
        let owner: String
        let keySize: Int
        var response: Response?
        /// The place among the responses of its share; 0 without a response.
        var place = 0
        var size: Int { keySize + body.count + (response?.body.count ?? 0) + 256 }
    }

    private struct Share {
        /// The keys of requests that were performed, by their places, which rise in the order of their ends.
        var performed: [Int: Key] = [:]
        /// The last place that was given, and a place that is not after the oldest one in use.
        var (last, first) = (0, 0)
        /// The bytes of the entries of these requests.
        var size = 0

        mutating func oldest() -> Key? {
            if performed.isEmpty { return nil }
            // Responses that have expired one by one leave places, millions of them before a first search.
            if last - first > 2 * performed.count, let least = performed.keys.min() { first = least }
            while performed[first] == nil { first += 1 }
            return performed[first]
        }
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var shares: [String: Share] = [:]
        /// The number of responses, and the bytes of their entries.
        var (count, size) = (0, 0)
        var nextSweep: Moment?
    }

    /// How long a key is known.
    static let lifetime = Duration.seconds(600)
    /// The most keys that are known, and the most bytes of the keys and responses.
    static let most = (entries: 10_000, bytes: 16 << 20)

    private let lifetime: Duration
    private let maxEntries: Int
    private let maxBytes: Int
    private let state = RankedMutex(State())

    init(lifetime: Duration = lifetime, maxEntries: Int = most.entries, maxBytes: Int = most.bytes) {
        self.lifetime = lifetime
        self.maxEntries = maxEntries
        self.maxBytes = maxBytes
    }

    /// Looks a request up, and adds it if its key is new.
    ///
    /// - Parameter owner: The caller whose share the request counts towards.
    func begin(_ key: Key, of owner: String = "", body bytes: [UInt8], now: Moment) -> Decision {
        let digest = SHA256.hash(bytes)
        return state.withLock { state in
            sweepIfDue(&state, now: now)
            if let entry = state.entries[key] {
                let isExpired = entry.response != nil && now - entry.since > lifetime
                guard isExpired else {
                    guard entry.body == digest else { return .otherRequest }
                    return entry.response.map { .replay($0) } ?? .inProgress
                }
                remove(key, from: &state)
            }
            state.entries[key] = Entry(body: digest, since: now, owner: owner, keySize: key.byteCount)
            return .perform
        }
    }

    /// Stores the response. Those of requests without effect are not stored: a repetition is performed as the first
    /// request.
    func finished(_ key: Key, with response: Response) {
        state.withLock { state in
            guard var entry = state.entries[key], entry.response == nil else { return }
            guard Self.isKept(response) else { return remove(key, from: &state) }
            var share = state.shares.removeValue(forKey: entry.owner) ?? Share()
            share.last += 1
            entry.response = response
            entry.place = share.last
            share.performed[entry.place] = key
            share.size += entry.size
            state.shares[entry.owner] = share
            state.entries[key] = entry
            state.size += entry.size
            state.count += 1
            makeRoom(&state)
        }
    }

    /// Whether a response is stored: not that of a failure, nor the refusal of a body, of a rate or of credentials, nor a
    /// response with a cookie, which holds the credential of the request: a repetition by the same caller may have another one.
    package static func isKept(_ response: Response) -> Bool {
        response.status < 500 && ![400, 401, 403, 413, 415, 422, 429].contains(response.status)
            && response.headers["Set-Cookie"] == nil
    }

    /// Drops the oldest responses of the caller that has the most, until the limits hold.
    private func makeRoom(_ state: inout State) {
        while state.count > maxEntries || state.size > maxBytes {
            let byBytes = state.size > maxBytes
            let fullest = state.shares.max {
                byBytes ? $0.value.size < $1.value.size : $0.value.performed.count < $1.value.performed.count
            }?.key
            guard let fullest, let key = state.shares[fullest]?.oldest() else { return }
            remove(key, from: &state)
        }
    }

    private func remove(_ key: Key, from state: inout State) {
        guard let entry = state.entries.removeValue(forKey: key), entry.response != nil else { return }
        state.size -= entry.size
        state.count -= 1
        guard var share = state.shares.removeValue(forKey: entry.owner) else { return }
        share.size -= entry.size
        share.performed[entry.place] = nil
        if !share.performed.isEmpty { state.shares[entry.owner] = share }
    }

    /// Removes expired responses, once in a second.
    private func sweepIfDue(_ state: inout State, now: Moment) {
        guard state.nextSweep.map({ $0 <= now }) ?? true else { return }
        state.nextSweep = now + .seconds(1)
        for (key, entry) in state.entries where entry.response != nil && now - entry.since > lifetime {
            remove(key, from: &state)
        }
    }
}

extension IdempotencyStore {
    /// Performs a request with a key once.
    func perform(_ call: Call, _ key: Key, _ operation: Operation, now: Moment) async throws -> OperationResult {
        switch begin(key, of: call.shareName, body: call.body, now: now) {
        case .perform:
            // A task of its own goes on when the client leaves, which may repeat the request to receive the response.
            let result = await Task.immediate { try await operation.handler(call).last }.result
            if let response = call.response(for: result) { finished(key, with: response) }
            return try result.get()
        case .replay(let response): return .response(response.with("Idempotency-Replayed", "true"))
        case .inProgress: throw Self.inProgress
        case .otherRequest: throw Self.otherRequest
        }
    }

    package static let inProgress = Problem(
        .idempotencyConflict,
        detail: "The first request with this key is still being processed. Send the repetition again later."
    )
    package static let otherRequest = Problem(
        .idempotencyConflict,
        detail: "The key was used for a request with another body."
    )

    /// The key of a POST with this `Idempotency-Key`.
    package static func key(_ header: String, of call: Call) throws(Problem) -> Key {
        guard (1...255).contains(header.utf8.count) else {
            throw Problem(.malformed, detail: "An Idempotency-Key has 1 to 255 characters.")
        }
        let target = call.request.rawPath + (call.request.rawQuery.map { "?\($0)" } ?? "")
        return Key(caller: scope(of: call), path: target, key: header)
    }

    /// The rights belong to the scope, so that a caller whose rights were reduced, or who shows another token of the
    /// same subject, does not receive a response that its rights do not cover. Callers without credentials do not receive
    /// responses of other networks, which may have the id of a session.
    private static func scope(of call: Call) -> String? {
        let caller = call.caller
        if caller.isAnonymous { return IPNetwork.subscriber(of: call.request.peer.host) }
        return caller.identity.map { "\($0) \(Base64URL.encode(KeyHash.digest(of: caller.rights.line)))" }
    }
}

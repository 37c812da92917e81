internal import FoundationEssentials
internal import HTTPFetch
internal import Logging
internal import Primitives

/// Loads the JWK set of an identity provider from its URL, and again after an interval, or when another configuration is in
/// force.
///
/// Redirects are not followed, so that keys come from the configured host only. While the set cannot be loaded, the
/// keys of the last successful load remain valid. A key that cannot be used is skipped; a set without any other withdraws all
/// keys.
struct KeySetLoader: Sendable {
    /// The largest key set, in bytes.
    static let largestSet = 1 << 20
    /// The longest time for one attempt, from the connection to the last byte.
    static let timeout = Duration.seconds(10)
    /// The pause after a failed attempt.
    static let retryDelay = Duration.seconds(10)
    /// The least time between the warnings of two failures for the same reason.
    static let warningInterval = Duration.seconds(300)

    /// Reads the text at a URL.
    typealias Fetch = @Sendable (_ url: String) async throws -> String

    let access: AccessControl
    /// Ends what callers lose with keys that are no longer in the set.
    let revoke: @Sendable (Revocation) -> Void
    let logger: Logger
    var fetch: Fetch = Self.fetch
    /// Waits until the time of an attempt is over.
    var deadline: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    var pause: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

    /// Loads the set until cancelled. Without a configured URL, only reads the configuration again after each interval.
    func run() async {
        var reported = ""
        var warning: (reason: String, at: Moment)?
        while !Task.isCancelled {
            let reload = access.reloads.next()
            let tokens = access.configuration.webTokens
            var wait = tokens.keySetRefresh
            if let url = tokens.keySetURL {
                do {
                    let text = try await load(url)
                    if let revocation = try access.use(keySet: text, from: url) { revoke(revocation) }
                    report(keysOf: text, from: url, &reported)
                    warning = nil
                } catch {
                    if Task.isCancelled { return }
                    wait = min(wait, Self.retryDelay)
                    warn(of: Self.reason(error), at: url, &warning)
                }
            }
            guard let isReload = try? await rest(wait, orUntil: reload) else { return }
            // The load after a reload has its warning.
            if isReload { warning = nil }
        }
    }

    /// Warns that a set was not loaded: of another reason at once, of the same one after an interval.
    private func warn(of reason: String, at url: String, _ last: inout (reason: String, at: Moment)?) {
        let now = access.clock()
        if let last, reason == last.reason, now - last.at < Self.warningInterval { return }
        last = (reason, now)
        logger.warning(
            "cannot load the JWK set; the keys of the last successful load remain valid",
            metadata: ["url": "\(url)", "reason": "\(reason)", "age": "\(age)"]
        )
    }

    /// Warns of the keys of a set that are not used, by their positions, and of a set without others, once as long as they are
    /// the same.
    ///
    /// - Parameter reported: The warning about the load before; empty: none.
    private func report(keysOf text: String, from url: String, _ reported: inout String) {
        guard let (keys, skipped) = try? KeyMaterial.keySet(text) else { return }
        let positions = KeyMaterial.text(of: skipped)
        let sentence =
            if keys.isEmpty {
                "the JWK set has no key that can be used; no token that its keys signed is valid"
            } else {
                positions.isEmpty ? "" : "keys of the JWK set cannot be used"
            }
        let present = sentence.isEmpty ? "" : "\(sentence) \(positions) \(url)"
        if !present.isEmpty, present != reported {
            logger.warning("\(sentence)", metadata: ["url": "\(url)", "keys": "\(positions)"])
        }
        reported = present
    }

    /// Returns whether a reload has ended the rest.
    private func rest(_ time: Duration, orUntil reload: Awaited<Void>) async throws -> Bool {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await pause(time)
                return false
            }
            group.addTask {
                try await reload.value
                return true
            }
            defer { group.cancelAll() }
            return try await group.next() ?? false
        }
    }

    /// Why a set was not loaded or cannot be used.
    private static func reason(_ error: any Error) -> String {
        (error as? KeySetError)?.reason ?? NetworkError.sentence(error)
    }

    /// The time since the last successful load, as text.
    private var age: String { access.keySetFigures.map { "\($0.age.components.seconds) s" } ?? "never loaded" }

    /// The text at a URL. An attempt ends at its deadline, whatever the server does.
    private func load(_ url: String) async throws -> String {
        try await withThrowingTaskGroup(of: String.self) { group in
            group.addTask { try await fetch(url) }
            group.addTask {
                try await deadline(Self.timeout)
                throw KeySetError(reason: "no complete response within \(Self.timeout.components.seconds) s")
            }
            defer { group.cancelAll() }
            guard let text = try await group.next() else { throw CancellationError() }
            return text
        }
    }

    /// Whether a URL may be configured: `https`, or `http` on a loopback address.
    static func accepts(_ url: String) -> Bool {
        guard let parts = URLComponents(string: url), let host = parts.host, !host.isEmpty, parts.user == nil else {
            return false
        }
        return parts.scheme == "https" || (parts.scheme == "http" && ListeningAddress.isLoopback(host))
    }

    private static func fetch(_ url: String) async throws -> String {
        let response = try await HTTPFetch(url, timeout: timeout).response(upTo: largestSet)
        guard response.status == 200 else { throw KeySetError(reason: "status \(response.status)") }
        return String(decoding: response.body, as: UTF8.self)
    }
}

/// The reason why a key set cannot be used.
struct KeySetError: Error, Equatable, CustomStringConvertible {
    let reason: String
    var description: String { reason }
}

/// Tells the loader of a key set that another configuration is in force.
final class ReloadSignal: Sendable {
    private let waiting = RankedMutex<Awaited<Void>?>(nil)

    /// A wait for the next signal from now on. It replaces the wait before.
    func next() -> Awaited<Void> {
        let next = Awaited<Void>()
        waiting.withLock { $0 = next }
        return next
    }

    /// Another configuration is in force.
    func set() { waiting.withLock { $0 }?.end(.success(())) }
}

internal import Logging
internal import Primitives

/// A host or an origin whose requests are refused, because the configuration does not list it.
enum RefusedName: Hashable, Sendable {
    /// The host that a request names.
    case host(String)
    /// The origin of the page that sent a request.
    case origin(String)
}

/// Logs each refused host and origin once: an operator has to know that the configuration lacks it, and not for each request.
final class RefusedNames: Sendable {
    /// The names that are logged at most; further ones are not, so that callers cannot fill the log.
    static let most = 100

    private let known = RankedMutex<Set<RefusedName>>([])

    /// Logs a name, unless it was logged before.
    func log(_ name: RefusedName, to logger: Logger) {
        let isNew = known.withLock { $0.count < Self.most && $0.insert(name).inserted }
        guard isNew else { return }
        switch name {
        case .host(let host):
            logger.warning(
                "requests for an unknown host are refused; http.hosts lists known ones",
                metadata: ["host": "\(host)"]
            )
        case .origin(let origin):
            logger.warning(
                "requests from pages of another origin are refused; cors.origins lists permitted ones",
                metadata: ["origin": "\(origin)"]
            )
        }
    }
}

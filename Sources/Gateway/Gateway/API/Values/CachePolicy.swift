/// How responses with values may be cached.
package struct ValuesConfiguration: Sendable, Equatable {
    /// How long a cache that serves many may keep values, in seconds; 0: not at all. Default 0.
    package var maxAge = 0
    /// How much longer a cache may serve them while it fetches newer ones, in seconds. Default 5.
    package var staleWhileRevalidate = 5

    /// No caching.
    package init() {}
}

/// The `Cache-Control` of a response with values. Values that a caller reads without credentials can be cached for
/// everybody.
struct CachePolicy: Sendable {
    /// The value of the header.
    let header: String
    /// The value of the header for the values after a cursor: they stay the next ones after it, so that a cache fetches
    /// them once for all readers that are behind.
    let headerAfterCursor: String
    /// The least time between two versions that a reader with cursors gets; nil: none.
    let interval: Duration?

    /// The policy for a caller.
    init(_ configuration: ValuesConfiguration, for caller: Caller) {
        guard configuration.maxAge > 0, caller.identity == nil else {
            (header, headerAfterCursor, interval) = ("no-cache", "no-cache", nil)
            return
        }
        interval = .seconds(configuration.maxAge)
        let stale =
            configuration.staleWhileRevalidate > 0
            ? ", stale-while-revalidate=\(configuration.staleWhileRevalidate)" : ""
        header = "public, max-age=\(configuration.maxAge)\(stale)"
        headerAfterCursor = "public, max-age=\(configuration.maxAge + configuration.staleWhileRevalidate)"
    }
}

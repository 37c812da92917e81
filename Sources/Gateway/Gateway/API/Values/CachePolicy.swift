internal import Changes
internal import Primitives

/// How responses with values may be cached.
package struct ValuesConfiguration: Sendable, Equatable {
    /// How long a cache that serves many may keep values, in seconds; 0: not at all. Default 0.
    package var maxAge = 0
    /// How much longer a cache may serve them while it fetches newer ones, in seconds. Default 5.
    package var staleWhileRevalidate = 5
}

/// The `Cache-Control` of a response with values. Values that a caller reads without credentials can be cached for
/// everybody.
struct CachePolicy: Sendable {
    let header: String
    /// The value of the header for the values after a cursor: they stay the next ones after it, so that a cache fetches
    /// them once for all readers that are behind.
    let headerAfterCursor: String
    /// The time after which readers with cursors get the next version; nil: as soon as it exists.
    private let interval: Duration?

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

    /// The earliest response to a request with a cursor that arrives at a moment: the end of the present interval. The
    /// intervals of a subscription are the same for all readers, so that readers with different cursors get equal
    /// versions, and poll at one URL from then on. The intervals of other subscriptions end at other moments.
    func earliestResponse(to arrival: Moment, of topic: SubscriptionID) -> Moment? {
        guard let length = interval?.clampedNanoseconds else { return nil }
        let begin = Int64(FNV1a.hash(of: topic.rawValue) % UInt64(length))
        let passed = (arrival.nanoseconds - begin) % length
        return arrival.advanced(by: passed < 0 ? -passed : length - passed)
    }
}

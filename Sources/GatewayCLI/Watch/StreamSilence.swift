/// The time without a byte after which a stream of a gateway is lost: a connection can be lost without a sign.
///
/// The gateway does not tell the interval of its heartbeats, which is 15 s unless the configuration has another one. The first
/// heartbeat of a silent stream arrives after half of the interval at least.
struct StreamSilence {
    /// The limit where heartbeats are not rarer.
    static let shortest = Duration.seconds(60)
    /// The longest limit before a heartbeat has arrived.
    private static let longest = Duration.seconds(600)

    /// The time without a byte after which the stream is lost.
    private(set) var limit: Duration

    /// - Parameter isOnly: Whether no other stream can follow; the limit is the longest one then.
    init(isOnly: Bool) { limit = isOnly ? Self.longest : Self.shortest }

    mutating func heartbeat(after pause: Duration) { limit = max(Self.shortest, pause * 4) }

    /// A stream that was open was lost: the heartbeats may be rarer than the limit.
    mutating func exceeded() { limit = min(limit * 2, Self.longest) }
}

internal import TLCP

/// When the next bytes may go, so that a limit in kilobits per second is kept on average.
struct BandwidthGate: Sendable {
    /// What was granted.
    private(set) var granted: GrantedBandwidth

    private var free = Duration.zero
    private let ceiling: Double?

    /// Grants as much as the server's own limits allow.
    init(requested: Double?, limits: ServerLimits) {
        ceiling = limits.bandwidth
        granted = limits.bandwidthUnmanaged ? .unmanaged : .unlimited
        request(requested)
    }

    /// The client asks for another limit, nil for none.
    mutating func request(_ requested: Double?) {
        guard granted != .unmanaged else { return }
        let bounds = [requested, ceiling].compactMap(\.self).filter { $0 > 0 }
        granted = bounds.min().map { .limited($0) } ?? .unlimited
        // What a lower limit has put off need not wait under a higher one.
        free = .zero
    }

    /// The instant before which nothing may go; nil if something may go now.
    func closedUntil(at now: Duration) -> Duration? {
        guard case .limited = granted, free > now else { return nil }
        return free
    }

    /// Bytes have gone.
    mutating func spent(_ bytes: Int, at now: Duration) {
        guard case .limited(let kilobits) = granted else { return }
        free = max(free, now) + .boundedSeconds(Double(bytes) * 8 / (kilobits * 1_000))
    }
}

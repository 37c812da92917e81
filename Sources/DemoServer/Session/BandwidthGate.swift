internal import TLCP

/// A bandwidth limit: the instant at which the next bytes may be sent.
struct BandwidthGate: Sendable {
    private(set) var granted: RealMaxBandwidth

    private var free = Duration.zero
    private let ceiling: Double?

    /// Grants the requested bandwidth, up to the limit of the server.
    init(requested: Double?, limits: ServerLimits) {
        ceiling = limits.bandwidth
        granted = limits.bandwidthUnmanaged ? .unmanaged : .unlimited
        request(requested)
    }

    /// Changes the requested limit in kilobits per second; nil for none.
    mutating func request(_ requested: Double?) {
        guard granted != .unmanaged else { return }
        let bounds = [requested, ceiling].compactMap(\.self).filter { $0 > 0 }
        granted = bounds.min().map { .limited($0) } ?? .unlimited
        // The delay was computed for the former limit.
        free = .zero
    }

    /// The instant before which nothing may be sent; nil if bytes may be sent now.
    func closedUntil(at now: Duration) -> Duration? {
        guard case .limited = granted, free > now else { return nil }
        return free
    }

    /// Accounts for sent bytes.
    mutating func spent(_ bytes: Int, at now: Duration) {
        guard case .limited(let kilobits) = granted else { return }
        free = max(free, now) + .boundedSeconds(Double(bytes) * 8 / (kilobits * 1_000))
    }
}

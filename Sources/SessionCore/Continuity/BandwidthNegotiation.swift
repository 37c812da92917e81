/// Keeps the bandwidth limit asked from the server in step with the option, one `constrain` at a time.
struct BandwidthNegotiation {
    private var requested: RequestedMaxBandwidth?
    private var isUnderWay = false

    /// A session is being created with this limit.
    mutating func begin(with limit: RequestedMaxBandwidth) {
        requested = limit
        isUnderWay = false
    }

    /// The limit to ask for now; nil: none. What is returned counts as asked for.
    mutating func next(option: RequestedMaxBandwidth, real: RealMaxBandwidth?) -> RequestedMaxBandwidth? {
        guard !isUnderWay, real != .unmanaged, option != requested else { return nil }
        requested = option
        isUnderWay = true
        return option
    }

    /// The `constrain` was answered. A limit that was refused is not asked for again until the option changes.
    mutating func answered() { isUnderWay = false }
}

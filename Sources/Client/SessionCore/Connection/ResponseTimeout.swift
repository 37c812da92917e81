/// How long the answer to a request may take: `connectTimeout`, or with `auto` `currentConnectTimeout`, which grows
/// while requests stay unanswered.
struct ResponseTimeout {
    private static let ceiling = Duration.seconds(60)
    private static let constantExpiries = 9

    private var base: Duration
    private var grown: Duration
    private var expiries = 0

    init(base: Duration) {
        self.base = base
        grown = base
    }

    func value(for option: ConnectTimeout) -> Duration {
        switch option {
        case .auto: grown
        case .seconds(let seconds): Duration(optionSeconds: seconds)
        }
    }

    /// The value that `currentConnectTimeout` shows.
    var current: Duration { grown }

    /// The user set `currentConnectTimeout`.
    mutating func rebase(to base: Duration) {
        self.base = base
        reset()
    }

    /// A creation or recovery request stayed unanswered.
    mutating func expired() {
        expiries = min(expiries + 1, Self.constantExpiries + 1)
        guard expiries > Self.constantExpiries else { return }
        grown = min(max(Self.ceiling, base), grown * 2)
    }

    /// The server is overloaded: the timeout grows to its maximum.
    mutating func serverOverloaded() { grown = max(Self.ceiling, base) }

    /// A stream connection was established.
    mutating func reset() {
        grown = base
        expiries = 0
    }
}

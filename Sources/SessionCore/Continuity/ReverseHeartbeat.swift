/// When the client must send something, so that the server knows it is there.
///
/// The interval declared with a bind can be shortened later by the option, but neither lengthened nor switched off
/// before the next bind.
struct ReverseHeartbeat {
    private var declared = Duration.zero
    /// Whether there is a connection that heartbeats belong to.
    private(set) var isActive = false

    /// A bind is being sent; `interval` is what it declares, zero for nothing.
    mutating func declare(_ interval: Duration) { declared = interval }

    /// The connection that heartbeats belong to is established.
    mutating func begin() { isActive = true }

    /// The connection is left.
    mutating func end() {
        isActive = false
        declared = .zero
    }

    /// The time from one request to the heartbeat that follows; nil: there are none.
    func interval(option: Duration) -> Duration? {
        guard isActive else { return nil }
        guard declared > .zero else { return option > .zero ? option : nil }
        return option > .zero ? min(option, declared) : declared
    }
}

/// An occasion at which a fault can strike.
package enum FaultMoment: Sendable, Hashable {
    /// As soon as the fault is installed, on every stream connection that is open at that instant.
    case now

    /// Right after the given number of data notifications (at least 1) was written on one stream connection.
    case data(Int)

    /// When a request of this kind arrives, in place of or beside its normal answer.
    case request(FaultRequest)
}

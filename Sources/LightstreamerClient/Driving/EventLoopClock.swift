internal import SessionCore
internal import TLCPTransports

/// The clock of the network threads, and the random numbers of the system.
struct EventLoopClock: ClientClock {
    private let loop: EventLoops.Timers

    init(_ loops: EventLoops) { loop = loops.timers() }

    func now() -> Moment { Moment(nanoseconds: Int64(clamping: EventLoops.uptimeNanoseconds)) }

    func random() -> Double { Double.random(in: 0..<1) }

    func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> any ClientTimer {
        ScheduledTimer(cancellation: loop.schedule(afterNanoseconds: max(0, delay.clampedNanoseconds), body))
    }

    private struct ScheduledTimer: ClientTimer {
        let cancellation: @Sendable () -> Void

        func cancel() { cancellation() }
    }
}

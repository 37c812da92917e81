internal import Dispatch
import LightstreamerClient
import NIOCore
import Primitives

/// The network thread of a process: runs its work in order.
///
/// `@unchecked Sendable`: used by the thread of the simulation only.
final class SimulatedLoop: EventLoop, @unchecked Sendable {
    private let channel: SimulatedChannel

    init(_ simulator: Simulator, of process: Int) { channel = SimulatedChannel(simulator, to: process) }

    var inEventLoop: Bool { true }

    func execute(_ task: @escaping @Sendable () -> Void) { channel.send(after: .zero, task) }

    func scheduleTask<T>(deadline _: NIODeadline, _: @escaping @Sendable () throws -> T) -> Scheduled<T> {
        preconditionFailure("timers are those of SimulatedClock")
    }

    func scheduleTask<T>(in _: TimeAmount, _: @escaping @Sendable () throws -> T) -> Scheduled<T> {
        preconditionFailure("timers are those of SimulatedClock")
    }

    func shutdownGracefully(queue _: DispatchQueue, _ callback: @escaping @Sendable ((any Error)?) -> Void) {
        callback(nil)
    }
}

/// Time, timers and random numbers of the upstream clients of a process.
struct SimulatedClock: ClientClock {
    let simulator: Simulator

    func now() -> Moment { simulator.now }

    func random() -> Double { Double.random(in: 0..<1, using: &simulator.generator) }

    func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let timer = simulator.schedule(after: max(delay, .microseconds(1)), body)
        return { timer.cancel() }
    }
}

import Glibc
import Primitives
import StreamIO

@testable import MicroHTTPD

/// The streams of one process: the scheduler and the writers of a loop, over pairs of sockets.
final class SimulatedStreams {
    let scheduler: StreamScheduler
    private let simulator: Simulator
    private let process: Int
    private let poller: Poller
    private var isInPass = false
    private var next: (at: Moment, timer: SimulatedTimer)?

    init(_ simulator: Simulator, of process: Int) throws {
        (self.simulator, self.process) = (simulator, process)
        poller = try Poller()
        scheduler = StreamScheduler(poller: poller, configuration: DaemonConfiguration(), now: simulator.now)
    }

    /// Opens a stream; returns the client's end of its connection.
    func open(_ stream: AdmittedStream) -> Int32? {
        var pair: [Int32] = [0, 0]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &pair) == 0 else {
            stream.onEnd(.neverOpened)
            return nil
        }
        // Some clients are slow soon.
        var size: Int32 = Bool.random(using: &simulator.generator) ? 4096 : 65536
        setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        let descriptor = pair[0]
        let writer = scheduler.open(stream, framing: .chunked) { stream in
            let connection = StreamConnection(sink: .socket(descriptor), descriptor: descriptor) { close(descriptor) }
            return StreamWriter(connection: connection, head: SharedBytes([]), stream: stream, isChunked: true)
        }
        wake()
        if writer == nil { close(pair[1]) }
        return writer == nil ? nil : pair[1]
    }

    /// Events are due, or the client's end of a connection has changed. A publishing thread writes them itself at times.
    func wake() {
        if !isInPass, simulator.current == process, Bool.random(using: &simulator.generator) {
            isInPass = true
            defer { isInPass = false }
            if scheduler.writeDirectly(clock: { self.simulator.now }) { return }
        }
        passes(at: simulator.now)
    }

    private func passes(at moment: Moment) {
        if let next, next.at <= moment { return }
        next?.timer.cancel()
        let timer = simulator.schedule(after: moment - simulator.now, as: process) { [weak self] in self?.pass() }
        next = (moment, timer)
    }

    private func pass() {
        next = nil
        isInPass = true
        scheduler.advance(to: simulator.now)
        poller.wait(milliseconds: 0)
        for index in 0..<poller.count {
            scheduler.noticed(StreamID(rawValue: poller[index].token), poller[index].events)
        }
        scheduler.askFeed()
        scheduler.serve { self.simulator.now }
        isInPass = false
        if scheduler.hasQueue { return passes(at: simulator.now + .microseconds(50)) }
        if scheduler.nextTick != .never { passes(at: max(scheduler.nextTick, simulator.now + .microseconds(50))) }
    }
}

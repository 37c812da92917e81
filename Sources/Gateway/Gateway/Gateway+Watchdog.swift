internal import MicroHTTPD
internal import Primitives
internal import SessionPool

/// How often each network thread has come round.
private final class NetworkRounds: Sendable {
    private let counts: RankedMutex<[UInt64]>

    init(count: Int) { counts = RankedMutex(Array(repeating: 0, count: count)) }

    var all: [UInt64] { counts.withLock { $0 } }

    func cameRound(_ index: Int) { counts.withLock { $0[index] &+= 1 } }
}

extension Gateway {
    /// The time between two calls of all threads.
    private static let watchInterval = Duration.seconds(1)

    /// Calls the threads of the process, and notes which of them come round, until cancelled.
    func watch(_ daemon: Daemon) async {
        let (watchdog, pool) = (host.services.process.watchdog, pool)
        let network = NetworkRounds(count: pool.threadCount)
        watchdog.watch {
            var subjects: [Watchdog.Subject] = []
            for (index, loop) in daemon.loops.enumerated() {
                subjects.append(Watchdog.Subject("HTTP thread \(index)", rounds: loop.rounds))
            }
            for (index, rounds) in network.all.enumerated() {
                subjects.append(Watchdog.Subject("network thread \(index)", rounds: rounds))
            }
            for client in pool.clients() {
                subjects.append(Watchdog.Subject("client \(client.id)", rounds: client.core.waitingWork))
            }
            return subjects
        }
        // The subjects refer to the daemon, which refers to the handler and so to the watchdog.
        defer { watchdog.watch { [] } }
        while !Task.isCancelled {
            watchdog.check(at: Moment.monotonic())
            for loop in daemon.loops { loop.call() }
            pool.onEachThread { network.cameRound($0) }
            try? await Task.sleep(for: Self.watchInterval)
        }
    }
}

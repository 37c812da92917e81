internal import Primitives
package import StreamIO

/// An HTTP server: libmicrohttpd accepts, parses and answers; the loops of this module run the library and write the
/// open responses. Each loop is a shard with a thread, connections and streams of its own; all of them accept from one
/// listening socket.
package final class Daemon: Sendable {
    /// Makes the feed of a loop: called once for each shard, on the shard's thread.
    package typealias FeedMaker = @Sendable (StreamLoop) -> any StreamFeed

    private struct Running {
        var listener: ListeningSocket?
        var loops: [StreamLoop] = []
        var threads: [LoopThread] = []

        func end() {
            listener?.close()
            loops.forEach { $0.mailbox.post(.close) }
            threads.forEach { $0.join() }
        }
    }

    private enum State {
        /// *Leaves to* `running`, `closed`.
        case new
        /// *Entered* by `start`; *leaves to* `closed`.
        case running(Running)
        /// *Entered* by `close`.
        case closed(DaemonFigures)
    }

    private let configuration: DaemonConfiguration
    private let handler: any HTTPHandler
    private let makeFeed: FeedMaker
    private let ledger: ConnectionLedger
    private let state = RankedMutex(State.new, rank: .daemon)

    /// A daemon that is not yet listening.
    package init(configuration: DaemonConfiguration, handler: any HTTPHandler, feed: @escaping FeedMaker) {
        self.configuration = configuration.corrected
        self.handler = handler
        makeFeed = feed
        ledger = ConnectionLedger(self.configuration)
    }

    deinit {
        state.withLock { state in
            if case .running = state { assertionFailure("a daemon that was started has to be closed") }
        }
    }

    /// Listens, and serves until `close`. Raises the process's soft limit of descriptors to the hard one.
    ///
    /// - Returns: The port.
    /// - Throws: `DaemonError`; the daemon is then as it was before.
    package func start() throws(DaemonError) -> UInt16 {
        try state.withLock { state throws(DaemonError) in
            guard case .new = state else { throw .notStartable }
            ledger.lower(to: try configuration.connectionLimit(descriptors: DescriptorLimit.raise()))
            let listener = try ListeningSocket.open(configuration)
            let drivers: [LoopDriver]
            do throws(DaemonError) {
                drivers = try makeDrivers(listener)
            } catch {
                listener.close()
                throw error
            }
            let running = Running(listener: listener, loops: drivers.map(\.loop), threads: drivers.map(LoopThread.init))
            state = .running(running)
            guard running.threads.allSatisfy(\.isRunning) else {
                state = .new
                running.end()
                throw .systemRefused("no thread")
            }
            return listener.port
        }
    }

    /// The loops, one a shard; empty before `start` and after `close`.
    package var loops: [StreamLoop] {
        state.withLock { state in
            if case .running(let running) = state { running.loops } else { [] }
        }
    }

    /// The figures of all shards together, as of the loops' present passes.
    package var figures: DaemonFigures {
        state.withLock { state in
            switch state {
            case .new: DaemonFigures()
            case .running(let running): sum(running.loops)
            case .closed(let last): last
            }
        }
    }

    /// Uses another certificate for new connections; open ones keep theirs. The present one again has no effect.
    ///
    /// - Throws: `startRefused` if the certificate or key cannot be used; the old certificate then stays in use.
    package func replaceCertificate(_ certificate: DaemonConfiguration.Certificate) async throws(DaemonError) {
        let loops = loops
        guard !loops.isEmpty else { throw .notRunning }
        for loop in loops {
            let failure = await withCheckedContinuation { continuation in
                loop.mailbox.post(.replaceCertificate(certificate) { continuation.resume(returning: $0) })
            }
            if let failure { throw failure }
        }
    }

    /// Closes the listening socket. Connections and streams stay open; every later response closes its connection.
    package func stopAccepting() {
        state.withLock { state in
            guard case .running(var running) = state else { return }
            running.listener?.close()
            running.listener = nil
            running.loops.forEach { $0.mailbox.post(.stopAccepting) }
            state = .running(running)
        }
    }

    /// Waits until no request and no stream is open, up to a time.
    ///
    /// - Returns: True if none is open.
    package func drain(within limit: Duration) async -> Bool {
        let end = Moment.monotonic() + limit
        var isQuiet = true
        for loop in loops {
            let isLoopQuiet = await withCheckedContinuation { continuation in
                loop.mailbox.post(.drain(until: end) { continuation.resume(returning: $0) })
            }
            isQuiet = isQuiet && isLoopQuiet
        }
        return isQuiet
    }

    /// Ends all streams (`daemonClosed`), answers waiting requests with 503, closes all connections, waits for the
    /// threads and frees all resources. May be called twice; not on a loop's own thread.
    package func close() {
        let running: Running? = state.withLock { state in
            defer {
                if case .running(let running) = state {
                    state = .closed(sum(running.loops))
                } else if case .new = state {
                    state = .closed(DaemonFigures())
                }
            }
            if case .running(let running) = state { return running } else { return nil }
        }
        running?.end()
    }

    private func makeDrivers(_ listener: ListeningSocket) throws(DaemonError) -> [LoopDriver] {
        var drivers: [LoopDriver] = []
        do throws(DaemonError) {
            for _ in 0..<configuration.shards {
                let driver = try LoopDriver(
                    loop: StreamLoop(),
                    configuration: configuration,
                    handler: handler,
                    ledger: ledger,
                    listener: listener.duplicate(),
                    makeFeed: makeFeed
                )
                drivers.append(driver)
            }
        } catch {
            drivers.forEach { $0.shutDown() }
            throw error
        }
        return drivers
    }

    private func sum(_ loops: [StreamLoop]) -> DaemonFigures {
        var total = DaemonFigures()
        for loop in loops {
            total.add(loop.figures.withLock { $0 })
            total.streamBytes &+= loop.streamBytes.load(ordering: .relaxed)
        }
        ledger.report(in: &total)
        return total
    }
}

/// The figures of a daemon, for metrics.
package struct DaemonFigures: Sendable, Hashable {
    package var connections = 0
    package var streams = 0
    /// Streams whose client accepts no bytes at present.
    package var blockedStreams = 0
    package var acceptedConnections: UInt64 = 0
    /// Connections refused so far because of a limit.
    package var refusedConnections: UInt64 = 0
    /// Requests that a handler answered so far.
    package var requests: UInt64 = 0
    package var refusedRequests: UInt64 = 0
    package var bodies = MemoryUse()
    package var responses = MemoryUse()
    package var streamBytes: UInt64 = 0

    package init() {}

    /// Adds the counters of one shard, without the bytes of streams; the ledger counts connections for all shards.
    mutating func add(_ shard: DaemonFigures) {
        streams += shard.streams
        blockedStreams += shard.blockedStreams
        requests &+= shard.requests
        refusedRequests &+= shard.refusedRequests
    }
}

/// The memory in use of a budget.
package struct MemoryUse: Sendable, Hashable {
    package var used: Int
    /// The bytes that may be in use; `Int.max` without a limit.
    package var limit: Int

    package init(used: Int = 0, limit: Int = .max) {
        self.used = used
        self.limit = limit
    }
}

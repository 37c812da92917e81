internal import NIOCore
internal import Synchronization

/// Where a server is in its life: not yet listening, listening, or over. The bridge from any thread to the event loop.
final class ServerRuntime: Sendable {
    /// Something to be done by the driver, on its event loop.
    typealias Command = @Sendable (ServerDriver) -> Void

    private enum Phase {
        /// Made, not run. Orders wait. *Leaves to* `starting`.
        case waiting
        /// Run, not yet listening. Orders wait. *Leaves to* `listening` or `over`.
        case starting
        /// Listening on a port. *Leaves to* `over`.
        case listening(NIOLoopBound<ServerDriver>, port: Int)
        /// Run to its end.
        case over
    }

    private struct State {
        var phase = Phase.waiting
        var orders: [Command] = []
        var waiters: [Int: CheckedContinuation<Int, any Error>] = [:]
        var lastWaiter = 0
    }

    private static let maxOrders = 100_000

    private let state = Mutex(State())

    /// The server is run.
    func start() throws(DemoServerError) {
        let isFirst = state.withLock { state in
            guard case .waiting = state.phase else { return false }
            state.phase = .starting
            return true
        }
        if !isFirst { throw .alreadyRun }
    }

    /// The server listens; orders that waited are carried out first.
    func listens(on port: Int, _ driver: NIOLoopBound<ServerDriver>) {
        let (orders, waiters) = state.withLock { state in
            state.phase = .listening(driver, port: port)
            defer {
                state.orders = []
                state.waiters = [:]
            }
            return (state.orders, state.waiters)
        }
        driver.eventLoop.execute { for order in orders { order(driver.value) } }
        for waiter in waiters.values { waiter.resume(returning: port) }
    }

    /// The server is over.
    func end() {
        let waiters = state.withLock { state in
            state.phase = .over
            state.orders = []
            defer { state.waiters = [:] }
            return state.waiters
        }
        for waiter in waiters.values { waiter.resume(throwing: DemoServerError.ended) }
    }

    /// Has something done on the event loop and waits for it; before the server listens it waits in turn instead, and
    /// nothing is done once it is over.
    ///
    /// Merely handing it over would not keep the order: the loop reads its sockets before it does what it was handed.
    func perform(_ order: @escaping Command) async {
        let driver: NIOLoopBound<ServerDriver>? = state.withLock { state in
            switch state.phase {
            case .waiting, .starting:
                if state.orders.count < ServerRuntime.maxOrders { state.orders.append(order) }
                return nil
            case .listening(let driver, _):
                return driver
            case .over:
                return nil
            }
        }
        guard let driver else { return }
        // Fails only when the loop has ended, and the server with it.
        try? await driver.eventLoop.submit { order(driver.value) }.get()
    }

    /// Waits for the server to listen.
    func port() async throws -> Int {
        let number = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let answer: Result<Int, any Error>? = state.withLock { state in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    switch state.phase {
                    case .waiting, .starting:
                        state.waiters[number] = continuation
                        return nil
                    case .listening(_, let port): return .success(port)
                    case .over: return .failure(DemoServerError.ended)
                    }
                }
                if let answer { continuation.resume(with: answer) }
            }
        } onCancel: {
            let waiter = state.withLock { $0.waiters.removeValue(forKey: number) }
            waiter?.resume(throwing: CancellationError())
        }
    }

    /// How much the server holds; nothing while it does not listen.
    func census() async -> ServerCensus {
        let driver: NIOLoopBound<ServerDriver>? = state.withLock { state in
            if case .listening(let driver, _) = state.phase { driver } else { nil }
        }
        guard let driver else { return ServerCensus() }
        let census = try? await driver.eventLoop.submit { driver.value.census }.get()
        return census ?? ServerCensus()
    }
}

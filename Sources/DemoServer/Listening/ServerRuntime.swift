internal import NIOCore
internal import Primitives

/// The phase of a server, and the way from any thread to its event loop.
final class ServerRuntime: Sendable {
    /// A call of the driver, on its event loop.
    typealias Command = @Sendable (ServerDriver) -> Void

    private enum Phase {
        /// `run()` was not called yet. Commands are queued. *Leaves to* `starting`.
        case waiting
        /// `run()` was called; the server does not listen yet. Commands are queued. *Leaves to* `listening` or `over`.
        case starting
        /// Listening on a port. *Leaves to* `over`.
        case listening(NIOLoopBound<ServerDriver>, port: Int)
        /// `run()` has ended.
        case over
    }

    private struct State {
        var phase = Phase.waiting
        var commands: [Command] = []
        /// The calls that wait for the port.
        var waiters: [Awaited<Int>] = []
    }

    private static let maxCommands = 100_000

    private let state = RankedMutex(State())

    /// `run()` was called.
    func start() throws(DemoServerError) {
        let isFirst = state.withLock { state in
            guard case .waiting = state.phase else { return false }
            state.phase = .starting
            return true
        }
        if !isFirst { throw .alreadyRun }
    }

    /// The server listens; queued commands are performed first.
    func listens(on port: Int, _ driver: NIOLoopBound<ServerDriver>) {
        let (commands, waiters) = state.withLock { state in
            state.phase = .listening(driver, port: port)
            defer {
                state.commands = []
                state.waiters = []
            }
            return (state.commands, state.waiters)
        }
        driver.eventLoop.execute { for command in commands { command(driver.value) } }
        for waiter in waiters { waiter.end(.success(port)) }
    }

    func end() {
        let waiters = state.withLock { state in
            state.phase = .over
            state.commands = []
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.end(.failure(DemoServerError.ended)) }
    }

    /// Performs a command on the event loop and waits for it. Before the server listens the command is queued; after
    /// its end the command is dropped.
    ///
    /// Without waiting, requests of clients sent after this call could be read before the command is performed.
    func perform(_ command: @escaping Command) async {
        let driver: NIOLoopBound<ServerDriver>? = state.withLock { state in
            switch state.phase {
            case .waiting, .starting:
                if state.commands.count < ServerRuntime.maxCommands { state.commands.append(command) }
                return nil
            case .listening(let driver, _): return driver
            case .over: return nil
            }
        }
        guard let driver else { return }
        // Fails only when the loop has ended, and the server with it.
        try? await driver.eventLoop.submit { command(driver.value) }.get()
    }

    /// Waits for the server to listen.
    func port() async throws -> Int {
        try Task.checkCancellation()
        let waiter = Awaited<Int>()
        let answer: Result<Int, any Error>? = state.withLock { state in
            switch state.phase {
            case .waiting, .starting:
                state.waiters.append(waiter)
                return nil
            case .listening(_, let port): return .success(port)
            case .over: return .failure(DemoServerError.ended)
            }
        }
        if let answer { waiter.end(answer) }
        return try await waiter.value
    }

    /// A value of the driver; the standard value while the server does not listen.
    func read<Value: Sendable>(_ standard: Value, _ value: @escaping @Sendable (ServerDriver) -> Value) async -> Value {
        let driver: NIOLoopBound<ServerDriver>? = state.withLock { state in
            if case .listening(let driver, _) = state.phase { driver } else { nil }
        }
        guard let driver else { return standard }
        return (try? await driver.eventLoop.submit { value(driver.value) }.get()) ?? standard
    }
}

package import Logging

/// An embedded TLCP 2.5.0 server with seeded data, and with misbehaviour on demand.
///
/// It runs once: `run()` listens, serves, and ends by cancellation of its task; `boundPort` tells where. All the other
/// methods may be called from anywhere at any time, and return when what they ask for is done; what is asked before the
/// server listens is done before it takes its first connection.
package final class DemoServer: Sendable {
    /// What the server was made with.
    package let configuration: DemoServerConfiguration

    private let logger: Logger
    private let runtime = ServerRuntime()

    /// Makes a server that is not yet running.
    ///
    /// - Parameters:
    ///   - configuration: Addresses, data, limits, faults.
    ///   - logger: Where the server tells what it does, at `debug` and `trace`.
    package init(_ configuration: DemoServerConfiguration = .init(), logger: Logger = Logger(label: "demo-server")) {
        self.configuration = configuration
        self.logger = logger
    }

    /// Listens and serves until the surrounding task is cancelled; then closes every connection and returns.
    ///
    /// - Throws: `DemoServerError`.
    package func run() async throws {
        try runtime.start()
        defer { runtime.end() }
        try await Listener(configuration: configuration, logger: logger).run(on: runtime)
    }

    /// The port that the server listens on; waits until it does.
    ///
    /// - Throws: `DemoServerError.ended` if it never will; `CancellationError`.
    package var boundPort: Int {
        get async throws { try await runtime.port() }
    }

    /// Puts misbehaviour in place, in addition to what is there already.
    package func install(_ faults: [Fault]) async {
        await runtime.perform { $0.install(faults) }
    }

    /// Takes all misbehaviour away that has not happened yet; mute, stalled and half-open connections stay so.
    package func clearFaults() async {
        await runtime.perform { $0.clearFaults() }
    }

    /// Makes a hand-driven feed publish.
    ///
    /// - Parameters:
    ///   - order: What happens; ignored if the feed has no such item or too many values are given.
    ///   - adapter: Name of a feed of `DemoServerConfiguration.manualFeeds`; orders for others are ignored.
    package func publish(_ order: FeedRequest, to adapter: String) async {
        await runtime.perform { $0.publish(order, to: adapter) }
    }

    /// Closes the sessions with `END`, as an administrator would.
    ///
    /// - Parameters:
    ///   - code: Session code to tell; 32 means closed on the server side, 48 asks for a new session.
    ///   - message: Text to tell.
    package func endSessions(code: Int, message: String) async {
        await install([Fault(.end(code: code, message: message), at: .now)])
    }

    /// How much the server holds at this moment; all zero while it does not run.
    package func census() async -> ServerCensus {
        await runtime.census()
    }
}

/// Why a demo server does not run.
package enum DemoServerError: Error, Sendable, Hashable {
    /// `run()` was called a second time; a server runs once.
    case alreadyRun
    /// The server ended before it listened.
    case ended
    /// The address cannot be listened on.
    case cannotListen(reason: String)
}

/// How much a server holds.
package struct ServerCensus: Sendable, Hashable {
    /// Sessions, bound or not.
    package var sessions = 0
    /// Sessions that are bound to a stream connection.
    package var boundSessions = 0
    /// Open WebSockets and unfinished HTTP exchanges.
    package var connections = 0
    /// Active subscriptions of all sessions.
    package var subscriptions = 0
    /// Those of bound sessions: a session without a stream connection is kept for a while, for a recovery.
    package var boundSubscriptions = 0
    /// Data notifications committed since the start.
    package var notifications = 0

    /// An empty server.
    package init() {}
}

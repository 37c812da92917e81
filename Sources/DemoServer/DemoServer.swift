package import Logging

/// An embedded TLCP 2.5.0 server with seeded data and configurable faults.
///
/// A server runs once: `run()` listens, serves, and ends by cancellation of its task; `boundPort` is the port. The other
/// methods may be called from any thread at any time and return when they have taken effect. Calls made before the
/// server listens take effect before its first connection.
package final class DemoServer: Sendable {
    /// Addresses, data, limits and faults.
    package let configuration: DemoServerConfiguration

    private let logger: Logger
    private let runtime = ServerRuntime()

    /// Makes a server that is not yet running.
    ///
    /// - Parameters:
    ///   - configuration: Addresses, data, limits, faults.
    ///   - logger: Receives connections and messages at `debug` and `trace`.
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

    /// The port that the server listens on; waits until the server listens.
    ///
    /// - Throws: `DemoServerError.ended` if the server ended before; `CancellationError`.
    package var boundPort: Int { get async throws { try await runtime.port() } }

    /// Installs faults, in addition to those that are installed already.
    package func install(_ faults: [Fault]) async {
        await runtime.perform { $0.report { $0.faultsInstalled(faults, at: $1) } }
    }

    /// Makes a feed publish. Only the manual feeds remember what they published; the next event of another feed has its own
    /// values again.
    ///
    /// - Parameters:
    ///   - request: The event; ignored if the feed has no such item or fewer fields than values.
    ///   - adapter: Name of a feed; requests for unknown ones are ignored.
    package func publish(_ request: FeedRequest, to adapter: String) async {
        await runtime.perform { $0.report { $0.published(request, to: adapter, at: $1) } }
    }

    /// Closes all sessions with `END`, as an administrator would.
    ///
    /// - Parameters:
    ///   - code: Session code; 32 means closed on the server side, 48 asks for a new session.
    ///   - message: Text of `END`.
    package func endSessions(code: Int, message: String) async {
        await install([Fault(.end(code: code, message: message), at: .now)])
    }

    /// Changes fields of an item. The other fields keep their values in a MERGE item and in the row of a key; otherwise they
    /// are null.
    ///
    /// - Parameters:
    ///   - item: The item; ignored if the feed has no such item.
    ///   - values: The new values by field; ignored if the feed has not all of the fields.
    ///   - adapter: Name of a feed; unknown ones are ignored.
    package func change(_ item: String, _ values: [String: String?], of adapter: String) async {
        await runtime.perform { $0.report { $0.changed(item, values, of: adapter, at: $1) } }
    }

    /// Waits until the counts have met a condition; a passing state is not missed.
    ///
    /// - Parameter condition: Called with the present counts, and after each event of the server, on its event loop.
    /// - Throws: `DemoServerError.ended` if the server ended before; `CancellationError`.
    package func waits(until condition: @escaping @Sendable (ServerCensus) -> Bool) async throws {
        let (arrivals, arrival) = AsyncStream<Void>.makeStream()
        // The server has the only reference after this line: the stream ends with a watch that the server drops.
        await watch(CensusWatch(condition, arrival))
        for await _ in arrivals { return }
        try Task.checkCancellation()
        throw DemoServerError.ended
    }

    private func watch(_ watch: CensusWatch) async { await runtime.perform { $0.add(watch) } }

    /// Responds to messages with this text as to messages with another; nil removes the rule.
    ///
    /// - Parameters:
    ///   - text: The whole text of a message.
    ///   - command: The text that decides instead: `ECHO|…`, `FAIL|code|…`, `DELAY|ms|…`, see `MetadataAdapter`.
    package func respond(to text: String, as command: String?) async {
        await runtime.perform { $0.respond(to: text, as: command) }
    }

    /// The texts of the last messages that the server accepted, oldest first; empty while the server does not run.
    package func messages() async -> [String] { await runtime.read([]) { $0.machine.host.metadata.messages } }

    /// Moves the time of a server with `DemoServerConfiguration.hasManualClock`, and performs what becomes due.
    package func advance(by duration: Duration) async { await runtime.perform { $0.advance(by: duration) } }

    /// The present counts; all zero while the server does not run.
    package func census() async -> ServerCensus { await runtime.read(ServerCensus()) { $0.machine.census } }
}

/// Failures of `run()` and `boundPort`.
package enum DemoServerError: Error, Sendable, Hashable {
    /// `run()` was called a second time; a server runs once.
    case alreadyRun
    /// The server ended before it listened.
    case ended
    /// The address cannot be listened on.
    case cannotListen(reason: String)
}

/// The numbers of connections, sessions and subscriptions of a server.
public struct ServerCensus: Sendable, Hashable {
    /// Sessions, bound or not.
    public var sessions = 0
    /// Sessions that are bound to a stream connection.
    public var boundSessions = 0
    /// Open WebSockets and unfinished HTTP exchanges.
    public var connections = 0
    /// Active subscriptions of all sessions.
    public var subscriptions = 0
    /// Active subscriptions of bound sessions only. A session without a stream connection is kept for a while, for a
    /// recovery.
    public var boundSubscriptions = 0
    /// Data notifications committed since the start.
    public var notifications = 0
    /// Messages of clients accepted since the start.
    public var messages = 0

    /// An empty server.
    public init() {}
}

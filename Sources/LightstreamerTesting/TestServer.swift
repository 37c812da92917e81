public import DemoServer

/// A Lightstreamer server in the process of a test: on a port of its own, with data that the test publishes and faults that
/// the test causes.
///
/// The methods may be called from any task. They return when they have taken effect, so that requests which clients send
/// afterwards find the new state. The server ends with `stop()`, or when the last reference is released.
public final class TestServer: Sendable {
    /// The address for clients, on the loopback interface.
    public let address: String
    /// The name of the Adapter Set for clients.
    public let adapterSet: String

    private let server: DemoServer
    private let adapters: [String: TestAdapter]
    /// Ends when the server has closed all connections.
    private let serving: Task<Void, any Error>

    private init(_ server: DemoServer, _ serving: Task<Void, any Error>, port: Int, _ adapters: [TestAdapter]) {
        self.server = server
        self.serving = serving
        self.adapters = Dictionary(uniqueKeysWithValues: adapters.map { ($0.name, $0) })
        address = "http://\(server.configuration.host):\(port)"
        adapterSet = server.configuration.adapterSets.first ?? "DEFAULT"
    }

    deinit { serving.cancel() }

    /// Starts a server, and waits until it listens.
    ///
    /// - Parameters:
    ///   - adapters: The data adapters, with different names.
    ///   - options: The other properties.
    /// - Throws: `TestServerError` with `invalidAdapter` or `cannotListen`; `CancellationError`.
    public static func start(
        _ adapters: TestAdapter...,
        options: TestServerOptions = TestServerOptions()
    ) async throws -> TestServer {
        try await start(adapters, options: options)
    }

    /// Starts a server, and waits until it listens.
    ///
    /// - Parameters:
    ///   - adapters: The data adapters, with different names.
    ///   - options: The other properties.
    /// - Throws: `TestServerError` with `invalidAdapter` or `cannotListen`; `CancellationError`.
    public static func start(
        _ adapters: [TestAdapter],
        options: TestServerOptions = TestServerOptions()
    ) async throws -> TestServer {
        let server = DemoServer(try options.configuration(with: adapters), logger: options.logger)
        let serving = Task { try await server.run() }
        do {
            return TestServer(server, serving, port: try await server.boundPort, adapters)
        } catch {
            serving.cancel()
            if case .failure(DemoServerError.cannotListen(let reason)) = await serving.result {
                throw TestServerError(.cannotListen, reason)
            }
            throw error
        }
    }

    /// Closes all connections and the port, and returns when they are closed. A second call has no effect.
    public func stop() async {
        serving.cancel()
        _ = await serving.result
    }

    /// Changes an item.
    ///
    /// In a MERGE item, and in the row of a key of a COMMAND item, the fields without a new value keep theirs.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - values: The new values by field; a value of nil is null. In COMMAND mode `key` and `command` are required.
    ///   - adapter: The adapter of the item.
    /// - Throws: `TestServerError` if the server has no such adapter, item or field, or if `key` or `command` is missing.
    public func update(_ item: String, _ values: [String: String?], in adapter: String = "DEFAULT") async throws {
        let known = try self.adapter(adapter, with: item)
        if let field = values.keys.sorted().first(where: { !known.fields.contains($0) }) {
            throw TestServerError(.unknownField, field)
        }
        if known.mode == .command {
            let (key, command) = (values["key"] ?? nil, values["command"] ?? nil)
            guard let key, !key.isEmpty, ["ADD", "UPDATE", "DELETE"].contains(command) else {
                throw TestServerError(.missingKey, item)
            }
        }
        await server.change(item, values, of: adapter)
    }

    /// Completes the snapshot of an item of an adapter with `TestAdapter.holdsSnapshots`.
    ///
    /// - Throws: `TestServerError` if the server has no such adapter or item.
    public func endSnapshot(of item: String, in adapter: String = "DEFAULT") async throws {
        _ = try self.adapter(adapter, with: item)
        await server.publish(.endSnapshot(item: item), to: adapter)
    }

    /// Clears the snapshot of a DISTINCT or COMMAND item; in MERGE mode all fields of the item become null.
    ///
    /// - Throws: `TestServerError` if the server has no such adapter or item.
    public func clearSnapshot(of item: String, in adapter: String = "DEFAULT") async throws {
        _ = try self.adapter(adapter, with: item)
        await server.publish(.clear(item: item), to: adapter)
    }

    /// Reports that updates of an item were lost, to the subscriptions for which a server reports losses: unfiltered
    /// subscriptions, and those with the mode RAW or COMMAND.
    ///
    /// - Throws: `TestServerError` if the server has no such adapter or item.
    public func loseUpdates(_ count: Int, of item: String, in adapter: String = "DEFAULT") async throws {
        _ = try self.adapter(adapter, with: item)
        await server.publish(.lose(item: item, count: count), to: adapter)
    }

    private func adapter(_ name: String, with item: String) throws(TestServerError) -> TestAdapter {
        guard let adapter = adapters[name] else { throw TestServerError(.unknownAdapter, name) }
        guard adapter.items.isEmpty || adapter.items.contains(item) else { throw TestServerError(.unknownItem, item) }
        return adapter
    }

    /// Installs faults, in addition to those that are installed already.
    public func install(_ faults: Fault...) async { await server.install(faults) }

    /// Closes all sessions: with code 48 clients open a new session, with any other one they do not.
    public func endSessions(code: Int, message: String) async { await server.endSessions(code: code, message: message) }

    /// Sets how the server responds to messages with a text; without a response a message is processed, and the response is
    /// its text.
    public func respond(to message: String, with response: MessageResponse) async {
        let command =
            switch response {
            case .processed(let response): "ECHO|\(response)"
            case .failed(let code, let message): "FAIL|\(code)|\(message)"
            }
        await server.respond(to: message, as: command)
    }

    /// The texts of the last 10,000 messages, oldest first.
    public var messages: [String] { get async { await server.messages() } }

    /// The present counts of sessions, connections, subscriptions, updates and messages.
    public var counts: ServerCensus { get async { await server.census() } }

    /// Waits until the counts have met a condition; a state that passes is not missed.
    ///
    /// - Parameter condition: Called with the present counts, and after each event of the server, on the server's thread.
    /// - Throws: `TestServerError` with `stopped`; `CancellationError`.
    public func waits(until condition: @escaping @Sendable (ServerCensus) -> Bool) async throws {
        do {
            try await server.waits(until: condition)
        } catch DemoServerError.ended {
            throw TestServerError(.stopped, "the condition was not met")
        }
    }

    /// Moves the time of a server with `TestServerOptions.hasManualClock`, and performs what becomes due on the way.
    public func advance(by duration: Duration) async { await server.advance(by: duration) }
}

/// Calls a function with a new test server, which is stopped when the function returns or throws.
///
/// - Parameters:
///   - adapters: The data adapters, with different names.
///   - options: The other properties of the server.
///   - body: The test.
/// - Throws: The errors of `TestServer.start(_:options:)` and of the function.
public func withTestServer<Value>(
    _ adapters: TestAdapter...,
    options: TestServerOptions = TestServerOptions(),
    isolation: isolated (any Actor)? = #isolation,
    _ body: (TestServer) async throws -> Value
) async throws -> Value {
    let server = try await TestServer.start(adapters, options: options)
    do {
        let value = try await body(server)
        await server.stop()
        return value
    } catch {
        await server.stop()
        throw error
    }
}

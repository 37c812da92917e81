internal import NIOCore
internal import NIOPosix
internal import NIOSSL

@testable internal import TLCPTransports

/// A loopback server with a script for each connection, in the order of the connections.
final class ScriptedServer: Sendable {
    typealias Script = @Sendable (Peer) async throws -> Void

    /// The port that the system chose.
    let port: Int
    private let channel: any Channel
    private let serving: Task<Void, any Error>

    private init(channel: any Channel, serving: Task<Void, any Error>) {
        port = channel.localAddress?.port ?? 0
        self.channel = channel
        self.serving = serving
    }

    /// Listens while the body runs. The script receives the number of the connection, from 1.
    static func run<Result: Sendable>(
        host: String = "127.0.0.1",
        tls: TLSConfiguration? = nil,
        script: @escaping @Sendable (Int, Peer) async throws -> Void,
        _ body: (ScriptedServer) async throws -> Result
    ) async throws -> Result {
        let context = try tls.map { try NIOSSLContext(configuration: $0) }
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: host, port: 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let context {
                        try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    }
                    return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        let serving = Task {
            try await server.executeThenClose { connections in
                try await withThrowingDiscardingTaskGroup { group in
                    var number = 0
                    for try await connection in connections {
                        number += 1
                        let current = number
                        group.addTask {
                            // A failing script has an effect on the client's side.
                            try? await connection.executeThenClose { inbound, _ in
                                try await script(current, Peer(inbound, connection.channel))
                            }
                        }
                    }
                }
            }
        }
        let scripted = ScriptedServer(channel: server.channel, serving: serving)
        do {
            let result = try await body(scripted)
            await scripted.stop()
            return result
        } catch {
            await scripted.stop()
            throw error
        }
    }

    /// Listens while the body runs with a connector, which is shut down at the end.
    static func runWithConnector(
        _ change: (_ settings: inout SocketSettings, _ port: Int) -> Void = { _, _ in },
        script: @escaping @Sendable (Int, Peer) async throws -> Void,
        _ body: (ScriptedServer, SocketConnector) async throws -> Void
    ) async throws {
        try await run(script: script) { server in
            let connector = try SocketConnector(.forTests { change(&$0, server.port) })
            try await body(server, connector)
            await connector.shutDown()
        }
    }

    private func stop() async {
        serving.cancel()
        _ = await serving.result
    }
}

import NIOCore
import NIOPosix
import Replication
import Synchronization
import Testing

@testable import EngineNATS

@Suite(.timeLimit(.minutes(1))) struct NATSConnectionTests {
    /// The reply of a server to a line, whose words are given; the subscriptions of the client have their numbers.
    typealias Server = @Sendable (_ line: [String], _ subscriptions: [String: String]) -> String?

    /// A member may answer requests once its own heartbeat comes back: by then it must have the frames that the server sent before.
    @Test func messagesArriveInTheOrderOfTheServer() async throws {
        let count = 5_000
        try await connected { line, subscriptions in
            guard line == ["PING"], let log = subscriptions["g.out.frames"], let beat = subscriptions["g.beat"] else {
                return nil
            }
            let frames = (1...count).map { position in
                let head = "NATS/1.0\r\nNats-Sequence: \(position)\r\n\r\n"
                let (size, total) = (head.utf8.count, head.utf8.count + 1)
                return "HMSG g.out.frames \(log) \(size) \(total)\r\n\(head)f\r\n"
            }
            return frames.joined() + "MSG g.beat \(beat) 1\r\nb\r\n"
        } _: { _, inputs in
            var frames = 0
            for await input in inputs {
                if case .frame = input { frames += 1 }
                if case .broadcast = input { break }
            }
            #expect(frames == count)
        }
    }

    /// An inspection took up to 30 s: each of five looks for a leader waited for five replies.
    @Test func replyOfALeaderIsAwaitedForTheTimeOfOneCall() async throws {
        let calls = Atomic(0)
        try await connected { line, subscriptions in
            guard line.first == "PUB", let inbox = subscriptions.first(where: { $0.key.hasSuffix(".*") })?.value else {
                return nil
            }
            // Servers without a leader, and then none.
            guard calls.wrappingAdd(1, ordering: .relaxed).oldValue == 0 else { return nil }
            let reply = #"{"cluster":{"replicas":[]},"state":{"first_seq":1,"last_seq":2}}"#
            return "MSG \(line[2]) \(inbox) \(reply.utf8.count)\r\n\(reply)\r\n"
        } _: { connection, _ in
            await #expect(throws: EngineError.timeout) { try await connection.inspectLog() }
        }
        #expect(calls.load(ordering: .relaxed) == 5)
    }

    /// The gateway was silent about a frame that the server would not accept, and sent it again and again.
    @Test func frameBeyondTheLimitOfTheServerIsNotStored() async throws {
        try await connected(maxPayload: 8) { _, _ in
            nil
        } _: { connection, inputs in
            connection.append([UInt8](repeating: 0, count: 9), again: false)
            var reason = ""
            for await case .notStored(let text) in inputs {
                reason = text
                break
            }
            #expect(reason == "g.in.frames: a message of 9 bytes is larger than the max_payload of NATS")
        }
    }

    /// The gateway got ready, but no frame of the log arrived: its streams ended with `behind`.
    @Test func serverThatSendsNoHeadersIsRefused() async throws {
        let reason = "it sends no headers. Remove no_header_support from its configuration."
        await #expect(throws: EngineError.notConnected(reason)) {
            try await connected(headers: false) { _, _ in
                nil
            } _: { _, _ in
            }
        }
    }

    /// Runs a test with a connection to a server.
    private func connected(
        maxPayload: Int = 1 << 20,
        headers: Bool = true,
        to server: @escaping Server,
        _ test: (NATSConnection, AsyncStream<EngineInput>) async throws -> Void
    ) async throws {
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        let port = try #require(listener.channel.localAddress?.port)
        var configuration = NATSConfiguration(servers: ["nats://127.0.0.1:\(port)"], name: "g")
        configuration.replyTime = .milliseconds(50)
        let (inputs, continuation) = AsyncStream.makeStream(of: EngineInput.self)
        let connection = NATSConnection(configuration: configuration, process: 1) { continuation.yield($0) }
        try await listener.executeThenClose { clients in
            let serving = Task {
                for try await client in clients {
                    return try await client.executeThenClose { input, output in
                        let info = #"{"server_id":"s","headers":\#(headers),"max_payload":\#(maxPayload)}"#
                        try await output.write(ByteBuffer(string: "INFO \(info)\r\n"))
                        try await Self.serve(input, output, server)
                    }
                }
            }
            try await NIOThreadPool.singleton.runIfActive { try connection.open() }
            try await test(connection, inputs)
            connection.close()
            _ = await serving.result
        }
    }

    /// Responds to the lines of a client until it leaves.
    private static func serve(
        _ input: NIOAsyncChannelInboundStream<ByteBuffer>,
        _ output: NIOAsyncChannelOutboundWriter<ByteBuffer>,
        _ server: Server
    ) async throws {
        var (text, subscriptions) = ("", [String: String]())
        for try await bytes in input {
            text += String(buffer: bytes)
            var lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
            text = String(lines.removeLast())
            for line in lines {
                let words = line.split(separator: " ").map(String.init)
                if words.first == "SUB" { subscriptions[words[1]] = words.last }
                let reply = (server(words, subscriptions) ?? "") + (words == ["PING"] ? "PONG\r\n" : "")
                if !reply.isEmpty { try await output.write(ByteBuffer(string: reply)) }
            }
        }
    }
}

import NIOCore
import NIOPosix
import Replication
import Testing

@testable import EngineNATS

@Suite(.timeLimit(.minutes(1))) struct NATSConnectionTests {
    /// A member may answer requests once its own heartbeat comes back: by then it must have the frames that the server sent before.
    @Test func messagesArriveInTheOrderOfTheServer() async throws {
        let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        let port = try #require(server.channel.localAddress?.port)
        let configuration = NATSConfiguration(servers: ["nats://127.0.0.1:\(port)"], name: "g")
        let (inputs, continuation) = AsyncStream.makeStream(of: EngineInput.self)
        let connection = NATSConnection(configuration: configuration, process: 1) { continuation.yield($0) }
        let count = 5_000
        try await server.executeThenClose { clients in
            let opening = Task { try await NIOThreadPool.singleton.runIfActive { try connection.open() } }
            for try await client in clients {
                try await client.executeThenClose { lines, output in
                    try await Self.serve(lines, output, frames: count)
                    try await opening.value
                    var frames = 0
                    for await input in inputs {
                        if case .frame = input { frames += 1 }
                        if case .broadcast = input { break }
                    }
                    #expect(frames == count)
                    connection.close()
                }
                return
            }
        }
    }

    /// Responds until the client has subscribed, and sends frames and then a heartbeat.
    private static func serve(
        _ input: NIOAsyncChannelInboundStream<ByteBuffer>,
        _ output: NIOAsyncChannelOutboundWriter<ByteBuffer>,
        frames: Int
    ) async throws {
        let info = #"INFO {"server_id":"s","version":"2.10.0","headers":true,"max_payload":1048576}"#
        try await output.write(ByteBuffer(string: info + "\r\n"))
        var (text, subscriptions) = ("", [String: String]())
        for try await bytes in input {
            text += String(buffer: bytes)
            var lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
            text = String(lines.removeLast())
            for line in lines {
                let words = line.split(separator: " ").map(String.init)
                if words.first == "SUB" { subscriptions[words[1]] = words.last }
                guard words.first == "PING" else { continue }
                guard let log = subscriptions["g.out.frames"], let beat = subscriptions["g.beat"] else {
                    try await output.write(ByteBuffer(string: "PONG\r\n"))
                    continue
                }
                var messages = ByteBuffer()
                for position in 1...frames {
                    let head = "NATS/1.0\r\nNats-Sequence: \(position)\r\n\r\n"
                    let (size, total) = (head.utf8.count, head.utf8.count + 1)
                    messages.writeString("HMSG g.out.frames \(log) \(size) \(total)\r\n\(head)f\r\n")
                }
                messages.writeString("MSG g.beat \(beat) 1\r\nb\r\nPONG\r\n")
                return try await output.write(messages)
            }
        }
    }
}

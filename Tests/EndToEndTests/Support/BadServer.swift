internal import NIOCore
internal import NIOPosix
internal import NIOSSL

/// A listener of this machine that is no Lightstreamer server.
enum BadServer {
    /// What it does with each connection.
    enum Behaviour: Sendable {
        /// Sends these bytes after the first bytes of the peer, and closes the connection.
        case response(String)
        /// Reads, and sends nothing.
        case silence
        /// It does not listen any more.
        case absence
    }

    /// Listens, with TLS if a certificate is given.
    static func run(
        _ behaviour: Behaviour,
        certificate: String? = nil,
        _ body: (Int) async throws -> Void
    ) async throws {
        let context = try certificate.map(context)
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let context { try pipeline.addHandler(NIOSSLServerHandler(context: context)) }
                    try pipeline.addHandler(Answering(behaviour))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = channel.localAddress?.port ?? 0
        if case .absence = behaviour { try await channel.close() }
        do {
            try await body(port)
        } catch {
            try? await channel.close()
            throw error
        }
        try? await channel.close()
    }

    private static func context(_ certificate: String) throws -> NIOSSLContext {
        let chain = try NIOSSLCertificate.fromPEMBytes(Array(certificate.utf8))
        let key = try NIOSSLPrivateKey(bytes: Array(ServerCertificates.privateKey.utf8), format: .pem)
        return try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) },
                privateKey: .privateKey(key)
            )
        )
    }

    private final class Answering: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let behaviour: Behaviour
        private var isDone = false

        init(_ behaviour: Behaviour) { self.behaviour = behaviour }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard case .response(let text) = behaviour, !isDone else { return }
            isDone = true
            let channel = context.channel
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text))).whenComplete { _ in
                channel.close(promise: nil)
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}

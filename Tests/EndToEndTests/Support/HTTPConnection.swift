internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL

/// A connection to a gateway, for requests one after the other. It closes with its last reference.
final class HTTPConnection: Sendable {
    struct Failure: Error {
        let reason: String
    }

    private let authority: String
    private let channel: any Channel
    private let parts: AsyncThrowingStream<HTTPClientResponsePart, any Error>

    /// Connects to the server that a URL names.
    ///
    /// - Parameter certificate: The path of the certificate that the server has; nil: it speaks no TLS.
    init(_ url: String, trusting certificate: String? = nil) async throws {
        guard let parts = URLComponents(string: url), let host = parts.host, let port = parts.port else {
            throw Failure(reason: "no host and port in \(url)")
        }
        authority = "\(host):\(port)"
        var tls: NIOSSLContext?
        if let certificate {
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.trustRoots = .file(certificate)
            tls = try NIOSSLContext(configuration: configuration)
        }
        let (stream, source) = AsyncThrowingStream.makeStream(of: HTTPClientResponsePart.self)
        self.parts = stream
        channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: host, port: port) { [tls] channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls { try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: nil)) }
                    try pipeline.addHTTPClientHandlers()
                    try pipeline.addHandler(Reader(parts: source))
                    return channel
                }
            }
    }

    deinit { channel.close(promise: nil) }

    /// Sends a request, and waits for the head of its response.
    func send(
        _ method: String,
        _ url: String,
        headers: [String: String] = [:],
        body: String = ""
    ) async throws -> HTTPResponseHead {
        let path = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).dropFirst(3).first ?? ""
        var head = HTTPRequestHead(version: .http1_1, method: .init(rawValue: method), uri: "/" + path)
        head.headers.add(name: "Host", value: authority)
        for (name, value) in headers { head.headers.add(name: name, value: value) }
        if !body.isEmpty { head.headers.add(name: "Content-Length", value: String(body.utf8.count)) }
        channel.write(HTTPClientRequestPart.head(head), promise: nil)
        channel.write(HTTPClientRequestPart.body(.byteBuffer(ByteBuffer(string: body))), promise: nil)
        try await channel.writeAndFlush(HTTPClientRequestPart.end(nil))
        for try await case .head(let response) in parts { return response }
        throw Failure(reason: "closed without a response")
    }

    /// The next bytes of the body; nil at its end.
    func next() async throws -> [UInt8]? {
        for try await part in parts {
            if case .body(let bytes) = part { return Array(bytes.readableBytesView) }
            return nil
        }
        throw Failure(reason: "closed inside a response")
    }

    /// Passes on the parts of responses, which the tests read at their own pace.
    private final class Reader: ChannelInboundHandler {
        typealias InboundIn = HTTPClientResponsePart

        private let parts: AsyncThrowingStream<HTTPClientResponsePart, any Error>.Continuation

        init(parts: AsyncThrowingStream<HTTPClientResponsePart, any Error>.Continuation) { self.parts = parts }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) { parts.yield(unwrapInboundIn(data)) }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            parts.finish(throwing: error)
            context.close(promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) { parts.finish() }
    }
}

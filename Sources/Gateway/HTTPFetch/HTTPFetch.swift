internal import FoundationEssentials
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL

/// One `GET` over HTTP/1.1, on a connection of its own. Redirects are not followed, and no proxy is used.
package struct HTTPFetch: Sendable {
    /// The head of a response.
    package struct Head: Sendable {
        package let status: Int
        /// The media type in lower case, without parameters; nil: none.
        package let mediaType: String?

        init(_ head: HTTPResponseHead) {
            status = Int(head.status.code)
            let name = head.headers.first(name: "Content-Type")?.prefix { $0 != ";" && !$0.isWhitespace }
            mediaType = name.map { $0.lowercased() }
        }
    }

    /// A whole response.
    package struct Response: Sendable {
        package let head: Head
        package let body: [UInt8]

        package var status: Int { head.status }
    }

    /// The next part of a body; nil at its end. `silence`: the longest time to wait for it; nil: that of the request.
    package typealias Next = (_ silence: Duration?) async throws -> [UInt8]?

    private typealias Connection = NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>

    /// The longest time for the connection.
    private static let connectTimeout = Duration.seconds(10)

    private let target: Target
    private let head: HTTPRequestHead
    private let timeout: Duration?
    private let silence: Duration?
    private let tls: NIOSSLContext?

    /// A request.
    ///
    /// - Parameters:
    ///   - url: An absolute URL with the scheme `http` or `https`.
    ///   - headers: Header lines beside `Host`.
    ///   - timeout: The longest time from the connection to the last byte; nil: no limit once it is connected.
    ///   - silence: The longest time that the reader waits for the next bytes; nil: no limit but `timeout`.
    ///   - verifiesServer: Whether the certificate of the server is checked.
    /// - Throws: `HTTPFetchError` if the URL cannot be used.
    package init(
        _ url: String,
        headers: [(name: String, value: String)] = [],
        timeout: Duration?,
        silence: Duration? = nil,
        verifiesServer: Bool = true
    ) throws {
        target = try Target(url)
        self.timeout = timeout
        self.silence = silence
        head = HTTPRequestHead(
            version: .http1_1,
            method: .GET,
            uri: target.path,
            headers: HTTPHeaders(
                [("Host", target.authority), ("Connection", "close")] + headers.map { ($0.name, $0.value) }
            )
        )
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        if !verifiesServer { configuration.certificateVerification = .none }
        tls = target.isSecure ? try NIOSSLContext(configuration: configuration) : nil
    }

    /// Reads the whole response; throws if the body has more than `limit` bytes.
    package func response(upTo limit: Int) async throws -> Response {
        try await read { head, next in
            var body: [UInt8] = []
            while let part = try await next(nil) {
                guard part.count <= limit - body.count else { throw HTTPFetchError.tooLong(limit: limit) }
                body += part
            }
            return Response(head: head, body: body)
        }
    }

    /// Sends the request and has the response read as it arrives; closes the connection when `reader` returns.
    package func read<Result: Sendable>(
        _ reader: (_ head: Head, _ next: Next) async throws -> Result
    ) async throws -> Result {
        let connection = try await connect()
        let channel = connection.channel
        let deadline = timeout.map { Self.deadline(of: channel, in: $0) }
        defer { deadline?.cancel() }
        return try await connection.executeThenClose { inbound, outbound in
            var parts = inbound.makeAsyncIterator()
            do {
                try await outbound.write(contentsOf: [.head(head), .end(nil)])
            } catch {
                // A connection that is closed fails the writing; why it was closed, the reading tells.
                _ = try await parts.next()
                throw error
            }
            func next(_ limit: Duration?) async throws -> HTTPClientResponsePart? {
                let deadline = (limit ?? silence).map { Self.deadline(of: channel, in: $0) }
                defer { deadline?.cancel() }
                return try await parts.next()
            }
            guard case .head(let response) = try await next(nil) else {
                throw tls == nil ? HTTPFetchError.noResponse : .closedEarly
            }
            return try await reader(Head(response)) { limit in
                switch try await next(limit) {
                case .body(let part): Array(part.readableBytesView)
                case .end: nil
                case .head, nil: throw HTTPFetchError.closedEarly
                }
            }
        }
    }

    /// Fails the reading of a response after a time.
    private static func deadline(of channel: any Channel, in time: Duration) -> Scheduled<Void> {
        channel.eventLoop.scheduleTask(in: TimeAmount(time)) {
            channel.pipeline.fireErrorCaught(HTTPFetchError.timeout)
        }
    }

    private func connect() async throws -> Connection {
        let limit = timeout.map { min($0, Self.connectTimeout) } ?? Self.connectTimeout
        return try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(TimeAmount(limit))
            .connect(host: target.host, port: target.port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls {
                        try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: target.serverName))
                    }
                    try pipeline.addHTTPClientHandlers()
                    return try Connection(wrappingChannelSynchronously: channel)
                }
            }
    }

    /// The server and the resource that a URL names.
    private struct Target {
        let isSecure: Bool
        /// The name or address, without brackets.
        let host: String
        let port: Int
        /// Host and port as in the URL.
        let authority: String
        let path: String

        init(_ url: String) throws(HTTPFetchError) {
            guard let parts = URLComponents(string: url) else { throw .invalidURL }
            // The resolver takes the lower 16 bits of any number.
            guard (1...65_535).contains(parts.port ?? 1) else { throw .invalidURL }
            guard let scheme = parts.scheme?.lowercased() else { throw .missingScheme }
            guard ["http", "https"].contains(scheme) else { throw .unsupportedScheme }
            guard let host = parts.percentEncodedHost, !host.isEmpty else { throw .missingHost }
            isSecure = scheme == "https"
            self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
            port = parts.port ?? (isSecure ? 443 : 80)
            authority = host + (parts.port.map { ":\($0)" } ?? "")
            let path = parts.percentEncodedPath
            self.path = (path.isEmpty ? "/" : path) + (parts.percentEncodedQuery.map { "?\($0)" } ?? "")
        }

        /// The name that the certificate must have; nil for an address, which is no valid server name (RFC 6066 section 3).
        var serverName: String? { (try? SocketAddress(ipAddress: host, port: 0)) == nil ? host : nil }
    }
}

/// The reasons why `HTTPFetch` fails, beside the errors of the connection.
package enum HTTPFetchError: Error, Equatable {
    case invalidURL
    case missingScheme
    /// The scheme is neither `http` nor `https`.
    case unsupportedScheme
    case missingHost
    /// The response was not complete in time, or the server was silent for too long.
    case timeout
    /// The server closed the connection before the end of the response.
    case closedEarly
    /// The server closed a connection without TLS before the response, as it does where the port speaks TLS.
    case noResponse
    /// The body is longer than the limit, in bytes.
    case tooLong(limit: Int)
}

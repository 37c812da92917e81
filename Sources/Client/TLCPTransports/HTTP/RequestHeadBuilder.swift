internal import NIOHTTP1

/// Builds the heads of HTTP requests and WebSocket handshakes.
struct RequestHeadBuilder {
    private let settings: SocketSettings
    private let credentials: CredentialStore

    init(_ settings: SocketSettings, _ credentials: CredentialStore) {
        self.settings = settings
        self.credentials = credentials
    }

    func http(_ request: ConnectionRequest) -> HTTPRequestHead {
        let authority = Endpoint(request).authority
        let headers = [
            ("Host", authority), ("Content-Type", "text/plain; charset=utf-8"),
            ("Content-Length", "\(request.body.count)"),
        ]
        var outgoing = outgoing("POST", request, headers)
        if settings.proxy != nil, !request.isSecure {
            outgoing.target = "http://\(authority)\(outgoing.target)"
            let header = credentials.header(for: .proxy, method: "POST", target: outgoing.target)
            if let header { outgoing.headers.append(("Proxy-Authorization", header)) }
        }
        return outgoing.head
    }

    func webSocket(_ request: ConnectionRequest, key: String) -> HTTPRequestHead {
        let headers = [
            ("Host", Endpoint(request).authority), ("Connection", "Upgrade"), ("Upgrade", "websocket"),
            ("Sec-WebSocket-Version", "13"), ("Sec-WebSocket-Key", key),
            ("Sec-WebSocket-Protocol", request.subprotocol),
        ]
        return outgoing("GET", request, headers).head
    }

    /// The request with these headers, the extra headers and the cookies, decorated, and with its credentials.
    private func outgoing(
        _ method: String,
        _ request: ConnectionRequest,
        _ headers: [(String, String)]
    ) -> OutgoingRequest {
        var outgoing = OutgoingRequest(
            method: method,
            host: request.host,
            isWebSocketHandshake: request.kind == .webSocket,
            target: request.target,
            headers: headers.map { (name: $0, value: $1) }
        )
        for (name, value) in request.headers.sorted(by: { $0.key < $1.key }) { outgoing.headers.append((name, value)) }
        if let cookies = settings.cookies.header(for: request.cookieOrigin) {
            outgoing.headers.append(("Cookie", cookies))
        }
        settings.decorate(&outgoing)
        // After the decoration, because a digest covers the target.
        let space = CredentialStore.ProtectionSpace.server(Endpoint(request).hostAndPort)
        let isGiven = outgoing.headers.contains { $0.name.lowercased() == "authorization" }
        if !isGiven, let header = credentials.header(for: space, method: method, target: outgoing.target) {
            outgoing.headers.append(("Authorization", header))
        }
        return outgoing
    }
}

extension OutgoingRequest {
    fileprivate var head: HTTPRequestHead {
        let headers = HTTPHeaders(headers.map { ($0.name, $0.value) })
        return HTTPRequestHead(version: .http1_1, method: HTTPMethod(rawValue: method), uri: target, headers: headers)
    }
}

extension ConnectionRequest {
    /// The origin that determines the cookies of the request.
    var cookieOrigin: CookieOrigin {
        CookieOrigin(host: host, path: String(target.prefix { $0 != "?" }), isSecure: isSecure)
    }
}

/// The head of an HTTP request or WebSocket handshake before it is sent.
public struct OutgoingRequest: Sendable, Equatable {
    /// The method: `POST`, or `GET` for a handshake.
    public let method: String
    /// The host of the server.
    public let host: String
    /// Whether the request is a WebSocket handshake.
    public let isWebSocketHandshake: Bool
    /// Path and query.
    public var target: String
    /// The headers in order, extra headers and cookies included.
    public var headers: [(name: String, value: String)]

    /// Compares all members.
    public static func == (left: OutgoingRequest, right: OutgoingRequest) -> Bool {
        left.method == right.method && left.host == right.host && left.target == right.target
            && left.isWebSocketHandshake == right.isWebSocketHandshake
            && left.headers.elementsEqual(right.headers, by: ==)
    }
}

/// Changes a request before it is sent. It is called on a network thread and must not block.
public typealias RequestDecorator = @Sendable (inout OutgoingRequest) -> Void

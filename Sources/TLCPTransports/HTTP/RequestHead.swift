internal import NIOHTTP1

/// Puts together what goes before the body of a request or makes up a handshake.
struct RequestHead {
    private let settings: SocketSettings
    private let credentials: Credentials

    init(_ settings: SocketSettings, _ credentials: Credentials) {
        self.settings = settings
        self.credentials = credentials
    }

    /// The head of an HTTP request.
    func http(_ order: ConnectionRequest) -> HTTPRequestHead {
        let endpoint = Endpoint(order)
        var headers: [(String, String)] = [
            ("Host", endpoint.authority), ("Content-Type", "text/plain; charset=utf-8"),
            ("Content-Length", "\(order.body.count)"),
        ]
        add(order, to: &headers)
        var request = decorated("POST", order, headers)
        if settings.proxy != nil, !order.isSecure {
            request.target = "http://\(endpoint.authority)\(request.target)"
            if let header = credentials.header(for: .proxy) { request.headers.append(("Proxy-Authorization", header)) }
        }
        return HTTPRequestHead(
            version: .http1_1,
            method: .POST,
            uri: request.target,
            headers: HTTPHeaders(request.headers.map { ($0.name, $0.value) })
        )
    }

    /// The head of a WebSocket handshake.
    func webSocket(_ order: ConnectionRequest, key: String) -> HTTPRequestHead {
        var headers: [(String, String)] = [
            ("Host", Endpoint(order).authority), ("Connection", "Upgrade"), ("Upgrade", "websocket"),
            ("Sec-WebSocket-Version", "13"), ("Sec-WebSocket-Key", key), ("Sec-WebSocket-Protocol", order.subprotocol),
        ]
        add(order, to: &headers)
        let request = decorated("GET", order, headers)
        return HTTPRequestHead(
            version: .http1_1,
            method: .GET,
            uri: request.target,
            headers: HTTPHeaders(request.headers.map { ($0.name, $0.value) })
        )
    }

    private func add(_ order: ConnectionRequest, to headers: inout [(String, String)]) {
        headers += order.headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        let asker = Credentials.Asker.server(Endpoint(order).hostAndPort)
        let isGiven = order.headers.keys.contains { $0.lowercased() == "authorization" }
        if !isGiven, let header = credentials.header(for: asker) { headers.append(("Authorization", header)) }
        if let cookies = settings.cookies.header(for: order.cookieOrigin) { headers.append(("Cookie", cookies)) }
    }

    private func decorated(
        _ method: String,
        _ order: ConnectionRequest,
        _ headers: [(String, String)]
    ) -> OutgoingRequest {
        var request = OutgoingRequest(
            method: method,
            host: order.host,
            isWebSocketHandshake: order.kind == .webSocket,
            target: order.target,
            headers: headers.map { (name: $0.0, value: $0.1) }
        )
        settings.decorate(&request)
        return request
    }
}

extension ConnectionRequest {
    /// Where the request goes, as far as cookies are concerned.
    var cookieOrigin: CookieOrigin {
        CookieOrigin(host: host, path: String(target.prefix { $0 != "?" }), isSecure: isSecure)
    }
}

/// The head of an HTTP request or WebSocket handshake, as it is about to be sent.
public struct OutgoingRequest: Sendable, Equatable {
    /// The method: `POST`, or `GET` for a handshake.
    public let method: String
    /// The host that the request is for.
    public let host: String
    /// Whether it is a WebSocket handshake.
    public let isWebSocketHandshake: Bool
    /// Path and query.
    public var target: String
    /// The headers in order, extra headers and cookies included.
    public var headers: [(name: String, value: String)]

    /// A request.
    package init(
        method: String,
        host: String,
        isWebSocketHandshake: Bool,
        target: String,
        headers: [(name: String, value: String)]
    ) {
        self.method = method
        self.host = host
        self.isWebSocketHandshake = isWebSocketHandshake
        self.target = target
        self.headers = headers
    }

    /// Requests are equal when all that they send is equal.
    public static func == (left: OutgoingRequest, right: OutgoingRequest) -> Bool {
        left.method == right.method && left.host == right.host && left.target == right.target
            && left.isWebSocketHandshake == right.isWebSocketHandshake
            && left.headers.elementsEqual(right.headers, by: ==)
    }
}

/// Changes a request right before it is sent. Called on a network thread: must be quick and must not block.
public typealias RequestDecorator = @Sendable (inout OutgoingRequest) -> Void

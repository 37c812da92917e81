internal import JSONText
internal import MicroHTTPD

/// `/mcp`: feeds and messages for language models, by the Model Context Protocol with its transport *Streamable HTTP*
/// (<https://modelcontextprotocol.io/specification/2025-11-25/basic/transports>).
///
/// A session has only the subscriptions to resources. Every gateway of a cluster serves all other requests; a request that
/// needs a session which this gateway does not have, or names one that has ended, gets 404, and the client begins another.
struct MCPResource: Sendable {
    /// The versions of the protocol, the preferred one first.
    static let versions = ["2025-11-25", "2025-06-18"]

    let services: Services

    /// `POST /mcp`: a request, a notification or a response of the client.
    func post(_ call: Call) async throws -> Response {
        let request = try MCPRequest(RequestBody.object(of: call))
        if request?.method != "initialize" { try checkVersion(call) }
        if let id = call.header(Self.sessionHeader) {
            if !MCPSessions.isID(id) || services.mcpSessions.hasEnded(id) { throw Self.unknownSession }
            // Every request that names the session is a use of it.
            _ = services.mcpSessions.session(id, of: call.caller, at: services.clock())
        }
        guard let request, let id = request.id else { return Response(status: 202) }
        if request.method == "initialize" { return try initialize(request.params, id, call) }
        do {
            return .message(id, .success(try await result(of: request, call)))
        } catch let error as MCPError {
            return .message(id, .failure(error))
        }
    }

    /// `GET /mcp`: an event stream of notifications, which ends after some of them or a time.
    func get(_ call: Call) async throws -> OperationResult {
        _ = try AcceptHeader(call.header("Accept")).choose(["text/event-stream"])
        try checkVersion(call)
        let (_, session) = try session(call)
        // The notifications are for the GET that waits.
        if call.isHead {
            return .stream([HTTPField("Content-Type", "text/event-stream")], StreamOpener.headOnly)
        }
        return .response(try await MCPNotifications(services: services, session: session, call: call).response())
    }

    /// `DELETE /mcp`: ends the session.
    func delete(_ call: Call) throws -> OperationResult {
        try checkVersion(call)
        services.mcpSessions.remove(try session(call).id)
        return .response(Response(status: 204))
    }

    // MARK: - Steps

    private static let sessionHeader = "Mcp-Session-Id"
    private static let versionHeader = "MCP-Protocol-Version"
    private static let unknownSession = Problem(
        .notFound,
        detail: "This gateway does not have the session: send initialize without \(sessionHeader)."
    )

    private func checkVersion(_ call: Call) throws(Problem) {
        guard let version = call.header(Self.versionHeader), !Self.versions.contains(version) else { return }
        let known = Self.versions.joined(separator: ", ")
        throw Problem(.malformed, detail: "\(Self.versionHeader): the versions are \(known).")
    }

    private func session(_ call: Call) throws(Problem) -> (id: String, MCPSession) {
        guard let id = call.header(Self.sessionHeader) else {
            throw Problem(.malformed, detail: "The header \(Self.sessionHeader) is missing.")
        }
        guard let session = services.mcpSessions.session(id, of: call.caller, at: services.clock()) else {
            throw Self.unknownSession
        }
        return (id, session)
    }

    private func result(of request: MCPRequest, _ call: Call) async throws -> JSONValue {
        let reading = MCPReading(services: services, call: call)
        let tools = MCPTools(reading: reading)
        switch request.method {
        case "ping": return [:]
        case "tools/list": return tools.list
        case "resources/list": return ["resources": .array(reading.readableFeeds.filter(\.hasItems).map(Self.resource))]
        case "resources/templates/list": return ["resourceTemplates": [Self.template]]
        case "tools/call": return try await tools.call(request.params)
        case "resources/read":
            let uri = try Self.uri(request.params)
            return try Self.content(of: uri, try await reading.read(uri, wait: ValuesQuery.usualWait))
        case "resources/subscribe", "resources/unsubscribe":
            guard let (_, session) = try? session(call) else { throw Self.unknownSession }
            let uri = try Self.uri(request.params)
            if request.method == "resources/subscribe" {
                try Self.subscribe(session, to: uri, try await reading.read(uri, wait: ValuesQuery.usualWait))
            } else {
                session.unsubscribe(uri)
            }
            return [:]
        default: throw MCPError(code: -32_601, message: "The method \(request.method) is not supported.")
        }
    }

    private func initialize(_ params: JSONObject, _ id: JSONValue, _ call: Call) throws(Problem) -> Response {
        let requested = params["protocolVersion"]?.string ?? ""
        let version = Self.versions.contains(requested) ? requested : Self.versions[0]
        let result: JSONValue = [
            "protocolVersion": .string(version),
            "capabilities": ["tools": [:], "resources": ["subscribe": true]],
            "serverInfo": [
                "name": "lightstreamer-gateway", "title": "Lightstreamer Gateway",
                "version": .string(GatewayVersion.text),
            ],
            "instructions": "Live data in feeds. list_feeds describes them, read returns present values.",
        ]
        let host = call.request.peer.host
        let session = try services.mcpSessions.make(for: call.caller, from: host, at: services.clock())
        return .message(id, .success(result)).with(Self.sessionHeader, session)
    }

    // MARK: - Resources

    private static let template: JSONValue = [
        "uriTemplate": .string(MCPReading.scheme + "{feed}/{item}"), "name": "item",
        "description": "The present row of an item of a feed.", "mimeType": "application/json",
    ]

    private static func resource(_ feed: FeedConfiguration) -> JSONValue {
        [
            "uri": .string(MCPReading.uri(of: feed)), "name": .string(feed.name),
            "title": .string(feed.title ?? feed.name),
            "description": .string(
                "The present rows of all items."
                    + MCPTools.sentence(feed).replacing("\n- ", with: " ")
            ),
            "mimeType": "application/json",
        ]
    }

    private static func uri(_ params: JSONObject) throws(MCPError) -> String {
        guard let uri = params["uri"]?.string else { throw .invalidParams("uri must be a string.") }
        return uri
    }

    private static func content(of uri: String, _ response: Response) throws(MCPError) -> JSONValue {
        guard response.status < 300 else { throw failure(response, uri) }
        return ["contents": [["uri": .string(uri), "mimeType": "application/json", "text": .string(response.text)]]]
    }

    /// Subscribes to a resource that can be read, or has no values yet.
    private static func subscribe(_ session: MCPSession, to uri: String, _ response: Response) throws(MCPError) {
        guard response.status < 300 || response.status == 504 else { throw failure(response, uri) }
        guard session.subscribe(uri, cursor: response.cursor) else {
            let (count, size) = (MCPSession.mostResources, MCPSession.mostBytes)
            throw .invalidParams("A session subscribes to \(count) resources at most, with \(size) bytes of URIs.")
        }
    }

    private static func failure(_ response: Response, _ uri: String) -> MCPError {
        MCPError(code: response.status == 404 ? -32_002 : -32_000, message: "\(uri): \(response.problemText)")
    }
}

extension FeedConfiguration {
    fileprivate var hasItems: Bool { itemNames != nil }
}

internal import MicroHTTPD

/// The pages: the contract, the API page made from it, the dashboard, and the metrics.
struct PagesResource: Sendable {
    /// Everything that the pages need is served here, as files: nothing inline, nothing from other hosts.
    private static let contentSecurityPolicy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; \
        form-action 'none'; frame-ancestors 'none'
        """

    let services: Services

    /// `GET /openapi.yaml`.
    func contract(_ call: Call) throws -> OperationResult { try file("openapi.yaml", call) }

    /// `GET /docs`.
    func docs(_ call: Call) throws -> OperationResult {
        let bytes = services.docs.html { call.respond(docs($0, call)) }
        return bytes.map { .response(docs($0, call)) } ?? .deferred
    }

    private func docs(_ html: [UInt8], _ call: Call) -> Response {
        page(.bytes(html), "text/html; charset=utf-8", EntityTag(of: html), call)
    }

    /// `GET /`.
    func dashboard(_ call: Call) throws -> OperationResult { try file("index.html", call) }

    /// `GET /assets/{file}`.
    func asset(_ call: Call) throws -> OperationResult { try file(call.parameter("file"), call) }

    /// `GET /metrics`.
    func metrics(_ call: Call) throws -> OperationResult {
        let text = services.metrics()
        let type = "text/plain; version=0.0.4; charset=utf-8"
        return .response(Response(status: 200, mediaType: type, body: Array(text.utf8)))
    }

    private func file(_ name: String, _ call: Call) throws -> OperationResult {
        guard let file = EmbeddedFiles.shared[name] else {
            throw Problem(.notFound, detail: "There is no file \"\(name)\".")
        }
        return .response(page(.shared(file.bytes), file.mediaType, file.tag, call))
    }

    private func page(_ body: HTTPResponse.Body, _ type: String, _ tag: EntityTag, _ call: Call) -> Response {
        var response = Response(status: 200)
        response.headers.append("Content-Type", type)
        response.headers.append("Content-Security-Policy", Self.contentSecurityPolicy)
        response.body = body
        return response.tagged(tag, ifNoneMatch: call.header("If-None-Match"))
    }
}

internal import MicroHTTPD

/// The pages: the contract, the API page made from it, the dashboard, and the metrics.
struct PagesResource: Sendable {
    /// The gateway serves everything that the pages need as files: no inline content, nothing from other hosts.
    private static let contentSecurityPolicy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; \
        form-action 'none'; frame-ancestors 'none'
        """

    private static let contractFile = "openapi.yaml"

    let services: Services

    /// `GET /openapi.yaml`.
    func contract(_ call: Call) throws -> OperationResult { try file(Self.contractFile, call) }

    /// `GET /docs`.
    func docs(_ call: Call) throws -> OperationResult { try file("docs.html", call) }

    /// `GET /`.
    func dashboard(_ call: Call) throws -> OperationResult { try file("index.html", call) }

    /// `GET /assets/{file}`.
    func asset(_ call: Call) throws -> OperationResult {
        let name = call.parameter("file")
        // The contract has an address of its own, and a media type that this operation does not document.
        if name == Self.contractFile { throw Self.unknown(name) }
        guard name == "feeds.d.ts" else { return try file(name, call) }
        let text = FeedTypes.declarations(services.openFeeds)
        let type = "application/typescript; charset=utf-8"
        let response = Response(status: 200, mediaType: type, body: Array(text.utf8))
        return .response(try response.tagged(for: call))
    }

    /// `GET /metrics`.
    func metrics(_ call: Call) throws -> OperationResult {
        let text = services.metrics()
        let type = "text/plain; version=0.0.4; charset=utf-8"
        return .response(Response(status: 200, mediaType: type, body: Array(text.utf8)))
    }

    private func file(_ name: String, _ call: Call) throws -> OperationResult {
        if EmbeddedFiles.areReady { return .response(try page(name, call)) }
        return .later { try await services.background.perform(for: call) { .response(try page(name, call)) } }
    }

    private static func unknown(_ name: String) -> Problem {
        Problem(.notFound, detail: "There is no file \"\(name)\".")
    }

    private func page(_ name: String, _ call: Call) throws(Problem) -> Response {
        guard let file = EmbeddedFiles.shared[name] else { throw Self.unknown(name) }
        var response = Response(status: 200)
        response.headers.append("Content-Type", file.mediaType)
        response.headers.append("Content-Security-Policy", Self.contentSecurityPolicy)
        var (bytes, tag) = (file.bytes, file.tag)
        if let compressed = file.compressed, Self.acceptsGzip(call.header("Accept-Encoding")) {
            (bytes, tag) = compressed
            response.headers.append("Content-Encoding", "gzip")
        }
        response.body = .shared(bytes)
        // A 304 has it as well (RFC 9110 section 15.4.5).
        return try response.tagged(tag, isKnown: tag.isKnown(to: call)).with("Vary", "Accept-Encoding")
    }

    /// Whether `Accept-Encoding` accepts gzip, and gives content without a coding no greater weight. An asterisk stands for
    /// codings without an element of their own only (RFC 9110 section 12.5.3).
    static func acceptsGzip(_ header: String?) -> Bool {
        var (gzip, other): (Double?, Double) = (nil, 0)
        var identity = 0.0
        for element in (header ?? "").split(separator: ",") {
            let parts = element.split(separator: ";").map { $0.trimmed.lowercased() }
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
            switch parts.first {
            case "gzip", "x-gzip": gzip = weight
            case "identity": identity = weight
            case "*": other = weight
            default: break
            }
        }
        let weight = gzip ?? other
        return weight > 0 && weight >= identity
    }
}

internal import JSONText
internal import MicroHTTPD

/// Reads the JSON body of a request.
enum RequestBody {
    /// What a JSON merge patch may be sent as.
    static let patchTypes = ["application/merge-patch+json", "application/json"]

    /// The body as a JSON object. Throws 415 for another media type, 400 for what is not a JSON object.
    static func object(of request: HTTPRequest, types: [String] = ["application/json"]) throws(Problem) -> JSONObject {
        try check(request, types)
        let value: JSONValue
        do {
            value = try JSONValue(parsing: request.body)
        } catch {
            throw Problem(.malformed, detail: "The body is not JSON: \(error.description).")
        }
        guard let object = value.object else {
            throw Problem(.malformed, detail: "The body has to be a JSON object.")
        }
        return object
    }

    /// Refuses a body on an operation that takes none; an empty JSON object passes.
    static func none(of request: HTTPRequest) throws(Problem) {
        if request.body.isEmpty { return }
        let object = try object(of: request)
        guard object.isEmpty else {
            throw Problem(
                refusing: object.prefix(Refusals.mostEntries).map {
                    ProblemEntry(.body(JSONPointer(tokens: [$0.name])), .unknownMember, "This operation takes no body.")
                }
            )
        }
    }

    private static func check(_ request: HTTPRequest, _ types: [String]) throws(Problem) {
        guard let header = request.headers["Content-Type"] else { return }
        let pieces = header.split(separator: ";").map { $0.trimmed.lowercased() }
        let charset = pieces.dropFirst().first { $0.hasPrefix("charset=") }?.dropFirst(8)
        let isUTF8 = charset.map { ["utf-8", "\"utf-8\"", "utf8", "us-ascii"].contains($0) } ?? true
        guard let type = pieces.first, types.contains(type), isUTF8 else {
            var problem = Problem(
                .unsupportedMediaType,
                detail: "The body has to be \(types.joined(separator: " or ")), in UTF-8."
            )
            if types.count > 1 { problem.headers.append("Accept-Patch", types.joined(separator: ", ")) }
            throw problem
        }
    }
}

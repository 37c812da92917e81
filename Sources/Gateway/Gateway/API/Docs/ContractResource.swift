internal import JSONText
internal import MicroHTTPD
internal import StreamIO
internal import Synchronization
internal import YAMLText

/// `/openapi.json`: the contract as JSON, for tools that do not read YAML.
struct ContractResource: Sendable {
    let services: Services

    /// `GET /openapi.json`. The first request converts the document, which takes up to a second.
    func json(_ call: Call) async throws -> Response { try await document(.current, call) }

    /// `GET /openapi-3.2.json`.
    func edition(_ call: Call) async throws -> Response { try await document(.streams, call) }

    private func document(_ edition: ContractEdition, _ call: Call) async throws -> Response {
        let feeds = services.openFeeds
        let kept = services.feedContract.kept(feeds, edition)
        return try await services.background.perform(for: call, kept == nil ? .large : .small) {
            let document = kept ?? services.feedContract.document(feeds, edition)
            var response = Response(status: 200)
            response.headers.append("Content-Type", "application/json")
            response.body = .shared(document.bytes)
            return response.tagged(document.tag, isKnown: try document.tag.isKnown(to: call))
        }
    }
}

/// openapi.yaml converted to JSON, once for the process.
enum ContractJSON {
    private static let ready = Atomic<Bool>(false)

    static var isReady: Bool { ready.load(ordering: .acquiring) }

    /// The document; converted on first use.
    static let document: (bytes: SharedBytes, tag: EntityTag) = {
        let yaml = EmbeddedFiles.shared["openapi.yaml"].map { String(decoding: $0.bytes.bytes, as: UTF8.self) } ?? ""
        var json = JSONBytes()
        write(try? YAMLNode(parsing: yaml), to: &json)
        json.newline()
        ready.store(true, ordering: .releasing)
        return (SharedBytes(json.bytes), EntityTag(of: json.bytes))
    }()

    private static func write(_ node: YAMLNode?, to json: inout JSONBytes) {
        switch node?.content {
        case .mapping(let members):
            json.beginObject()
            for (key, value) in members {
                json.key(key.string ?? "")
                write(value, to: &json)
            }
            json.endObject()
        case .sequence(let elements):
            json.beginArray()
            for element in elements { write(element, to: &json) }
            json.endArray()
        case .scalar("true", isPlain: true): json.bool(true)
        case .scalar("false", isPlain: true): json.bool(false)
        case .scalar(let text, let isPlain):
            if node?.isNull == true {
                json.null()
            } else if isPlain, let number = JSONNumber(text) {
                json.value(.number(number))
            } else {
                json.string(text)
            }
        case nil: json.null()
        }
    }
}

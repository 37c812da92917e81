internal import JSONText
internal import MicroHTTPD
internal import StreamIO
internal import Synchronization
internal import Yams

/// `/openapi.json`: the contract as JSON, for tools that do not read YAML.
struct ContractResource: Sendable {
    let services: Services

    /// `GET /openapi.json`. The first request converts the document, which takes up to a second.
    func json(_ call: Call) async throws -> Response { try await document(.current, call) }

    /// `GET /openapi-3.2.json`.
    func edition(_ call: Call) async throws -> Response { try await document(.streams, call) }

    private func document(_ edition: ContractEdition, _ call: Call) async throws -> Response {
        try await services.background.perform(if: !ContractJSON.isReady) {
            let document = services.feedContract.document(services.openFeeds, edition)
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

    /// Whether the document was converted.
    static var isReady: Bool { ready.load(ordering: .acquiring) }

    /// The document; converted on first use.
    static let document: (bytes: SharedBytes, tag: EntityTag) = {
        let yaml = EmbeddedFiles.shared["openapi.yaml"].map { String(decoding: $0.bytes.bytes, as: UTF8.self) } ?? ""
        var json = JSONBytes()
        write((try? Yams.compose(yaml: yaml)).flatMap { $0 }, to: &json)
        json.newline()
        ready.store(true, ordering: .releasing)
        return (SharedBytes(json.bytes), EntityTag(of: json.bytes))
    }()

    private static func write(_ node: Node?, to json: inout JSONBytes) {
        switch node {
        case .mapping(let mapping):
            json.beginObject()
            for (key, value) in mapping {
                json.key(key.string ?? "")
                write(value, to: &json)
            }
            json.endObject()
        case .sequence(let sequence):
            json.beginArray()
            for element in sequence { write(element, to: &json) }
            json.endArray()
        case .scalar(let scalar): write(scalar, to: &json)
        case .alias, nil: json.null()
        }
    }

    private static func write(_ scalar: Node.Scalar, to json: inout JSONBytes) {
        let node = Node.scalar(scalar)
        if node.tag.rawValue == Tag.Name.str.rawValue {
            json.string(scalar.string)
        } else if let bool = node.bool {
            json.bool(bool)
        } else if node.null != nil {
            json.null()
        } else if let number = JSONNumber(scalar.string) {
            json.value(.number(number))
        } else {
            json.string(scalar.string)
        }
    }
}

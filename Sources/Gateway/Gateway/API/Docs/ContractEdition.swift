internal import JSONText

enum ContractEdition: Hashable, Sendable {
    /// OpenAPI 3.1, in which openapi.yaml is written.
    case current
    /// OpenAPI 3.2, which can describe the items of streams.
    case streams

    /// A document of OpenAPI 3.1 in this edition.
    func converted(_ document: JSONValue) -> JSONValue {
        guard self == .streams, var root = Self.converted(document).object else { return document }
        root["openapi"] = .string("3.2.0")
        return .object(root)
    }

    /// The extension of 3.1 that holds the schema of the items of a media type: in 3.2 the schema itself.
    private static let itemSchema = "x-item-schema"

    private static func converted(_ value: JSONValue) -> JSONValue {
        switch value {
        case .array(let elements): return .array(elements.map(converted))
        case .object(let object):
            guard let schema = object[itemSchema] else {
                return .object(JSONObject(object.map { .init(name: $0.name, value: converted($0.value)) }))
            }
            // The schema of the whole body, which is a string, says nothing that that of its items does not.
            let others = object.filter { $0.name != itemSchema && $0.name != "schema" }
            return .object(
                JSONObject(
                    others.map { .init(name: $0.name, value: $0.value) } + [.init(name: "itemSchema", value: schema)]
                )
            )
        default: return value
        }
    }
}

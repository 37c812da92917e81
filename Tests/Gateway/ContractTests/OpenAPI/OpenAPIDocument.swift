import Foundation
import JSONText
import Yams

/// openapi.yaml of the package.
struct OpenAPIDocument {
    /// One operation of the document.
    struct Operation {
        let method: String
        let path: String
        let name: String
        let statuses: Set<Int>
        let query: Set<String>
    }

    let root: JSONValue

    init() throws {
        let top = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: top.appending(path: "openapi.yaml"), encoding: .utf8)
        guard let node = try Yams.compose(yaml: text) else { throw OpenAPIDocumentError.unreadable }
        root = try Self.value(node)
    }

    /// The value that a `$ref` names.
    func resolve(_ value: JSONValue) -> JSONValue {
        guard let reference = value["$ref"]?.string, let pointer = JSONPointer(String(reference.dropFirst())) else {
            return value
        }
        return root.value(at: pointer) ?? .null
    }

    /// The names that a query parameter stands for: those of its members, where it is an exploded object.
    private func names(_ parameter: JSONValue) -> [String] {
        let members = properties(parameter["schema"] ?? .null)
        return members.isEmpty ? [parameter["name"]?.string ?? ""] : members
    }

    private func properties(_ schema: JSONValue) -> [String] {
        let schema = resolve(schema)
        let own = schema["properties"]?.object.map { $0.map(\.name) } ?? []
        return own + (schema["oneOf"]?.array ?? []).flatMap(properties)
    }

    /// All operations, in the order of the document.
    var operations: [Operation] {
        (root["paths"]?.object.map { Array($0) } ?? []).flatMap { path in
            (path.value.object.map { Array($0) } ?? []).filter { $0.name != "parameters" }.map { operation in
                let parameters =
                    (path.value["parameters"]?.array ?? []) + (operation.value["parameters"]?.array ?? [])
                let query = parameters.map(resolve).filter { $0["in"]?.string == "query" }
                let statuses = (operation.value["responses"]?.object.map { Array($0) } ?? []).compactMap {
                    Int($0.name)
                }
                return Operation(
                    method: operation.name.uppercased(),
                    path: path.name,
                    name: operation.value["operationId"]?.string ?? "",
                    statuses: Set(statuses),
                    query: Set(query.flatMap(names))
                )
            }
        }
    }

    private static func value(_ node: Node) throws -> JSONValue {
        switch node {
        case .mapping(let mapping):
            var object = JSONObject()
            for (key, value) in mapping { object[key.string ?? ""] = try self.value(value) }
            return .object(object)
        case .sequence(let sequence):
            return .array(try sequence.map { try value($0) })
        case .scalar(let scalar):
            if node.tag.rawValue == Tag.Name.str.rawValue { return .string(scalar.string) }
            if let bool = node.bool { return .bool(bool) }
            if node.null != nil { return .null }
            if let number = JSONNumber(scalar.string) { return .number(number) }
            return .string(scalar.string)
        case .alias:
            throw OpenAPIDocumentError.unreadable
        }
    }
}

/// The reason for which the document cannot be used.
enum OpenAPIDocumentError: Error {
    case unreadable
}

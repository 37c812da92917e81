internal import JSONText

/// A request of the Model Context Protocol: JSON-RPC 2.0 (<https://www.jsonrpc.org/specification>).
struct MCPRequest: Sendable {
    /// The id, a string or a number, which the response repeats; nil for a notification.
    let id: JSONValue?
    let method: String
    /// The parameters that methods have; empty if there are none.
    let params: JSONObject

    /// Reads a message; nil for a response, which no request of this server asks for. Throws a 400 problem.
    init?(_ object: JSONObject) throws(Problem) {
        func has(_ name: String, _ isValid: (JSONValue) -> Bool) -> Bool { object[name].map(isValid) ?? true }
        guard object["jsonrpc"]?.string == "2.0", has("id", { $0.string != nil || $0.number != nil }),
            has("method", { $0.string != nil }), has("params", { $0.object != nil }),
            has("error", { $0.object != nil }),
            object.allSatisfy({ ["jsonrpc", "id", "method", "params", "result", "error"].contains($0.name) })
        else { throw Self.malformed }
        guard let method = object["method"]?.string else {
            if object["result"] == nil, object["error"] == nil { throw Self.malformed }
            return nil
        }
        // Others, such as `_meta`, would take a multiple of the memory of the body as long as the request waits.
        let known = ["name", "arguments", "uri", "protocolVersion"]
        let params = (object["params"]?.object ?? JSONObject()).filter { known.contains($0.name) }
        (id, self.method, self.params) = (object["id"], method, JSONObject(params))
    }

    private static let malformed = Problem(.malformed, detail: "The body is not a message of JSON-RPC 2.0.")
}

struct MCPError: Error, Sendable, Equatable {
    /// The code: −32601 unknown method, −32602 invalid parameters, −32002 unknown resource.
    let code: Int
    let message: String

    static func invalidParams(_ message: String) -> MCPError { MCPError(code: -32_602, message: message) }
}

extension Response {
    /// The response to a JSON-RPC request: its result or its error.
    static func message(_ id: JSONValue, _ result: Result<JSONValue, MCPError>) -> Response {
        switch result {
        case .success(let value): .json { $0.value(["jsonrpc": "2.0", "id": id, "result": value]) }
        case .failure(let error):
            .json {
                let error: JSONValue = ["code": .number(JSONNumber(error.code)), "message": .string(error.message)]
                $0.value(["jsonrpc": "2.0", "id": id, "error": error])
            }
        }
    }

    /// The body as JSON; null if it is none.
    var json: JSONValue {
        guard case .bytes(let bytes) = body else { return .null }
        return (try? JSONValue(parsing: bytes)) ?? .null
    }

    var text: String {
        guard case .bytes(let bytes) = body else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The sentences of the problem that the response reports.
    var problemText: String {
        let problem = json
        return [problem["title"]?.string.map { $0 + "." }, problem["detail"]?.string].compactMap(\.self)
            .joined(separator: " ")
    }

    /// The opaque part of the `ETag`; nil without one.
    var cursor: String? { headers["ETag"].map { String($0.drop { $0 != "\"" }.dropFirst().dropLast()) } }
}

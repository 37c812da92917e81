internal import Yams

/// Writes the nodes of an OpenAPI document as HTML.
struct DocsWriter {
    private let root: Node?
    private var html = ""

    /// A writer over a document; without one the page says so.
    init(root: Node?) { self.root = root }

    /// The whole page.
    mutating func page() -> String {
        let info = root?["info"]
        let title = info?["title"]?.string ?? "API"
        html = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">"
        html += "<meta name=\"viewport\" content=\"width=device-width\"><title>\(Self.escape(title))</title>"
        html += "<link rel=\"stylesheet\" href=\"/assets/base.css\"><link rel=\"stylesheet\" href=\"/assets/docs.css\">"
        html += "<main><h1>\(Self.escape(title))</h1>"
        html += "<p>The machine form of this page is <a href=\"/openapi.yaml\">openapi.yaml</a>.</p>"
        text(info?["description"]?.string)
        contents()
        for (path, item) in pairs(root?["paths"]) { operations(path, item) }
        problems()
        schemas()
        return html + "</main></html>\n"
    }

    private mutating func contents() {
        html += "<h2>Operations</h2><table>"
        for (path, item) in pairs(root?["paths"]) {
            for (method, operation) in pairs(item) where Self.methods.contains(method) {
                let id = operation["operationId"]?.string ?? ""
                html += "<tr><td class=\"m\">\(method.uppercased())<td><a href=\"#\(Self.escape(id))\">"
                html += "<code>\(Self.escape(path))</code></a><td>\(Self.inline(operation["summary"]?.string ?? ""))"
            }
        }
        html += "</table>"
    }

    private mutating func operations(_ path: String, _ item: Node) {
        for (method, operation) in pairs(item) where Self.methods.contains(method) {
            let id = Self.escape(operation["operationId"]?.string ?? "")
            html += "<section id=\"\(id)\"><h3><span class=\"m\">\(method.uppercased())</span> "
            html += "<code>\(Self.escape(path))</code></h3>"
            text(operation["summary"]?.string)
            text(operation["description"]?.string)
            parameters(elements(item["parameters"]) + elements(operation["parameters"]))
            body(resolve(operation["requestBody"]))
            responses(operation["responses"])
            html += "</section>"
        }
    }

    private mutating func parameters(_ nodes: [Node]) {
        guard !nodes.isEmpty else { return }
        html += "<h4>Parameters</h4><table>"
        for node in nodes {
            guard let parameter = resolve(node) else { continue }
            html += "<tr><td><code>\(Self.escape(parameter["name"]?.string ?? ""))</code>"
            html += "<td>\(Self.escape(parameter["in"]?.string ?? ""))<td>\(schema(parameter["schema"]))"
            html += "<td>\(Self.inline(parameter["description"]?.string ?? ""))"
        }
        html += "</table>"
    }

    private mutating func body(_ body: Node?) {
        guard let body else { return }
        html += "<h4>Body</h4><table>"
        for (type, content) in pairs(body["content"]) {
            html += "<tr><td><code>\(Self.escape(type))</code><td>\(schema(content["schema"]))"
        }
        html += "</table>"
    }

    private mutating func responses(_ responses: Node?) {
        html += "<h4>Answers</h4><table>"
        for (status, node) in pairs(responses) {
            guard let response = resolve(node) else { continue }
            let forms = pairs(response["content"]).map { type, content in
                "<code>\(Self.escape(type))</code> \(schema(content["schema"]))"
            }
            html += "<tr><td>\(Self.escape(status))<td>\(Self.inline(response["description"]?.string ?? ""))"
            html += "<td>\(forms.joined(separator: "<br>"))"
        }
        html += "</table>"
    }

    private mutating func problems() {
        html += "<h2>Problems</h2><table>"
        for code in ProblemCode.allCases {
            html += "<tr id=\"\(code.rawValue)\"><td><code>\(code.rawValue)</code><td>\(code.status)"
            html += "<td>\(Self.escape(code.title))"
        }
        html += "</table>"
    }

    private mutating func schemas() {
        html += "<h2>Schemas</h2>"
        for (name, schema) in pairs(root?["components"]?["schemas"]) {
            html += "<section id=\"schema-\(Self.escape(name))\"><h3>\(Self.escape(name))</h3>"
            text(schema["description"]?.string)
            let yaml = (try? Yams.serialize(node: schema)) ?? ""
            html += "<pre>\(Self.escape(yaml))</pre></section>"
        }
    }

    // MARK: - Pieces

    private static let methods: Set<String> = ["get", "post", "patch", "put", "delete"]

    /// A short description of a schema: a link, or its type and values.
    private func schema(_ node: Node?) -> String {
        guard let node else { return "" }
        if let reference = node["$ref"]?.string, let name = reference.split(separator: "/").last {
            return "<a href=\"#schema-\(Self.escape(String(name)))\">\(Self.escape(String(name)))</a>"
        }
        if let values = node["enum"]?.sequence {
            return Self.escape(values.compactMap(\.string).joined(separator: ", "))
        }
        let options = elements(node["anyOf"]) + elements(node["oneOf"])
        if !options.isEmpty { return options.map { schema($0) }.joined(separator: " or ") }
        if let types = node["type"]?.sequence { return Self.escape(types.compactMap(\.string).joined(separator: ", ")) }
        return Self.escape(node["type"]?.string ?? "")
    }

    private mutating func text(_ text: String?) {
        guard let text else { return }
        for paragraph in text.split(separator: "\n\n") {
            html += "<p>\(Self.inline(String(paragraph)))</p>"
        }
    }

    private func resolve(_ node: Node?) -> Node? {
        guard let reference = node?["$ref"]?.string else { return node }
        return reference.split(separator: "/").dropFirst().reduce(root) { place, name in place?[String(name)] }
    }

    private func pairs(_ node: Node?) -> [(String, Node)] {
        guard let mapping = node?.mapping else { return [] }
        return mapping.compactMap { pair in pair.key.string.map { ($0, pair.value) } }
    }

    private func elements(_ node: Node?) -> [Node] { node?.sequence.map { Array($0) } ?? [] }

    /// Escapes, then sets `` `code` `` and `**bold**`.
    private static func inline(_ text: String) -> String {
        let code = escape(text).split(separator: "`", omittingEmptySubsequences: false)
        return code.enumerated().map { index, part in
            if index % 2 == 1 { return "<code>\(part)</code>" }
            let bold = part.split(separator: "**", omittingEmptySubsequences: false)
            return bold.enumerated().map { $0 % 2 == 1 ? "<b>\($1)</b>" : String($1) }.joined()
        }.joined()
    }

    private static func escape(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.append(character)
            }
        }
    }
}

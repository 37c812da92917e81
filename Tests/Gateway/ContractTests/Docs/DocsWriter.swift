internal import Yams

/// Writes the parts of the API page that come from openapi.yaml, from the table of codes and from `Members.md` into its
/// template.
struct DocsWriter {
    private let document: DocsDocument
    private let codes: DocsCodes
    private let members: DocsMembers

    /// A writer over a contract, the entries of `codes.json` and the Markdown of `Members.md`.
    init(root: Node?, codes: Node?, members: String) {
        document = DocsDocument(root: root)
        self.codes = DocsCodes(root: codes)
        self.members = DocsMembers(markdown: members)
    }

    /// The page: the template with its marks `{{…}}` replaced, a line for each section, row and entry.
    func page(template: String) -> String {
        ["<section", "<details", "<h2", "<h3", "<li", "<tr", "<div class=\"sample"].reduce(filled(template)) {
            page,
            tag in
            page.replacing(tag, with: "\n" + tag).replacing("\n\n" + tag, with: "\n" + tag)
        }
    }

    private func filled(_ template: String) -> String {
        let parts: [String: () -> String] = [
            "version": { DocsMarkup.escape(document.root?["info"]?["version"]?.string ?? "") },
            "introduction": { DocsMarkup.paragraphs(document.root?["info"]?["description"]?.string) },
            "contents": contents, "operations": operations, "problems": codes.problems,
            "session-codes": { codes.table("session") }, "subscription-codes": { codes.table("subscription") },
            "message-codes": { codes.table("message") }, "members": members.html, "schemas": schemas,
        ]
        return template.split(separator: "{{", omittingEmptySubsequences: false).enumerated().map { index, piece in
            guard index > 0, let end = piece.firstRange(of: "}}") else { return String(piece) }
            return (parts[String(piece[..<end.lowerBound])]?() ?? "") + piece[end.upperBound...]
        }.joined()
    }

    // MARK: - Contents

    private var tags: [(name: String, description: String)] {
        document.elements(document.root?["tags"]).map { ($0["name"]?.string ?? "", $0["description"]?.string ?? "") }
    }

    private func operations(of tag: String) -> [(path: String, item: Node, method: String, operation: Node)] {
        document.operations.filter { document.elements($0.operation["tags"]).first?.string == tag }
    }

    private func contents() -> String {
        tags.map { tag in
            let entries = operations(of: tag.name).map { path, _, method, operation in
                "<li><a href=\"#\(operation["operationId"]?.string ?? "")\"><b class=\"method \(method)\">"
                    + "\(method.uppercased())</b> <code>\(DocsMarkup.escape(path))</code></a>"
            }
            return "<h3>\(tag.name.prefix(1).uppercased())\(tag.name.dropFirst())</h3><ul>\(entries.joined())</ul>"
        }.joined()
    }

    // MARK: - Operations

    private func operations() -> String {
        tags.map { tag in
            "<h2 id=\"tag-\(tag.name)\">\(tag.name.prefix(1).uppercased())\(tag.name.dropFirst())</h2>"
                + "<p>\(DocsMarkup.inline(tag.description))</p>"
                + operations(of: tag.name).map(operation).joined()
        }.joined()
    }

    private func operation(_ path: String, _ item: Node, _ method: String, _ operation: Node) -> String {
        let id = operation["operationId"]?.string ?? ""
        let summary = operation["summary"]?.string ?? ""
        return """
            <section class="operation" id="\(id)"><h3><a href="#\(id)"><b class="method \(method)">\
            \(method.uppercased())</b> <code>\(DocsMarkup.escape(path))</code></a></h3>\
            <p class="summary">\(DocsMarkup.inline(summary))</p>\
            \(DocsMarkup.paragraphs(operation["description"]?.string))
            """
                + examples(path, item, method, operation)
                + parameters(document.elements(item["parameters"]) + document.elements(operation["parameters"]))
                + body(document.resolve(operation["requestBody"])) + responses(path, operation) + "</section>"
    }

    private func examples(_ path: String, _ item: Node, _ method: String, _ operation: Node) -> String {
        let example = DocsExample(method: method, path: path, item: item, operation: operation, document: document)
        let tabs = [
            ("curl", example.curl), ("JavaScript", example.javaScript), ("Python", example.python),
            ("Swift", example.swift),
        ]
        let panels = tabs.map { language, text in
            "<div class=\"sample\" data-language=\"\(language)\">"
                + DocsMarkup.code(text, language: language.lowercased()) + "</div>"
        }
        let run = example.runPath.map { " data-run=\"\(DocsMarkup.escape($0))\"" } ?? ""
        return "<div class=\"samples\"\(run)>\(panels.joined())</div>" + answer(operation)
    }

    private func answer(_ operation: Node) -> String {
        guard let (status, response) = document.success(of: operation) else { return "" }
        let description = DocsMarkup.paragraphs(response["description"]?.string)
        let heading = "<h4>Response \(status)</h4>\(description)"
        if let value = document.example(of: response, mediaType: "application/json") {
            return heading + DocsMarkup.code(DocsLiteral.json.text(value, width: 80), language: "json")
        }
        if let text = document.example(of: response, mediaType: "text/plain")?.string {
            return heading + DocsMarkup.code(text, language: "text")
        }
        return heading
    }

    private func parameters(_ nodes: [Node]) -> String {
        let rows = nodes.compactMap(document.resolve).map { parameter in
            "<tr><th scope=\"row\"><code>\(DocsMarkup.escape(parameter["name"]?.string ?? ""))</code>"
                + "<td>\(parameter["in"]?.string ?? "")<td>\(schema(parameter["schema"]))"
                + "<td>\(DocsMarkup.inline(parameter["description"]?.string ?? ""))"
        }
        guard !rows.isEmpty else { return "" }
        let head =
            "<thead><tr><th scope=\"col\">Name<th scope=\"col\">In<th scope=\"col\">Type<th scope=\"col\">Meaning"
        return "<h4>Parameters</h4><div class=\"scroll\"><table>\(head)<tbody>\(rows.joined())</table></div>"
    }

    private func body(_ body: Node?) -> String {
        guard let body else { return "" }
        let forms = document.pairs(body["content"]).map { type, content in
            "<li><code>\(DocsMarkup.escape(type))</code>: \(schema(content["schema"]))"
        }
        return "<h4>Body</h4><ul>\(forms.joined())</ul>"
    }

    // MARK: - Responses

    /// The statuses that any operation may have; the page explains them once.
    private static let common: Set<String> = ["400", "401", "403", "406", "413", "415", "429", "503", "default"]

    private func responses(_ path: String, _ operation: Node) -> String {
        let rows = document.pairs(operation["responses"]).compactMap { status, node -> String? in
            guard !Self.common.contains(status), let response = document.resolve(node) else { return nil }
            let codes = codes(of: response, status: status, path: path).map { "<a href=\"#\($0)\">\($0)</a>" }
            let forms = document.pairs(response["content"]).filter { $0.0 != "application/problem+json" }
                .map { "\(schema($0.1["schema"]))" }
            return "<tr><th scope=\"row\">\(status)<td>\(DocsMarkup.inline(response["description"]?.string ?? ""))"
                + "<td>\((forms + codes).joined(separator: " "))"
        }
        let note = "<p class=\"note\">Beside these, the <a href=\"#errors\">errors of every operation</a>.</p>"
        return "<h4>Responses</h4><div class=\"scroll\"><table><tbody>\(rows.joined())</table></div>\(note)"
    }

    private func codes(of response: Node, status: String, path: String) -> [String] {
        let examples = document.pairs(response["content"]?["application/problem+json"]?["examples"])
        var codes = examples.compactMap { document.resolve($0.1)?["value"]?["code"]?.string }
        guard status == "404" else { return codes }
        let segments = path.split(separator: "/")
        codes = zip(segments, segments.dropFirst()).compactMap { kind, parameter in
            switch (kind, parameter) {
            case ("clients", "{id}"): "unknown-client"
            case ("subscriptions", "{id}"): "unknown-subscription"
            case ("streams", "{id}"): "unknown-stream"
            case ("upstreams", "{name}"): "unknown-upstream"
            case (_, "{item}"): "unknown-item"
            case (_, "{field}"): "unknown-field"
            default: nil
            }
        }
        return codes.isEmpty ? ["unknown-upstream"] : codes
    }

    // MARK: - Schemas

    private func schemas() -> String {
        document.pairs(document.root?["components"]?["schemas"]).map { name, schema in
            let yaml = (try? Yams.serialize(node: schema)) ?? ""
            return "<details class=\"schema\" id=\"schema-\(DocsMarkup.escape(name))\"><summary>"
                + "\(DocsMarkup.escape(name))</summary>" + DocsMarkup.paragraphs(schema["description"]?.string)
                + DocsMarkup.code(yaml, language: "yaml") + "</details>"
        }.joined()
    }

    /// A short description of a schema: a link, or its type and values.
    private func schema(_ node: Node?) -> String {
        guard let node else { return "" }
        if let reference = node["$ref"]?.string, let name = reference.split(separator: "/").last {
            return "<a href=\"#schema-\(DocsMarkup.escape(String(name)))\">\(DocsMarkup.escape(String(name)))</a>"
        }
        if let values = node["enum"]?.sequence {
            return DocsMarkup.escape(values.compactMap(\.string).joined(separator: ", "))
        }
        let options = document.elements(node["anyOf"]) + document.elements(node["oneOf"])
        if !options.isEmpty { return options.map { schema($0) }.joined(separator: " or ") }
        if let types = node["type"]?.sequence {
            return DocsMarkup.escape(types.compactMap(\.string).joined(separator: ", "))
        }
        return DocsMarkup.escape(node["type"]?.string ?? "")
    }
}

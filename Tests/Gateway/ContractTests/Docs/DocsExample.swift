internal import Yams

/// A call of an operation with the values of the examples in openapi.yaml, in four languages.
///
/// Ids are variables, which the page's first section sets: `CLIENT`, `SUBSCRIPTION`, `PORTFOLIO`, `KEY`, `STREAM`,
/// `SESSION`.
struct DocsExample {
    /// The placeholder of the address, which the page replaces by its own origin.
    static let origin = "http://127.0.0.1:8080"
    static let width = 88

    /// A piece of a path, or the value of a header.
    private enum Segment {
        case text(String)
        case variable(String)
    }

    let method: String
    private let segments: [Segment]
    private let query: [(name: String, value: String)]
    private let headers: [(name: String, value: Segment)]
    let body: Node?
    let answer: Answer
    /// Whether the response may take longer than the five seconds of Python's `httpx`.
    private let waits: Bool

    /// The body of the response.
    enum Answer {
        case json
        case text
        case nothing
        case stream
    }

    /// The example of an operation, whose references are resolved by `document`.
    init(method: String, path: String, item: Node, operation: Node, document: DocsDocument) {
        self.method = method.uppercased()
        let parameters = document.elements(item["parameters"]) + document.elements(operation["parameters"])
        let isKeyed = path.contains("/keys")
        segments = path.split(separator: "/").map { segment in
            guard segment.hasPrefix("{") else { return .text(String(segment)) }
            let name = segment.dropFirst().dropLast()
            let place = parameters.first { document.resolve($0)?["name"]?.string == String(name) }
            return Self.segment(place, document, isKeyed: isKeyed)
        }
        // The parameters of a subscription are optional, but some of them are needed.
        query = parameters.filter { $0["$ref"]?.string?.contains("/parameters/Join") == true }
            .compactMap(document.resolve)
            .compactMap { parameter in
                parameter["example"]?.string.map { (name: parameter["name"]?.string ?? "", value: $0) }
            }
        headers = parameters.compactMap { Self.header($0, method: method) }
        body = Self.body(document.resolve(operation["requestBody"]), document)
        let answer = Self.answer(document.success(of: operation)?.node, document)
        waits = answer == .stream || headers.contains { $0.name == "Prefer" }
        // An EventSource sends no headers.
        self.answer = answer == .stream && !headers.isEmpty ? .text : answer
    }

    private static func segment(_ parameter: Node?, _ document: DocsDocument, isKeyed: Bool) -> Segment {
        switch parameter?["$ref"]?.string?.split(separator: "/").last {
        case "ClientId": return .variable("CLIENT")
        case "SubscriptionId": return .variable(isKeyed ? "PORTFOLIO" : "SUBSCRIPTION")
        case "StreamId": return .variable("STREAM")
        case "Key": return .variable("KEY")
        case "Item" where isKeyed: return .text("portfolio1")
        case "Field" where isKeyed: return .text("qty")
        default: return .text(document.resolve(parameter)?["example"]?.string ?? "")
        }
    }

    /// The header of a parameter that the example needs.
    private static func header(_ parameter: Node, method: String) -> (name: String, value: Segment)? {
        switch parameter["$ref"]?.string?.split(separator: "/").last {
        case "Prefer" where method == "post": ("Prefer", .text("wait=5"))
        case "RequiredMcpSession": ("Mcp-Session-Id", .variable("SESSION"))
        default: nil
        }
    }

    private static func body(_ body: Node?, _ document: DocsDocument) -> Node? {
        guard let content = body?["content"] else { return nil }
        let form = content["application/json"] ?? document.pairs(content).first?.1
        return document.pairs(form?["examples"]).first.flatMap { document.resolve($0.1) }?["value"]
    }

    private static func answer(_ response: Node?, _ document: DocsDocument) -> Answer {
        // The first media type is that of a response without `Accept`.
        switch document.pairs(response?["content"]).first?.0 {
        case "text/event-stream": return .stream
        case "application/json": return .json
        case nil: return .nothing
        default: return .text
        }
    }

    // MARK: - Languages

    /// The URL, with each variable as the language writes it.
    func url(_ variable: (String) -> String) -> String {
        let path = segments.map { segment in
            switch segment {
            case .text(let text): "/" + text
            case .variable(let name): "/" + variable(name)
            }
        }.joined()
        let pairs = query.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
        return Self.origin + (path.isEmpty ? "/" : path) + (pairs.isEmpty ? "" : "?" + pairs)
    }

    /// The path and query of a call that the page can make by itself: a GET of a resource that is always there, or of a
    /// stream; nil for other calls.
    var runPath: String? {
        let isFixed = segments.allSatisfy { if case .text = $0 { true } else { false } }
        guard method == "GET", isFixed, headers.isEmpty, answer != .nothing else { return nil }
        return String(url(\.self).dropFirst(Self.origin.count))
    }

    /// The headers, each value as an expression of JavaScript, Python and Swift.
    var headerExpressions: [(name: String, value: String)] {
        headers.map { header in
            switch header.value {
            case .text(let text): (header.name, "\"\(text)\"")
            case .variable(let name): (header.name, name.lowercased())
            }
        }
    }

    /// The headers as members of an object of JavaScript, or of a dictionary of Python.
    private var headerFields: [String] { headerExpressions.map { "\"\($0.name)\": \($0.value)" } }

    /// A command line.
    var curl: String {
        var words = ["curl"]
        if answer == .stream { words.append("-N") }
        if answer == .nothing { words.append("-i") }
        if method != "GET" { words += ["-X", method] }
        words.append("\"\(url { "$\($0)" })\"")
        for header in headers {
            switch header.value {
            case .text(let text): words += ["-H", "'\(header.name): \(text)'"]
            case .variable(let name): words += ["-H", "\"\(header.name): $\(name)\""]
            }
        }
        guard let body else { return words.joined(separator: " ") }
        let text = DocsLiteral.json.text(body, width: Self.width)
        return words.joined(separator: " ") + " \\\n  -H 'Content-Type: application/json' \\\n  -d '\(text)'"
    }

    /// A piece of JavaScript for a page or for Node.
    var javaScript: String {
        let quote = url { "${\($0.lowercased())}" }
        let url = quote.contains("${") ? "`\(quote)`" : "\"\(quote)\""
        if answer == .stream {
            return """
                const source = new EventSource(\(url));
                source.addEventListener("update", (event) => {
                  const { item, fields } = JSON.parse(event.data);
                  console.log(item, fields);
                });
                """
        }
        var lines: [String] = []
        if method != "GET" { lines.append("  method: \"\(method)\",") }
        let type = body == nil ? [] : ["\"Content-Type\": \"application/json\""]
        let fields = type + headerFields
        if !fields.isEmpty { lines.append("  headers: { \(fields.joined(separator: ", ")) },") }
        if let body {
            lines.append("  body: JSON.stringify(\(DocsLiteral.json.text(body, width: Self.width, indent: "  "))),")
        }
        let options = lines.isEmpty ? "" : ", {\n\(lines.joined(separator: "\n"))\n}"
        let read =
            switch answer {
            case .json: ", await response.json()"
            case .text: ", await response.text()"
            case .nothing, .stream: ""
            }
        return "const response = await fetch(\(url)\(options));\nconsole.log(response.status\(read));"
    }

    /// A piece of Python.
    var python: String {
        let quote = url { "{\($0.lowercased())}" }
        let url = quote.contains("{") ? "f\"\(quote)\"" : "\"\(quote)\""
        if answer == .stream {
            return """
                import httpx
                from httpx_sse import connect_sse

                with httpx.Client(timeout=httpx.Timeout(10, read=60)) as http:
                    with connect_sse(http, "GET", \(url)) as source:
                        for event in source.iter_sse():
                            print(event.event, event.data)
                """
        }
        var arguments = [url]
        if !headers.isEmpty { arguments.append("headers={\(headerFields.joined(separator: ", "))}") }
        if let body { arguments.append("json=\(DocsLiteral.python.text(body, width: Self.width))") }
        if waits { arguments.append("timeout=60") }
        let read =
            switch answer {
            case .json: ", response.json()"
            case .text: ", response.text"
            case .nothing, .stream: ""
            }
        return """
            import httpx

            response = httpx.\(method.lowercased())(\(arguments.joined(separator: ", ")))
            print(response.status_code\(read))
            """
    }
}

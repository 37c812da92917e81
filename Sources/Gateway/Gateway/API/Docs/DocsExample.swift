internal import Yams

/// A call of an operation with the values of the examples in openapi.yaml, in four languages.
///
/// Ids are variables, which the page's first section sets: `CLIENT`, `SUBSCRIPTION`, `PORTFOLIO`, `KEY`, `STREAM`.
struct DocsExample {
    /// The placeholder of the address, which the page replaces by its own origin.
    static let origin = "http://127.0.0.1:8080"
    static let width = 88

    /// A piece of a path.
    private enum Segment {
        case text(String)
        case variable(String)
    }

    let method: String
    private let segments: [Segment]
    private let query: [(name: String, value: String)]
    let waits: Bool
    let body: Node?
    let answer: Answer

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
        let references = parameters.compactMap { $0["$ref"]?.string }
        waits = method == "post" && references.contains("#/components/parameters/Prefer")
        body = Self.body(document.resolve(operation["requestBody"]), document)
        answer = Self.answer(document.success(of: operation)?.node, document)
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

    private static func body(_ body: Node?, _ document: DocsDocument) -> Node? {
        guard let content = body?["content"] else { return nil }
        let form = content["application/json"] ?? document.pairs(content).first?.1
        return document.pairs(form?["examples"]).first.flatMap { document.resolve($0.1) }?["value"]
    }

    private static func answer(_ response: Node?, _ document: DocsDocument) -> Answer {
        let types = document.pairs(response?["content"]).map(\.0)
        if types.contains("text/event-stream") { return .stream }
        guard let first = types.first else { return .nothing }
        return first == "application/json" ? .json : .text
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
        guard method == "GET", isFixed, answer != .nothing else { return nil }
        return String(url(\.self).dropFirst(Self.origin.count))
    }

    /// A command line.
    var curl: String {
        var words = ["curl"]
        if answer == .stream { words.append("-N") }
        if answer == .nothing { words.append("-i") }
        if method != "GET" { words += ["-X", method] }
        words.append("\"\(url { "$\($0)" })\"")
        if waits { words += ["-H", "'Prefer: wait=5'"] }
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
        var headers: [String] = []
        if body != nil { headers.append("\"Content-Type\": \"application/json\"") }
        if waits { headers.append("Prefer: \"wait=5\"") }
        if !headers.isEmpty { lines.append("  headers: { \(headers.joined(separator: ", ")) },") }
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

                with httpx.Client(timeout=httpx.Timeout(10, read=60)) as client:
                    with connect_sse(client, "GET", \(url)) as source:
                        for event in source.iter_sse():
                            print(event.event, event.data)
                """
        }
        var arguments = [url]
        if waits { arguments.append("headers={\"Prefer\": \"wait=5\"}") }
        if let body { arguments.append("json=\(DocsLiteral.python.text(body, width: Self.width))") }
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

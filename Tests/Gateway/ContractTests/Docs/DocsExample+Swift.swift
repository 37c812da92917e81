internal import Yams

extension DocsExample {
    /// A piece of Swift for Linux and Apple platforms.
    var swift: String {
        var lines = ["import AsyncHTTPClient"] + (answer == .nothing ? [""] : ["import NIOCore", ""])
        let url = url { "\\(\($0.lowercased()))" }
        lines.append("\(isPlainGet ? "let" : "var") request = HTTPClientRequest(url: \"\(url)\")")
        if method != "GET" { lines.append("request.method = .\(method)") }
        for (name, value) in headerExpressions {
            lines.append("request.headers.add(name: \"\(name)\", value: \(value))")
        }
        if let body {
            lines.append("request.headers.add(name: \"Content-Type\", value: \"application/json\")")
            let text = DocsLiteral.json.text(body, width: Self.width, indent: "    ")
            lines.append("request.body = .bytes(Array(#\"\"\"\n    \(text)\n    \"\"\"#.utf8))")
        }
        lines.append("let response = try await HTTPClient.shared.execute(request, timeout: .minutes(1))")
        switch answer {
        case .stream:
            lines.append("for try await chunk in response.body { print(String(buffer: chunk), terminator: \"\") }")
        case .nothing: lines.append("print(response.status.code)")
        case .json, .text:
            lines.append("let body = try await response.body.collect(upTo: 1 << 20)")
            lines.append("print(response.status.code, String(buffer: body))")
        }
        return lines.joined(separator: "\n")
    }

    private var isPlainGet: Bool { method == "GET" && headerExpressions.isEmpty && body == nil }
}

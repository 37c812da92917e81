internal import Yams

@testable import Gateway

/// HTML and JSON texts of the API page.
enum DocsMarkup {
    /// A text as HTML, with `` `code` `` and `**bold**` set.
    static func inline(_ text: String) -> String {
        let code = escape(text).split(separator: "`", omittingEmptySubsequences: false)
        return code.enumerated().map { index, part in
            if index % 2 == 1 { return "<code>\(part)</code>" }
            let bold = part.split(separator: "**", omittingEmptySubsequences: false)
            return bold.enumerated().map { $0 % 2 == 1 ? "<b>\($1)</b>" : String($1) }.joined()
        }.joined()
    }

    /// Paragraphs of a description, with its lists and tables.
    static func paragraphs(_ text: String?) -> String {
        (text ?? "").split(separator: "\n\n").map { paragraph in
            let lines = paragraph.split(separator: "\n")
            if lines.allSatisfy({ $0.hasPrefix("| ") || $0.hasPrefix("|-") }) { return table(lines) }
            guard lines.allSatisfy({ $0.hasPrefix("- ") }) else { return "<p>\(inline(String(paragraph)))</p>" }
            return "<ul>" + lines.map { "<li>\(inline(String($0.dropFirst(2))))" }.joined() + "</ul>"
        }.joined()
    }

    /// A table of lines with cells between bars; the second line separates the header.
    private static func table(_ lines: [Substring]) -> String {
        let rows = lines.filter { !$0.hasPrefix("|-") }.enumerated().map { index, line in
            let cells = line.split(separator: "|").map { inline(String($0.trimmed)) }.filter { !$0.isEmpty }
            return "<tr>" + cells.map { index == 0 ? "<th scope=\"col\">\($0)" : "<td>\($0)" }.joined()
        }
        return "<table>" + rows.joined() + "</table>"
    }

    /// A text with all markup escaped.
    static func escape(_ text: String) -> String {
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

    /// A code block of a language.
    static func code(_ text: String, language: String) -> String {
        "<pre tabindex=\"0\"><code class=\"language-\(language)\">\(escape(text))</code></pre>"
    }
}

/// The syntax of values in a language.
struct DocsLiteral {
    private let null: String
    private let yes: String
    private let no: String

    /// JSON, which is also valid JavaScript.
    static let json = DocsLiteral(null: "null", yes: "true", no: "false")
    /// Python.
    static let python = DocsLiteral(null: "None", yes: "True", no: "False")

    /// A value of a YAML document, over several lines if one line is too long.
    func text(_ node: Node, width: Int, indent: String = "") -> String {
        let line = compact(node)
        if line.count + indent.count <= width { return line }
        let inner = indent + "  "
        if let mapping = node.mapping {
            let members = mapping.map { "\(inner)\(compact($0.key)): \(text($0.value, width: width, indent: inner))" }
            return "{\n\(members.joined(separator: ",\n"))\n\(indent)}"
        }
        guard let sequence = node.sequence else { return line }
        let elements = sequence.map { inner + text($0, width: width, indent: inner) }
        return "[\n\(elements.joined(separator: ",\n"))\n\(indent)]"
    }

    private func compact(_ node: Node) -> String {
        if let mapping = node.mapping {
            return "{" + mapping.map { "\(compact($0.key)): \(compact($0.value))" }.joined(separator: ", ") + "}"
        }
        if let sequence = node.sequence { return "[" + sequence.map(compact).joined(separator: ", ") + "]" }
        let scalar = node.scalar?.string ?? ""
        let isPlain = node.scalar?.style == .plain || node.scalar?.style == .any
        if isPlain {
            if node.null != nil { return null }
            if let bool = node.bool { return bool ? yes : no }
            if node.int != nil || node.float != nil { return scalar }
        }
        return quoted(scalar)
    }

    private func quoted(_ text: String) -> String {
        var result = "\""
        for character in text {
            switch character {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            default: result.append(character)
            }
        }
        return result + "\""
    }
}

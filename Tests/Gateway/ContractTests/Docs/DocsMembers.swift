@testable import Gateway

/// Writes the tables of the class reference's members from the Markdown of `Members.md`, without the column of test
/// names.
struct DocsMembers {
    private static let testsColumn = "shown by"

    private let markdown: String

    /// The tables of a Markdown text.
    init(markdown: String) { self.markdown = markdown }

    /// The sections after the title, as HTML.
    func html() -> String {
        let sections = ("\n" + markdown).split(separator: "\n## ").dropFirst()
        return sections.map { section in
            let blocks = section.split(separator: "\n\n")
            let heading = "<h3>\(DocsMarkup.inline(String(blocks.first ?? "")))</h3>"
            return heading + blocks.dropFirst().map { block(String($0)) }.joined()
        }.joined()
    }

    private func block(_ text: String) -> String {
        let text = text.replacing("``", with: "`")
        if text.hasPrefix("#") {
            return "<h4>\(DocsMarkup.inline(String(text.drop { $0 == "#" || $0 == " " })))</h4>"
        }
        guard text.hasPrefix("|") else { return DocsMarkup.paragraphs(text) }
        var rows = text.split(separator: "\n").map { line in
            line.split(separator: "|").map { String($0.trimmed) }
        }
        let columns = rows.removeFirst()
        let shown = columns.indices.filter { columns[$0] != Self.testsColumn }
        let head = shown.map { "<th scope=\"col\">\(DocsMarkup.inline(columns[$0]))" }.joined()
        let body = rows.dropFirst().map { cells in
            "<tr>" + shown.filter(cells.indices.contains).map { "<td>\(DocsMarkup.inline(cells[$0]))" }.joined()
        }
        return "<div class=\"scroll\"><table><thead><tr>\(head)<tbody>\(body.joined())</table></div>"
    }
}

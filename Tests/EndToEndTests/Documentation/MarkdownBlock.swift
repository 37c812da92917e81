internal import Foundation

/// A fenced code block of a Markdown file of the package.
struct MarkdownBlock {
    /// The file, relative to the package.
    let file: String
    /// The line of the opening fence, starting at 1.
    let line: Int
    /// The word behind the opening fence.
    let language: String
    /// The lines between the fences.
    let lines: [String]

    var text: String { lines.joined(separator: "\n") + "\n" }

    /// File and line, for messages.
    var place: String { "\(file):\(line)" }

    /// The folder of the package.
    static let package = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// All blocks of a language in README, the other top-level pages and the documentation catalog.
    static func all(_ language: String) throws -> [MarkdownBlock] {
        try markdownFiles().flatMap(blocks).filter { $0.language == language }
    }

    /// README, the other top-level pages and the documentation catalog, relative to the package.
    static func markdownFiles() throws -> [String] {
        let top = try FileManager.default.contentsOfDirectory(atPath: package.path).filter { $0.hasSuffix(".md") }
        let sources = package.appendingPathComponent("Sources")
        let pages = FileManager.default.enumerator(atPath: sources.path)?.compactMap { $0 as? String } ?? []
        return (top + pages.filter { $0.hasSuffix(".md") }.map { "Sources/\($0)" }).sorted()
    }

    private static func blocks(of file: String) throws -> [MarkdownBlock] {
        let text = try String(contentsOf: package.appendingPathComponent(file), encoding: .utf8)
        var blocks: [MarkdownBlock] = []
        var open: (line: Int, language: String, lines: [String])?
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.hasPrefix("```") {
                if let block = open {
                    blocks.append(
                        MarkdownBlock(file: file, line: block.line, language: block.language, lines: block.lines)
                    )
                    open = nil
                } else {
                    open = (index + 1, String(line.dropFirst(3)), [])
                }
            } else {
                open?.lines.append(String(line))
            }
        }
        return blocks
    }
}

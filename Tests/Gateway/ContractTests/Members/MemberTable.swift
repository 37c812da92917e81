internal import Testing

/// The table of the library's documentation: members of the class references and their equivalents.
struct MemberTable {
    /// One row.
    struct Row: CustomTestStringConvertible {
        /// The heading above it.
        var section: String
        /// The member of the class reference.
        var member: String
        /// The Swift members; empty for none.
        var swift: [String]
        /// The operations of the REST interface, as `GET /v1/…`.
        var operations: [String]
        /// The events of streams.
        var events: [String]
        /// The members of REST bodies.
        var properties: [String]
        /// The tests, as `Suite.function`.
        var tests: [String]

        var testDescription: String { "\(section): \(member)" }
    }

    /// The sections of members that this library omits.
    static let omissions = "Left out"

    private(set) var rows: [Row] = []

    /// Reads the tables of a Markdown text: four columns, the first of which begins with a code span.
    init(_ text: String) {
        var section = ""
        for line in text.split(separator: "\n") {
            if line.hasPrefix("#") { section = String(line.drop { $0 == "#" || $0 == " " }) }
            let columns = line.split(separator: "|").map { $0.drop { $0 == " " } }
            guard line.hasPrefix("| `"), columns.count == 4, let member = Self.spans(columns[0]).first else { continue }
            let spans = Self.spans(columns[2])
            rows.append(
                Row(
                    section: section,
                    member: member.text,
                    swift: Self.spans(columns[1]).map(\.text),
                    operations: spans.filter { $0.text.contains(" /") }.map(\.text),
                    events: spans.filter { $0.before.hasSuffix("event ") }.map(\.text),
                    properties: spans.filter { $0.before.hasSuffix("member ") }.map(\.text),
                    tests: Self.spans(columns[3]).map(\.text)
                )
            )
        }
    }

    /// The code spans of a cell, each with the text before it.
    private static func spans(_ cell: Substring) -> [(before: Substring, text: String)] {
        let pieces = cell.split(separator: "`", omittingEmptySubsequences: false)
        return stride(from: 1, to: pieces.count, by: 2).map { (pieces[$0 - 1], String(pieces[$0])) }
    }
}

internal import Yams

@testable import Gateway

/// Writes the tables of problem codes and of server codes, with cause and remedy; their anchors are the links of
/// problems.
struct DocsCodes {
    private let document: DocsDocument

    /// The tables over the entries of `codes.json`.
    init(root: Node?) { document = DocsDocument(root: root) }

    /// The problems of the gateway, each at the anchor that its `type` names.
    func problems() -> String {
        let entries = Dictionary(
            document.elements(document.root?["problem"]).map { ($0["code"]?.string ?? "", $0) },
            uniquingKeysWith: { first, _ in first }
        )
        let rows = ProblemCode.allCases.map { code in
            let entry = entries[code.rawValue]
            return "<tr id=\"\(code.rawValue)\"><th scope=\"row\"><code>\(code.rawValue)</code><td>\(code.status)"
                + "<td>\(DocsMarkup.escape(code.title))\(cells(entry))"
        }
        return table(["Code", "Status", "Meaning", "Cause", "Cure"], rows)
    }

    /// The codes of a Lightstreamer server: of a session, a subscription or a message.
    func table(_ kind: String) -> String {
        let rows = document.elements(document.root?[kind]).map { entry in
            let code = entry["code"]?.string ?? ""
            return "<tr id=\"\(kind)-\(code)\"><th scope=\"row\"><code>\(code == "0" ? "≤ 0" : code)</code>"
                + "<td>\(DocsMarkup.inline(entry["meaning"]?.string ?? ""))\(cells(entry))"
        }
        return table(["Code", "Meaning", "Cause", "Cure"], rows)
    }

    private func cells(_ entry: Node?) -> String {
        "<td>\(DocsMarkup.inline(entry?["cause"]?.string ?? ""))<td>\(DocsMarkup.inline(entry?["cure"]?.string ?? ""))"
    }

    private func table(_ columns: [String], _ rows: [String]) -> String {
        let head = columns.map { "<th scope=\"col\">\($0)" }.joined()
        return "<div class=\"scroll\"><table class=\"codes\"><thead><tr>\(head)<tbody>\(rows.joined())</table></div>"
    }
}

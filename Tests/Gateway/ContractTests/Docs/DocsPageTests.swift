import Foundation
import Testing
import Yams

@testable import Gateway

/// The page of `/docs`, which `.ci/render-docs` writes.
@Suite struct DocsPageTests {
    private static let path = "Sources/Gateway/Gateway/Resources/Docs/docs.html"

    /// The page that belongs to the present contract, table of codes, members and template.
    private func page() throws -> String {
        let resources = "Sources/Gateway/Gateway/Resources"
        let writer = DocsWriter(
            root: try Yams.compose(yaml: RepositoryFiles.text("openapi.yaml")),
            codes: try Yams.compose(yaml: RepositoryFiles.text(resources + "/codes.json")),
            members: try RepositoryFiles.text("Sources/Client/LightstreamerClient/Documentation.docc/Members.md")
        )
        return writer.page(template: try RepositoryFiles.text(resources + "/Docs/template.html"))
    }

    @Test func pageIsThatOfTheContract() throws {
        let page = try page()
        if ProcessInfo.processInfo.environment["RENDER_DOCS"] != nil {
            try page.write(to: RepositoryFiles.root.appending(path: Self.path), atomically: true, encoding: .utf8)
        }
        // Not the texts themselves, which a failure would print.
        let isCurrent = try RepositoryFiles.text(Self.path) == page
        #expect(
            isCurrent,
            "docs.html is not that of openapi.yaml, codes.json, Members.md and template.html: .ci/render-docs"
        )
    }

    @Test func pageHasTheMembersOfTheClassReference() throws {
        let text = try page()
        #expect(text.contains("<a href=\"#members\">"))
        #expect(text.contains("<tr><td><code>sessionRecoveryTimeout</code>"))
    }

    /// `httpx` gives up after five seconds, and a name of the program must not hide the id of the same name.
    @Test func examplesInPythonWaitForTheirResponses() throws {
        let page = try page()
        let programs = page.matches(of: /<code class="language-python">(.*?)<\/code>/.dotMatchesNewlines())
            .map { String($0.output.1) }
        let waiting = programs.filter { $0.contains("Prefer") || $0.contains("get(&quot;\(DocsExample.origin)/mcp") }
        #expect(waiting.count == 8 && waiting.allSatisfy { $0.contains(", timeout=60)") })
        #expect(programs.count { $0.contains("connect_sse(http, ") } == 4)
        #expect(!programs.contains { $0.contains(" as client:") })
    }

    @Test func tablesOfDescriptionsAreTables() {
        let text = "Codes:\n\n| code | meaning |\n|---|---|\n| `1` | none | |\n\nMore."
        let table = #"<table><tr><th scope="col">code<th scope="col">meaning<tr><td><code>1</code><td>none</table>"#
        #expect(DocsMarkup.paragraphs(text) == "<p>Codes:</p>\(table)<p>More.</p>")
    }

    @Test func membersOfTheClassReferenceAreTables() {
        let markdown = """
            # Title

            Introduction.

            ## First & only

            Of ``Kind`` and `LSKind`.

            | class reference | Swift | shown by |
            |---|---|---|
            | `a:b:` | `A.b(_:)`, `C` | `T.t` |

            ### Names
            """
        let html = DocsMembers(markdown: markdown).html()
        #expect(html.hasPrefix("<h3>First &amp; only</h3><p>Of <code>Kind</code> and <code>LSKind</code>.</p>"))
        #expect(html.contains("<th scope=\"col\">class reference<th scope=\"col\">Swift<tbody>"))
        #expect(html.contains("<tr><td><code>a:b:</code><td><code>A.b(_:)</code>, <code>C</code></table>"))
        #expect(html.hasSuffix("<h4>Names</h4>"))
        #expect(!html.contains("T.t"))
    }
}

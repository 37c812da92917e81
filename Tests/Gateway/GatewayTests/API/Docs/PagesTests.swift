import JSONText
import Testing

@testable import Gateway

@Suite struct PagesTests {
    @Test func everyProblemCodeHasItsCauseAndCure() throws {
        let file = try #require(EmbeddedFiles.shared["codes.json"])
        let codes = try JSONValue(parsing: Array(file.bytes.bytes))
        let problems = codes["problem"]?.array ?? []
        #expect(Set(problems.compactMap { $0["code"]?.string }) == Set(ProblemCode.allCases.map(\.rawValue)))
        for kind in ["problem", "session", "subscription", "message", "closing"] {
            for entry in codes[kind]?.array ?? [] {
                #expect(entry["cause"]?.string?.isEmpty == false && entry["cure"]?.string?.isEmpty == false, "\(entry)")
            }
        }
    }

    @Test func theDashboardMayNotBeFramed() async throws {
        let fixture = try await AccessFixture()
        let policy = fixture.perform("GET", "/").headers["Content-Security-Policy"]
        #expect(policy?.contains("default-src 'none'") == true)
        #expect(policy?.contains("frame-ancestors 'none'") == true)
    }

    @Test(arguments: [
        ("gzip", true), ("br, gzip;q=0.5", true), ("*", true), ("GZIP", true), ("gzip;q=0", false),
        ("gzip; q=0.000", false), ("br", false), ("", false),
    ])
    func gzipIsSentWhereItIsAccepted(header: String, isAccepted: Bool) {
        #expect(PagesResource.acceptsGzip(header) == isAccepted)
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

    @Test func docsHaveTheMembersOfTheClassReference() throws {
        let page = DocsPage()
        page.render()
        let html = try #require(page.html { _ in })
        let text = String(decoding: html.bytes.bytes, as: UTF8.self)
        #expect(text.contains("<a href=\"#members\">"))
        #expect(text.contains("<tr><td><code>sessionRecoveryTimeout</code>"))
        #expect(EmbeddedFiles.shared["Members.md"]?.mediaType == "text/markdown; charset=utf-8")
    }

    @Test func filesAreCompressedOnce() throws {
        let file = try #require(EmbeddedFiles.shared["app.js"])
        let compressed = try #require(file.compressed)
        #expect(compressed.bytes.bytes.count < file.bytes.bytes.count / 2)
        #expect(compressed.tag != file.tag)
    }
}

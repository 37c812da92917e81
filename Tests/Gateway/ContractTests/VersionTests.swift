import Testing

@testable import Gateway

@Suite struct VersionTests {
    @Test func programContractAndChangelogHaveOneVersion() throws {
        let version = GatewayVersion.text
        #expect(try OpenAPIDocument().root["info"]?["version"]?.string == version)
        let headings = try RepositoryFiles.text("CHANGELOG.md").split(separator: "\n").filter { $0.hasPrefix("## ") }
        let latest = try #require(headings.first { $0 != "## Unreleased" })
        #expect(latest.hasPrefix("## \(version)"), "\(latest)")
    }
}

import Foundation
import Primitives
import Testing

/// What CONTRIBUTING and ARCHITECTURE promise of the documents, and of the order of locks.
@Suite struct DocumentTests {
    @Test func contributingHasAtMost600Words() throws {
        #expect(try Self.wordCount("CONTRIBUTING.md") <= 600)
    }

    /// The places in the table are folders and files; the names of most files lack the extension.
    @Test func contributingNamesPlacesThatExist() throws {
        let rows = try RepositoryFiles.text("CONTRIBUTING.md").split(separator: "\n").filter { $0.hasPrefix("| ") }
        let places = rows.flatMap { $0.matches(of: /`([^`]*\/[^`]*)`/).map { String($0.output.1) } }
        #expect(places.count > 40)
        let sources = try RepositoryFiles.paths(under: "Sources")
        for place in places {
            let file = RepositoryFiles.root.appending(path: place).path
            let isPlace = FileManager.default.fileExists(atPath: file) || sources.contains { $0.contains("/\(place)") }
            #expect(isPlace, "\(place)")
        }
    }

    @Test func decisionRecordsHaveAtMost400Words() throws {
        let records = try RepositoryFiles.paths(under: "Sources").filter {
            $0.contains("/Decisions/") && $0.hasSuffix(".md")
        }
        #expect(records.count > 30)
        for record in records { #expect(try Self.wordCount(record) <= 400, "\(record)") }
    }

    @Test func everyHouseHasAPage() throws {
        for house in ["Client", "Gateway", "Cluster", "DemoServer", "Values", "GatewayCLI"] {
            #expect((100...600).contains(try Self.wordCount("Sources/\(house)/README.md")), "\(house)")
        }
    }

    @Test func architectureHasTheOrderOfTheLocks() throws {
        let text = try RepositoryFiles.text("ARCHITECTURE.md")
        let section = try #require(
            text.components(separatedBy: "\n## Locks\n").last?.components(separatedBy: "\n## ").first
        )
        let rows = section.split(separator: "\n").compactMap { $0.split(separator: "|").first }
        let ranks = rows.map { $0.trimmingCharacters(in: .whitespaces) }.filter { $0.first?.isNumber == true }
        #expect(ranks == LockRank.allCases.map { "\($0.rawValue) `\($0)`" })
    }

    @Test func everyLockHasARank() throws {
        for path in try RepositoryFiles.paths(under: "Sources") where path.hasSuffix(".swift") {
            if path.hasSuffix("/RankedMutex.swift") { continue }
            #expect(try !RepositoryFiles.text(path).contains(/\bMutex[<(]/), "\(path)")
        }
    }

    /// The second column of the table for users of the client for Apple platforms.
    @Test func migrationNamesMembersThatExist() throws {
        let names = try RepositoryFiles.text(".ci/public-names.txt")
        let lines = try RepositoryFiles.text("Examples/migration/apple-client.md").split(separator: "\n")
        let rows = lines.filter { $0.hasPrefix("| ") }.dropFirst()
        let cells = rows.compactMap { $0.split(separator: " | ").dropFirst().first }
        let words = cells.flatMap { cell in
            cell.replacing(/"[^"]*"/, with: "").matches(of: /[A-Za-z]+[A-Z][A-Za-z]*/).map { String($0.output) }
        }
        #expect(words.count > 10)
        for word in words { #expect(names.contains(word), "\(word)") }
    }

    private static func wordCount(_ path: String) throws -> Int {
        try RepositoryFiles.text(path).split(whereSeparator: \.isWhitespace).count
    }
}

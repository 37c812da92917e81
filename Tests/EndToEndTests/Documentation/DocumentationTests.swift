internal import Foundation
internal import Testing

/// Every code block of README and the documentation catalog is compiled, executed or checked.
@Suite struct DocumentationTests {
    private static let address = "http://127.0.0.1:8080"

    /// A fence of two backticks is text to readers and to the tests below.
    @Test func fencesHaveThreeBackticks() throws {
        let folder = MarkdownBlock.package
        for file in try MarkdownBlock.markdownFiles() {
            let text = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
            for (index, line) in text.components(separatedBy: "\n").enumerated() {
                #expect(line.wholeMatch(of: /\s*`{1,2}[a-z]*/) == nil, "\(file):\(index + 1)")
            }
        }
    }

    /// The Swift blocks are in the files `…Snippets.swift` beside this one, which the compiler checks.
    @Test func swiftBlocksAreCompiled() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let snippets = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix("Snippets.swift") }
            .map { try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8) }
        let compiled = snippets.map { Self.essence($0.components(separatedBy: "\n")) }
        let blocks = try MarkdownBlock.all("swift")
        #expect(!blocks.isEmpty)
        for block in blocks {
            let wanted = Self.essence(block.lines)
            #expect(compiled.contains { $0.contains(wanted) }, "\(block.place) is in no Snippets.swift")
        }
    }

    /// The lines without indentation, empty lines and imports.
    private static func essence(_ lines: [String]) -> String {
        lines.map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty && !$0.hasPrefix("import ") }
            .joined(separator: "\n")
    }

    @Test func configurationBlocksPassTheCheck() async throws {
        let folder = try ProcessFolder()
        let secret = try folder.write("secret", "a secret of at least thirty-two bytes")
        let binary = try GatewayProcess.binary("lightstreamer-gateway")
        let blocks = try MarkdownBlock.all("yaml")
        #expect(!blocks.isEmpty)
        // The hash of "password": a block that is copied as it stands must not admit a key that everybody guesses.
        let guessable = "5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8"
        for block in blocks {
            #expect(!block.text.contains(guessable), "\(block.place)")
            let text = block.text.replacing(/\/run\/secrets\/[a-z-]+/, with: secret)
            let file = try folder.write("gateway.yaml", text)
            let (status, output) = try await run(binary, ["check", "--config", file])
            #expect(status == 0, "\(block.place): \(output)")
        }
    }

    /// Blocks that call the demo gateway are executed, those of a page in one shell; the others are parsed.
    @Test func shellBlocksWork() async throws {
        let gateway = try GatewayProcess(["demo", "--port", "0", "--demo-port", "0"])
        let present = try await gateway.demoAddresses().gateway
        let shell = URL(fileURLWithPath: "/bin/bash")
        let pages = Dictionary(grouping: try MarkdownBlock.all("sh"), by: \.file)
        #expect(!pages.isEmpty)
        for blocks in pages.values {
            for block in blocks {
                let (status, output) = try await run(shell, ["-n", "-c", block.text])
                #expect(status == 0, "\(block.place): \(output)")
            }
            let calls = blocks.filter { $0.text.contains(Self.address) }.map(\.text).joined()
            if calls.isEmpty { continue }
            let script = Self.prelude + calls.replacing(Self.address, with: present)
            let (status, output) = try await run(shell, ["-c", script])
            #expect(status == 0 && !output.contains("FAILED"), "\(blocks[0].file): \(output)")
            #expect(output.contains("event: update"), "\(blocks[0].file): \(output)")
        }
        await gateway.stop()
    }

    /// Streams do not end, so each request has a time limit, which is no failure.
    private static let prelude = """
        set -u
        curl() {
            command curl -sS --fail-with-body --max-time 2 "$@"
            local status=$?
            if ((status != 0 && status != 28)); then echo "FAILED: curl $* ended with $status"; exit 1; fi
        }

        """

    @Test(.enabled(if: ForeignClientTests.hasTools, "needs .ci/setup tests"))
    func scriptBlocksCompile() async throws {
        let blocks = try MarkdownBlock.all("js")
        #expect(!blocks.isEmpty)
        let folder = try ProcessFolder()
        var files: [String] = []
        for (index, block) in blocks.enumerated() {
            files.append(try folder.write("block\(index).js", block.text))
        }
        let (status, output) = try await ForeignClientTests.script("Browser/compile_scripts.py", files)
        #expect(status == 0, Comment(rawValue: output))
    }

    /// The files and folders that CONTRIBUTING and ARCHITECTURE name exist, below the sources of a house or the package.
    @Test(arguments: [("CONTRIBUTING.md", 30), ("ARCHITECTURE.md", 0)])
    func pathsInDocumentationExist(page: String, leastCount: Int) throws {
        let package = MarkdownBlock.package
        let text = try String(contentsOf: package.appendingPathComponent(page), encoding: .utf8)
        let paths = text.matches(of: /`((?:[A-Z][A-Za-z.]+\/)+[A-Za-z+.]+)`/).map { String($0.output.1) }
        #expect(paths.count >= leastCount)
        let houses = ["", "Client/", "Gateway/", "Cluster/", "Values/"].map { "Sources/\($0)" } + [""]
        for path in paths {
            let candidates = houses.flatMap { house in ["", ".swift", ".md"].map { "\(house)\(path)\($0)" } }
            let exists = candidates.contains {
                FileManager.default.fileExists(atPath: package.appendingPathComponent($0).path)
            }
            #expect(exists, "\(page) names \(path)")
        }
    }
}

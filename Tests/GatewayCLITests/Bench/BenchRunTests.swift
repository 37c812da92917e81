import Foundation
import NIOCore
import Testing

@testable import GatewayCLI

/// The connections of a benchmark.
@Suite(.timeLimit(.minutes(1))) struct BenchRunTests {
    private func run(_ address: String) throws -> BenchRun {
        let url = try #require(URL(string: address))
        return BenchRun(url: url, streams: 1, seconds: 1, timestampField: nil, credential: nil)
    }

    @Test(arguments: [
        ("http://[::1]:8080/v1/stream", "::1", "[::1]:8080"), ("https://[fd00::1]/v1/stream", "fd00::1", "[fd00::1]"),
        ("http://127.0.0.1:1/a", "127.0.0.1", "127.0.0.1:1"),
        ("http://gateway.example/a", "gateway.example", "gateway.example"),
    ])
    func addressAndAuthorityAreThoseOfTheURL(address: String, host: String, authority: String) throws {
        let run = try run(address)
        #expect(run.host == host)
        #expect(run.authority == authority)
    }

    @Test func aServerThatDoesNotRespondIsRefused() async throws {
        // The system completes connections to a socket that listens, also if nothing accepts them.
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(listener, pointer, length) == 0 && listen(listener, 8) == 0
                    && getsockname(listener, pointer, &length) == 0
            }
        }
        try #require(isListening)
        var run = try run("http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))/v1/stream")
        run.patience = .milliseconds(20)
        let report = try await run.report()
        #expect(report.refusals == ["timeout": 1])
        #expect(report.stale == 0 && !report.isCorrect)
        #expect(report.table.contains("1 × timeout"))
    }
}

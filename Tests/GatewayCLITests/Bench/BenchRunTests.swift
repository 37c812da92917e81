import Foundation
import NIOCore
import Testing

@testable import GatewayCLI

/// The connections of a benchmark.
@Suite(.timeLimit(.minutes(1))) struct BenchRunTests {
    private func run(
        _ address: String,
        seconds: Int = 1,
        until interruption: @escaping @Sendable () async -> Void = {}
    ) throws -> BenchRun {
        let url = try #require(URL(string: address))
        return BenchRun(
            url: url,
            streams: 1,
            seconds: seconds,
            timestampField: nil,
            credential: nil,
            interruption: interruption
        )
    }

    /// A socket that listens on a port of loopback.
    private func makeListener() throws -> (socket: Int32, port: UInt16) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
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
        return (listener, UInt16(bigEndian: address.sin_port))
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
        let (listener, port) = try makeListener()
        defer { close(listener) }
        var run = try run("http://127.0.0.1:\(port)/v1/stream")
        run.patience = .milliseconds(20)
        let report = try await run.report()
        #expect(report.refusals == ["timeout": 1])
        #expect(report.stale == 0 && !report.isCorrect)
        #expect(report.table.contains("1 × timeout"))
    }

    /// Responds to the first request on the listener, and waits until the client closes the connection.
    private func respond(
        on listener: Int32,
        status: String = "200 OK",
        contentType: String,
        body: String = "",
        closed: @escaping @Sendable () -> Void = {}
    ) {
        Thread.detachNewThread {
            let connection = accept(listener, nil, nil)
            var buffer = [UInt8](repeating: 0, count: 4096)
            _ = read(connection, &buffer, buffer.count)
            let length = body.isEmpty ? "" : "Content-Length: \(body.utf8.count)\r\n"
            let head = "HTTP/1.1 \(status)\r\nContent-Type: \(contentType)\r\n\(length)\r\n"
            let bytes = Array((head + body).utf8)
            _ = write(connection, bytes, bytes.count)
            while read(connection, &buffer, buffer.count) > 0 {}
            close(connection)
            close(listener)
            closed()
        }
    }

    @Test func anInterruptedBenchmarkHasItsReport() async throws {
        let (listener, port) = try makeListener()
        respond(on: listener, contentType: "text/event-stream")
        // An hour is longer than the time limit of the suite.
        let report = try await run("http://127.0.0.1:\(port)/v1/stream", seconds: 3_600).report()
        #expect(report.streams == 1 && report.isCorrect)
    }

    /// The report had the number of closed streams alone, as for an item that does not exist.
    @Test func aStreamThatIsClosedIsReportedWithTheReason() async throws {
        let (listener, port) = try makeListener()
        let (closures, continuation) = AsyncStream.makeStream(of: Void.self)
        let error = #"{"code":21,"detail":"There is no \u001b[1mitem."}"#
        let closing = #"{"reason":"refused"}"#
        let events = "event: subscription-error\ndata: \(error)\n\nevent: closing\ndata: \(closing)\n\n"
        respond(on: listener, contentType: "text/event-stream", body: events) { continuation.finish() }
        let address = "http://127.0.0.1:\(port)/v1/stream"
        let report = try await run(address, seconds: 3_600) { for await _ in closures {} }.report()
        #expect(report.closures == ["There is no \u{1B}[1mitem.": 1])
        #expect(report.table.hasSuffix("closed    1 × There is no \u{FFFD}[1mitem.\n"))
        #expect(report.json.contains(#","closures":{"There is no \u001b[1mitem.":1},"#))
        #expect(!report.isCorrect)
    }

    /// The line stayed in memory until the server ended it.
    @Test func aStreamWithALineThatIsTooLongIsClosed() async throws {
        let (listener, port) = try makeListener()
        let (closures, continuation) = AsyncStream.makeStream(of: Void.self)
        let line = "data: " + String(repeating: "x", count: GatewayWatch.longestLine)
        respond(on: listener, contentType: "text/event-stream", body: line) { continuation.finish() }
        let address = "http://127.0.0.1:\(port)/v1/stream"
        let report = try await run(address, seconds: 3_600) { for await _ in closures {} }.report()
        #expect(report.closures == ["a line is too long": 1])
    }

    @Test func aResponseOfAnotherTypeIsRefused() async throws {
        let (listener, port) = try makeListener()
        respond(on: listener, contentType: "application/x-ndjson")
        let report = try await run("http://127.0.0.1:\(port)/v1/stream?format=ndjson").report()
        #expect(report.refusals == ["no Server-Sent Events": 1])
        #expect(report.streams == 0 && !report.isCorrect)
    }

    /// The report had the status alone, and that of --json not even this.
    @Test func aRefusedStreamIsReportedWithItsProblem() async throws {
        let (listener, port) = try makeListener()
        let problem = #"{"title":"A value is refused","detail":"Name 2: \u001B[1mAn item name is expected."}"#
        respond(on: listener, status: "422 Refused", contentType: "application/problem+json", body: problem)
        let report = try await run("http://127.0.0.1:\(port)/v1/stream?items=a,,b").report()
        let reason = "A value is refused (422): Name 2: \u{FFFD}[1mAn item name is expected."
        #expect(report.refusals == [reason: 1])
        #expect(report.table.contains("1 × \(reason)\n"))
        #expect(report.json.hasSuffix(",\"refusals\":{\"\(reason)\":1}}\n"))
        #expect(!report.isCorrect)
    }
}

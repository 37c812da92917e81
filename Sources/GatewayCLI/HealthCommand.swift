internal import ArgumentParser
internal import AsyncHTTPClient
internal import NIOCore

/// `health`: asks a running gateway whether it lives; for container probes.
struct HealthCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health",
        abstract: "Ask a running gateway for its health; exit status 0 if it answers 200."
    )

    @Option(help: "The URL to ask.")
    var url = "http://127.0.0.1:8080/health/live"

    @Option(help: "How many seconds to wait for the answer.")
    var timeout = 3

    func validate() throws {
        guard (1...3_600).contains(timeout) else { throw ValidationError("--timeout: must be 1 … 3600") }
    }

    func run() async throws {
        do {
            let response = try await HTTPClient.shared.execute(
                HTTPClientRequest(url: url),
                timeout: .seconds(Int64(timeout))
            )
            let body = try await response.body.collect(upTo: 1 << 20)
            StandardOutput.write("\(response.status.code) \(String(buffer: body))\n")
            if response.status != .ok { throw ExitCode.failure }
        } catch let error where !(error is ExitCode) {
            StandardError.write("\(url): \(error)\n")
            throw ExitCode.failure
        }
    }
}

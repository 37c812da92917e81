internal import ArgumentParser
internal import FoundationEssentials
internal import UnixSignals

/// `bench`: the rate, the delays and the correctness of many streams of one address.
struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Open many streams of one address, check every event, and print rate, delays and bytes.",
        discussion: """
            1,000 readers:  bench 'http://127.0.0.1:8080/v1/stream?items=item1&fields=last_price' --streams 1000

            All streams read the same address. Each has to have every update that another one has, once and in order; \
            an update that is conflated counts for the number that it tells. A delay is the time since the first stream \
            had the event or, with --timestamp, since the time in that field of the event. The exit status is 1 if a \
            stream was refused, closed or stale, or lacks updates, or if no update has that time. Ctrl-C ends the \
            benchmark early, with its report.

            GATEWAY_TOKEN (an API key or a JWT) is sent with the requests.
            """
    )

    @Argument(help: "The URL of a stream of Server-Sent Events.")
    var url: String

    @Option(help: "The number of streams, 1 … 60000.")
    var streams = 100

    @Option(help: "The time to read after all streams are open, in seconds.")
    var seconds = 10

    @Option(help: "A field with the time at which the event was made, in milliseconds since 1970.")
    var timestamp: String?

    @Flag(help: "Print one line of JSON.")
    var json = false

    func validate() throws {
        guard let url = URL(string: url), ["http", "https"].contains(url.scheme), url.host != nil, url.path.count > 1,
            (1...65_535).contains(url.port ?? 1)
        else {
            throw ValidationError("name a stream: http://127.0.0.1:8080/v1/stream?items=item1&fields=last_price")
        }
        guard (1...60_000).contains(streams) else { throw ValidationError("--streams: must be 1 … 60000") }
        guard (1...86_400).contains(seconds) else { throw ValidationError("--seconds: must be 1 … 86400") }
    }

    func run() async throws {
        guard let url = URL(string: url) else { return }
        let report = try await BenchRun(
            url: url,
            streams: streams,
            seconds: seconds,
            timestampField: timestamp,
            credential: GatewayRequest.token(),
            interruption: { for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) { break } }
        ).report()
        StandardOutput.write(json ? report.json : report.table)
        try StandardOutput.check()
        if let timestamp, report.lacksTimes {
            throw ExitCode.failure.because("No update has milliseconds since 1970 in a field \(timestamp).")
        }
        guard report.isCorrect else { throw ExitCode.failure }
    }
}

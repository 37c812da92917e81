internal import ArgumentParser
internal import FoundationEssentials
internal import Primitives
internal import Recording
internal import UnixSignals

/// `record`: subscribes and appends what arrives to a file, which `demo-server --replay` plays.
struct RecordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Record updates with their times to a file, for demo-server --replay.",
        discussion: """
            From a server:  record quotes.lsrec --upstream push.example.com --adapter-set DEMO --items item1,item2 \
            --fields last_price,time
            From a feed:    record quotes.lsrec --feed quotes

            A file that exists is continued, whether or not its recording was interrupted. Events are on disk within a \
            second. The first line on standard output is "recording: FILE", the last one has the number of updates and \
            the bytes that they need. SIGINT and SIGTERM end the recording.

            The exit status is 65 for a file that is not a recording or is damaged, with the position and the rule; such \
            a file stays as it is. It is 73 for a file that cannot be written, and 1 if the source is not subscribed \
            within --seconds.

            Credentials come from the environment: LIGHTSTREAMER_PASSWORD is sent to a server, GATEWAY_TOKEN (an API key \
            or a JWT) to a gateway.
            """
    )

    @Argument(help: "The file.", completion: .file())
    var file: String

    @Option(help: "The Lightstreamer server to record.")
    var upstream: String?

    @Option(help: "The feed of a gateway to record.")
    var feed: String?

    @Option(help: "The gateway of the feed (default http://127.0.0.1:8080).")
    var gateway: String?

    @Option(help: "Item names, separated by commas; of a feed, all items if missing.")
    var items: String?

    @Option(help: "Field names, separated by commas; of a feed, all fields if missing.")
    var fields: String?

    @Option(help: "MERGE, DISTINCT, COMMAND or RAW.", completion: WatchCommand.modes)
    var mode = "MERGE"

    @Option(help: "The adapter set of the server.")
    var adapterSet: String?

    @Option(help: "The Data Adapter; the server's DEFAULT if missing.")
    var dataAdapter: String?

    @Option(help: "The user to authenticate as, with a server.")
    var user: String?

    @Option(help: "Stop after this many updates.")
    var count: Int?

    @Option(help: "Stop after this many seconds.")
    var seconds: Int?

    func validate() throws {
        guard (upstream == nil) != (feed == nil) else { throw ValidationError("name either an --upstream or a --feed") }
        if feed != nil, adapterSet != nil || dataAdapter != nil || user != nil || mode.uppercased() != "MERGE" {
            throw ValidationError("--feed determines the server, the mode and the Data Adapter")
        }
        if upstream != nil, gateway != nil { throw ValidationError("--gateway is the gateway of a --feed") }
        if upstream != nil, [items, fields].contains(where: { WatchCommand.list($0 ?? "").isEmpty }) {
            throw ValidationError("name items and fields, for instance: --items item1 --fields last_price")
        }
        try WatchCommand.checkMode(mode)
        if let count, count < 1 { throw ValidationError("--count: must be 1 or more") }
        // The clock of the system ends the process for a time that it cannot express.
        if let seconds, !(1...1_000_000_000).contains(seconds) {
            throw ValidationError("--seconds: must be 1 … 1000000000")
        }
    }

    func run() async throws {
        do {
            try await record()
        } catch let failure as WatchFailure {
            throw ExitCode.failure.because(failure.sentence)
        } catch let error as RecordingError {
            throw ExitCode.dataError.because("\(file): \(error)")
        } catch let error as RecordingFileError {
            throw ExitCode.cannotCreate.because("\(file): \(error)")
        }
    }

    private final class Recording: Sendable {
        let recorder = RankedMutex<Recorder?>(nil)
    }

    private func record() async throws {
        let recording = Recording()
        let failure = try await withThrowingTaskGroup(of: WatchFailure?.self) { group in
            group.addTask { try await read(recording) }
            group.addTask {
                for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) { break }
                return nil
            }
            if let seconds {
                group.addTask {
                    try? await Task.sleep(for: .seconds(seconds))
                    if recording.recorder.withLock({ $0 })?.hasSubscribed == true { return nil }
                    return WatchFailure("The source was not subscribed within \(seconds) s.")
                }
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
        if let recorder = recording.recorder.withLock({ $0 }) { StandardOutput.write(try recorder.finish() + "\n") }
        if let failure { throw failure }
    }

    /// Records until the last requested update; returns why that failed.
    ///
    /// - Parameter recording: Gets the recorder once the source is known and the file is open.
    private func read(_ recording: Recording) async throws -> WatchFailure? {
        let subscription = try await subscription()
        let watch = try subscription.watch()
        let recorder = try Recorder(path: file, segment: subscription.segment)
        recording.recorder.withLock { $0 = recorder }
        if recorder.removed > 0 {
            StandardError.write("\(file): removed \(recorder.removed) bytes of an interrupted block\n")
        }
        StandardOutput.write("recording: \(file)\n")
        let output = WatchOutput(display: recorder, limit: count)
        return await withTaskGroup(of: WatchFailure?.self) { group in
            group.addTask {
                await recorder.run()
                return nil
            }
            group.addTask { await subscription.address.read(watch, output) }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }

    private func subscription() async throws -> RecordedSource {
        if let feed {
            let address = gateway.map(AddressFinder.url) ?? AddressFinder.usual
            return try await .feed(feed, of: address, items: items, fields: fields)
        }
        let mode = mode.uppercased()
        let watch = ["--mode=\(mode)", "--items=\(items ?? "")", "--fields=\(fields ?? "")"]
        let options = [("adapter-set", adapterSet), ("data-adapter", dataAdapter), ("user", user)]
        return RecordedSource(
            address: .server(AddressFinder.url(upstream ?? "")),
            arguments: watch + options.compactMap { name, value in value.map { "--\(name)=\($0)" } },
            segment: RecordedSegment(
                start: Recorder.now,
                adapterSet: adapterSet,
                dataAdapter: dataAdapter,
                mode: mode,
                items: WatchCommand.list(items ?? ""),
                fields: WatchCommand.list(fields ?? "")
            )
        )
    }
}

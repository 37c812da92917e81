internal import Foundation
internal import Synchronization
internal import Testing

/// The built program as a child process, with its standard output read line by line.
final class GatewayProcess: Sendable {
    /// The addresses that the program prints.
    struct Addresses {
        var gateway = ""
        var demoServer = ""
    }

    private let process = Process()
    private let lines: AsyncStream<String>
    private let logs: AsyncStream<String>
    private let endings: AsyncStream<Int32>

    /// Starts the program with these arguments; the caller has to pass port 0.
    init(_ arguments: [String], environment: [String: String] = [:]) throws {
        process.executableURL = try Self.binary("lightstreamer-gateway")
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let output = Pipe()
        process.standardOutput = output
        let errors = Pipe()
        process.standardError = errors
        let (logs, logSource) = AsyncStream.makeStream(of: String.self)
        Self.read(errors.fileHandleForReading, into: logSource)
        self.logs = logs
        let (lines, lineSource) = AsyncStream.makeStream(of: String.self)
        Self.read(output.fileHandleForReading, into: lineSource)
        let (endings, endingSource) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = { process in
            endingSource.yield(process.terminationStatus)
            endingSource.finish()
        }
        self.lines = lines
        self.endings = endings
        try process.run()
    }

    /// Reads lines until the other end is closed.
    private static func read(_ output: FileHandle, into lines: AsyncStream<String>.Continuation) {
        let pending = Mutex(Data())
        output.readabilityHandler = { handle in
            let data = handle.availableData
            if data.isEmpty {
                handle.readabilityHandler = nil
                lines.finish()
                return
            }
            pending.withLock { pending in
                pending.append(data)
                while let end = pending.firstIndex(of: 0x0A) {
                    lines.yield(String(decoding: pending[pending.startIndex..<end], as: UTF8.self))
                    pending = Data(pending[pending.index(after: end)...])
                }
            }
        }
    }

    /// The built program of a name, in the folder of the tests.
    static func binary(_ name: String) throws -> URL {
        let bundle = try #require(
            CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? Bundle.main.executablePath
        )
        var folder = URL(fileURLWithPath: bundle).deletingLastPathComponent()
        while folder.path != "/" {
            let binary = folder.appendingPathComponent(name)
            if FileManager.default.isExecutableFile(atPath: binary.path) { return binary }
            folder.deleteLastPathComponent()
        }
        throw CocoaError(.fileNoSuchFile)
    }

    /// Waits for the next line on standard output; nil when the program has closed it.
    func line() async -> String? {
        for await line in lines { return line }
        return nil
    }

    /// Waits for a line of the log that holds a text; nil when the program has closed it.
    func log(with text: String) async -> String? {
        for await line in logs where line.contains(text) { return line }
        return nil
    }

    /// Waits for the line that `serve` prints; the address of the gateway.
    func address() async throws -> String {
        let line = try #require(await line())
        return try #require(line.split(separator: " ").last.map(String.init))
    }

    /// Waits for the two lines that `demo` prints.
    func demoAddresses() async throws -> Addresses {
        let gateway = try #require(await line())
        let demoServer = try #require(await line())
        return Addresses(
            gateway: try #require(gateway.split(separator: " ").last.map(String.init)),
            demoServer: try #require(demoServer.split(separator: " ").last.map(String.init))
        )
    }

    /// The process id.
    var id: Int32 { process.processIdentifier }

    /// Sends a signal.
    func signal(_ number: Int32) { kill(process.processIdentifier, number) }

    /// Waits for the end; the exit status.
    func ended() async -> Int32 {
        for await status in endings { return status }
        return process.terminationStatus
    }

    /// Kills the program.
    func stop() async {
        if process.isRunning { signal(SIGTERM) }
        _ = await ended()
    }
}

/// Runs another program to its end and returns its output.
func run(_ program: URL, _ arguments: [String]) async throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = program
    process.arguments = arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let handle = pipe.fileHandleForReading
    return await withCheckedContinuation { continuation in
        // Reading blocks, so it has a thread of its own.
        DispatchQueue.global().async {
            let output = String(decoding: handle.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            continuation.resume(returning: (process.terminationStatus, output))
        }
    }
}

internal import ArgumentParser
internal import FoundationEssentials
internal import Gateway
internal import Glibc
internal import JSONText
internal import Logging
internal import Synchronization

/// The level and format of the log.
struct LogOptions: ParsableArguments {
    @Option(
        help: "trace, debug, info, notice, warning, error or critical (default info).",
        completion: .list(Logger.Level.allCases.map(\.rawValue))
    )
    var logLevel: String?

    @Option(help: "text or json, on standard error (default text).", completion: .list(["text", "json"]))
    var logFormat: String?

    var flags: [(key: String, value: String)] {
        [("log.level", logLevel), ("log.format", logFormat)].compactMap { key, value in value.map { (key, $0) } }
    }

    /// The log configuration of flags and environment; mistakes are printed, one a line, and end the program.
    func configuration() throws -> LogConfiguration {
        let environment = ProcessInfo.processInfo.environment.filter { $0.key.hasPrefix("GATEWAY_LOG_") }
        var reader = ConfigurationReader(flags: flags, environment: environment)
        do {
            return try reader.read().log
        } catch {
            throw ExitCode.configuration.because("\(error)")
        }
    }

    /// Sets up the logging system, once, and gives the program's logger.
    static func start(_ configuration: LogConfiguration) -> Logger {
        LoggingSystem.bootstrap { label in
            switch configuration.format {
            case .text: return TextLogHandler(label: label, logLevel: configuration.level)
            case .json: return JSONLogHandler(label: label, logLevel: configuration.level)
            }
        }
        return Logger(label: "gateway")
    }
}

/// Writes log records to standard error.
protocol LineLogHandler: LogHandler {
    /// The bytes of a record, with its line end.
    func line(_ event: LogEvent, _ metadata: Logger.Metadata) -> [UInt8]
}

extension LineLogHandler {
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        StandardError.write(line(event, metadata.merging(event.metadata ?? [:]) { $1 }))
    }

    /// The present time by RFC 3339, with milliseconds.
    static var time: String { Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)) }
}

/// Writes each log record as one line of text: time, level, message, then the metadata.
struct TextLogHandler: LineLogHandler {
    let label: String
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]

    func line(_ event: LogEvent, _ metadata: Logger.Metadata) -> [UInt8] {
        let members = metadata.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        return Array((Self.escaped("\(Self.time) \(event.level.rawValue) \(event.message)\(members)") + "\n").utf8)
    }

    /// The text with `\u{…}` instead of control and formatting characters.
    static func escaped(_ line: String) -> String {
        line.replacingControls { "\\u{\(String($0.value, radix: 16))}" }
    }
}

extension String {
    /// The text with escapes instead of control and formatting characters: message and metadata may contain text of a
    /// request or a server, which must not begin a line or control the terminal.
    fileprivate func replacingControls(with escape: (Unicode.Scalar) -> String) -> String {
        var text = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                text.append(contentsOf: escape(scalar).unicodeScalars)
            default: text.append(scalar)
            }
        }
        return String(text)
    }
}

/// Writes each log record as one JSON object a line: time, level, message, logger, then the metadata.
struct JSONLogHandler: LineLogHandler {
    let label: String
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]

    func line(_ event: LogEvent, _ metadata: Logger.Metadata) -> [UInt8] {
        var line = JSONBytes()
        line.beginObject()
        line.member("time", Self.time)
        line.member("level", event.level.rawValue)
        line.member("message", event.message.description)
        line.member("logger", label)
        for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
            line.key(key)
            if case .stringConvertible(let value) = value, value is any Numeric, JSONNumber(value.description) != nil {
                line.raw(value.description)
            } else {
                line.string(value.description)
            }
        }
        line.endObject()
        return Array((Self.escaped(String(decoding: line.bytes, as: UTF8.self)) + "\n").utf8)
    }

    /// The JSON text with escapes also for the control and formatting characters that JSON permits in strings.
    static func escaped(_ line: String) -> String {
        line.replacingControls { scalar in
            scalar.utf16.map { "\\u" + String(UInt32($0) + 0x10000, radix: 16).dropFirst() }.joined()
        }
    }
}

/// Standard output, unbuffered: a reader of the pipe receives each line at once.
enum StandardOutput {
    /// The error of a text that was not written although it has a reader; 0 if there was none.
    private static let failure = Atomic<Int32>(0)

    /// Writes a text. Returns false if that is not possible, for instance because the reader has closed the pipe.
    @discardableResult static func write(_ text: String) -> Bool {
        var text = text
        let error = text.withUTF8 { write(UnsafeRawBufferPointer($0), to: STDOUT_FILENO) }
        if error != 0, error != EPIPE { failure.store(error, ordering: .relaxed) }
        return error == 0
    }

    /// Whether control characters would have an effect on the reader.
    private static let isTerminal = isatty(STDOUT_FILENO) == 1

    /// Writes a text of a server: to a terminal without its control characters, to a file or pipe as it is.
    @discardableResult static func show(_ text: String) -> Bool { write(isTerminal ? text.printableLines : text) }

    /// Writes all bytes. Returns 0, or the error of the system.
    static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32 {
        var written = 0
        while written < bytes.count {
            let count = Glibc.write(descriptor, bytes.baseAddress?.advanced(by: written), bytes.count - written)
            if count >= 0 {
                written += count
            } else if errno == EAGAIN {
                // Another process has made the pipe or terminal, which it shares, not blocking.
                var state = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&state, 1, -1)
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }

    /// Throws if a text was not written although it has a reader, on a full disk for instance. Commands whose output is
    /// their result call this at their end.
    static func check() throws {
        let error = failure.load(ordering: .relaxed)
        guard error != 0 else { return }
        throw ExitCode.failure.because("Cannot write the output: \(String(cString: strerror(error))).")
    }
}

/// Standard error, unbuffered. Text that cannot be written is lost.
enum StandardError {
    static func write(_ text: String) { write(Array(text.utf8)) }
    static func write(_ bytes: [UInt8]) { _ = bytes.withUnsafeBytes { StandardOutput.write($0, to: STDERR_FILENO) } }
}

/// The codes of sysexits(3).
extension ExitCode {
    static let dataError = ExitCode(65)
    static let noInput = ExitCode(66)
    static let cannotCreate = ExitCode(73)
    static let configuration = ExitCode(78)

    /// The code, whose reason is printed on standard error.
    func because(_ reason: String) -> ExitCode {
        StandardError.write(reason + "\n")
        return self
    }
}

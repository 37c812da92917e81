internal import ArgumentParser
internal import Foundation
internal import Gateway
internal import JSONText
internal import Logging

/// The level and format of the log.
struct LogOptions: ParsableArguments {
    @Option(help: "trace, debug, info, notice, warning, error or critical (default info).")
    var logLevel: String?

    @Option(help: "text or json, on standard error (default text).")
    var logFormat: String?

    /// The flags as keys of the configuration.
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
            StandardError.write("\(error)\n")
            throw ExitCode(78)  // EX_CONFIG of sysexits(3)
        }
    }

    /// Sets up the logging system, once, and gives the program's logger.
    static func start(_ configuration: LogConfiguration) -> Logger {
        LoggingSystem.bootstrap { label in
            switch configuration.format {
            case .text:
                var handler = StreamLogHandler(label: label, stream: LogLines())
                handler.logLevel = configuration.level
                return handler
            case .json: return JSONLogHandler(label: label, logLevel: configuration.level)
            }
        }
        return Logger(label: "gateway")
    }
}

/// Standard error for log records as text. Message and metadata may contain text of a request or a server: its control
/// characters are escaped, so that it cannot begin a line or control the terminal.
struct LogLines: TextOutputStream {
    func write(_ line: String) { StandardError.write(Self.escaped(line)) }

    /// The line with `\u{…}` instead of control and formatting characters, except the line feed at its end.
    static func escaped(_ line: String) -> String {
        var text = String.UnicodeScalarView()
        let hasLineEnd = line.unicodeScalars.last == "\n"
        for scalar in hasLineEnd ? line.unicodeScalars.dropLast() : line.unicodeScalars[...] {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                text.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
            default: text.append(scalar)
            }
        }
        return String(text) + (hasLineEnd ? "\n" : "")
    }
}

/// Writes each log record as one JSON object a line to standard error.
struct JSONLogHandler: LogHandler {
    let label: String
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]

    init(label: String, logLevel: Logger.Level) {
        self.label = label
        self.logLevel = logLevel
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var line = JSONBytes()
        line.beginObject()
        line.member("time", Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
        line.member("level", event.level.rawValue)
        line.member("logger", label)
        line.member("message", event.message.description)
        let all = metadata.merging(event.metadata ?? [:]) { $1 }
        for (key, value) in all.sorted(by: { $0.key < $1.key }) {
            line.key(key)
            line.string(value.description)
        }
        line.endObject()
        StandardError.write(line.bytes + [0x0A])
    }
}

/// Standard output, unbuffered: a reader of the pipe receives each line at once.
enum StandardOutput {
    /// Writes a text. Returns false if that is not possible, for instance because the reader has closed the pipe.
    @discardableResult static func write(_ text: String) -> Bool {
        (try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))) != nil
    }
}

/// Standard error, unbuffered. Text that cannot be written is lost.
enum StandardError {
    static func write(_ text: String) { write(Array(text.utf8)) }
    static func write(_ bytes: [UInt8]) { try? FileHandle.standardError.write(contentsOf: Data(bytes)) }
}

internal import Foundation
internal import JSONText
internal import Logging

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

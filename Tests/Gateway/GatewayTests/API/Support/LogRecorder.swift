import Logging
import Synchronization

/// Keeps the lines of a log, with their metadata.
final class LogRecorder: Sendable {
    private let recorded = Mutex<[String]>([])

    /// The lines so far.
    var lines: [String] { recorded.withLock { $0 } }

    /// A logger that is recorded.
    var logger: Logger { Logger(label: "test") { _ in Handler(recorder: self) } }

    private struct Handler: LogHandler {
        let recorder: LogRecorder
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        init(recorder: LogRecorder) { self.recorder = recorder }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let text = "\(event.message) \(metadata.merging(event.metadata ?? [:]) { $1 })"
            recorder.recorded.withLock { $0.append(text) }
        }
    }
}

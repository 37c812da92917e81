internal import JSONText
internal import SessionCore
internal import Synchronization

/// The output of `watch`.
protocol WatchDisplay: Sendable {
    /// Shows an event. May be called on any thread, one event at a time. Returns false if the output was closed.
    func show(_ event: WatchEvent) -> Bool
    /// Receives a line of a gateway's NDJSON stream, before its event is shown.
    func received(_ line: [UInt8])
    /// Runs while events are shown. Returns when the user ends the display; otherwise waits for cancellation.
    func run() async -> WatchFailure?
    /// Restores the terminal.
    func close()
}

extension WatchDisplay {
    func received(_ line: [UInt8]) {}

    func run() async -> WatchFailure? {
        try? await Task.sleep(for: .seconds(1_000_000_000))
        return nil
    }

    func close() {}
}

/// Each update as a line of text on standard output, other events on standard error.
struct LineDisplay: WatchDisplay {
    func show(_ event: WatchEvent) -> Bool {
        switch event {
        case .status(let status, let failure): StandardError.write(Self.line(status, failure) + "\n")
        case .other(let name, let content): StandardError.write("\(name) \(content)".printable + "\n")
        case .update(let update): return StandardOutput.write(Self.line(update) + "\n")
        }
        return true
    }

    static func line(_ status: String, _ failure: String?) -> String {
        "status \(status)\(failure.map { ": \($0)" } ?? "")".printable
    }

    static func line(_ update: WatchUpdate) -> String {
        var line = update.item
        if let key = update.key { line += " \(key)" }
        if let command = update.command { line += " \(command)" }
        if update.isSnapshot { line += " (snapshot)" }
        for field in update.fields { line += " \(field.name)=\(field.value ?? "null")" }
        return line.printable
    }
}

/// The bytes of a gateway's NDJSON stream on standard output; what the gateway does not say, on standard error.
final class StreamDisplay: WatchDisplay {
    private let isOpen = Atomic(true)

    func received(_ line: [UInt8]) {
        if !StandardOutput.show(String(decoding: line, as: UTF8.self) + "\n") {
            isOpen.store(false, ordering: .relaxed)
        }
    }

    func show(_ event: WatchEvent) -> Bool {
        if case .status(let status, _) = event, ClientStatus(rawValue: status) == nil {
            StandardError.write("status \(status.printable)\n")
        }
        return isOpen.load(ordering: .relaxed)
    }
}

/// Each event as a line of JSON on standard output, in the form of the gateway's NDJSON streams.
struct JSONDisplay: WatchDisplay {
    func show(_ event: WatchEvent) -> Bool { StandardOutput.show(Self.line(event) + "\n") }

    static func line(_ event: WatchEvent) -> String {
        var json = JSONBytes()
        json.beginObject()
        switch event {
        case .status(let status, let failure):
            json.member("event", "status")
            json.object("data") { json in
                json.member("status", status)
                if let failure { json.object("lastFailure") { $0.member("detail", failure) } }
            }
        case .other(let name, let content):
            json.member("event", name)
            json.key("data")
            if let value = try? JSONValue(parsing: content) { json.value(value) } else { json.string(content) }
        case .update(let update):
            json.member("event", "update")
            json.object("data") { write(update, to: &$0) }
        }
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }

    private static func write(_ update: WatchUpdate, to json: inout JSONBytes) {
        json.member("item", update.item)
        json.member("snapshot", update.isSnapshot)
        if let key = update.key { json.member("key", key) }
        if let command = update.command { json.member("command", command) }
        json.object("fields") { json in
            for field in update.fields {
                json.key(field.name)
                json.string(field.value)
            }
        }
    }
}

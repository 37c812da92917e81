internal import JSONText

/// One of the encodings of an event; each is made at most once for all of its readers.
struct EventVariant: Hashable, Sendable {
    /// The number of variants there are.
    static let count = 4
    /// All variants, in the order of their indices.
    static let all = EventFormat.allCases.flatMap { format in
        [false, true].map { EventVariant(format: format, sendsAllFields: $0) }
    }

    /// How the event is framed.
    let format: EventFormat
    /// Whether updates carry all fields beside the changed ones.
    let sendsAllFields: Bool

    /// A number below `count`.
    var index: Int {
        let base =
            switch format {
            case .serverSentEvents: 0
            case .ndjson: 2
            }
        return base + (sendsAllFields ? 1 : 0)
    }
}

/// Frames JSON texts for an event stream. A text is one line: JSON escapes its line ends.
///
///     event: update
///     id: f3a9-1042
///     data: {"client":…}
///     (empty line)
enum SSEEncoder {
    /// Opens an event; the JSON text of its data follows.
    static func begin(_ name: StaticString, epoch: [UInt8], sequence: UInt64?, in json: inout JSONBytes) {
        append("event: ", to: &json)
        append(name, to: &json)
        if let sequence {
            append("\nid: ", to: &json)
            json.bytes.append(contentsOf: epoch)
            json.bytes.append(UInt8(ascii: "-"))
            json.bytes.append(decimal: Int(truncatingIfNeeded: sequence))
        }
        append("\ndata: ", to: &json)
    }

    /// Closes the event.
    static func end(in json: inout JSONBytes) { append("\n\n", to: &json) }

    /// Writes the `retry` field: the time to wait before a reconnect.
    static func retry(_ milliseconds: Int, in json: inout JSONBytes) {
        append("retry: ", to: &json)
        json.bytes.append(decimal: milliseconds)
        append("\n", to: &json)
    }

    /// Writes a comment, which readers ignore.
    static func heartbeat(in json: inout JSONBytes) { append(":\n\n", to: &json) }

    private static func append(_ text: StaticString, to json: inout JSONBytes) {
        text.withUTF8Buffer { json.bytes.append(contentsOf: $0) }
    }
}

/// Frames JSON texts as lines of JSON: `{"event":…,"id":…,"data":{…}}`.
enum NDJSONEncoder {
    /// Opens an event; the JSON text of its data follows.
    static func begin(_ name: StaticString, epoch: [UInt8], sequence: UInt64?, in json: inout JSONBytes) {
        append("{\"event\":\"", to: &json)
        append(name, to: &json)
        if let sequence {
            append("\",\"id\":\"", to: &json)
            json.bytes.append(contentsOf: epoch)
            json.bytes.append(UInt8(ascii: "-"))
            json.bytes.append(decimal: Int(truncatingIfNeeded: sequence))
        }
        append("\",\"data\":", to: &json)
    }

    /// Closes the event.
    static func end(in json: inout JSONBytes) { append("}\n", to: &json) }

    /// Writes a heartbeat event. An empty line would be shorter, but many readers parse every line.
    static func heartbeat(in json: inout JSONBytes) { append("{\"event\":\"heartbeat\",\"data\":{}}\n", to: &json) }

    private static func append(_ text: StaticString, to json: inout JSONBytes) {
        text.withUTF8Buffer { json.bytes.append(contentsOf: $0) }
    }
}

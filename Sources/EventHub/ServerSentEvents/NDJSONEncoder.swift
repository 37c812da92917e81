internal import JSONText

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

    /// Writes an event that tells nothing. An empty line would be shorter, but many readers parse every line.
    static func heartbeat(in json: inout JSONBytes) { append("{\"event\":\"heartbeat\",\"data\":{}}\n", to: &json) }

    private static func append(_ text: StaticString, to json: inout JSONBytes) {
        text.withUTF8Buffer { json.bytes.append(contentsOf: $0) }
    }
}

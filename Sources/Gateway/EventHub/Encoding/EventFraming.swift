internal import Changes
internal import JSONText

/// One of the encodings of an event; each is made at most once, for all readers.
struct EventVariant: Hashable, Sendable {
    /// The number of variants there are.
    static let count = 8
    /// All variants, in the order of their indices.
    static let all = EventFormat.allCases.flatMap { format in
        [false, true].flatMap { isTyped in
            [false, true].map { EventVariant(format: format, sendsAllFields: $0, isTyped: isTyped) }
        }
    }

    /// How the event is framed.
    let format: EventFormat
    /// Whether updates carry all fields beside the changed ones.
    let sendsAllFields: Bool
    /// Whether values have the types of their fields, where these are known.
    var isTyped = false

    /// A number below `count`.
    var index: Int {
        let base =
            switch format {
            case .serverSentEvents: 0
            case .ndjson: 4
            }
        return base + (isTyped ? 2 : 0) + (sendsAllFields ? 1 : 0)
    }
}

/// The texts before, between and after the members of an event. The data is one line: JSON escapes its line ends.
///
///     Server-Sent Events      NDJSON
///
///     event: update           {"event":"update","id":"f3a9-1042","data":{"client":…}}
///     id: f3a9-1042
///     data: {"client":…}
///     (empty line)
struct EventFraming {
    private let beforeName: StaticString
    private let beforeID: StaticString
    private let beforeData: StaticString
    private let afterData: StaticString
    private let heartbeat: StaticString

    /// The framing of a format.
    init(_ format: EventFormat) {
        switch format {
        case .serverSentEvents:
            (beforeName, beforeID, beforeData, afterData) = ("event: ", "\nid: ", "\ndata: ", "\n\n")
            // A comment.
            heartbeat = ":\n\n"
        case .ndjson:
            (beforeName, beforeID, beforeData, afterData) = (#"{"event":""#, #"","id":""#, #"","data":"#, "}\n")
            // An empty line would be shorter, but many readers parse every line.
            heartbeat = "{\"event\":\"heartbeat\",\"data\":{}}\n"
        }
    }

    /// Opens an event; the JSON text of its data follows.
    func begin(_ name: StaticString, epoch: [UInt8], sequence: UInt64?, in json: inout JSONBytes) {
        json.append(beforeName)
        json.append(name)
        if let sequence {
            json.append(beforeID)
            json.bytes.append(contentsOf: epoch)
            json.bytes.append(UInt8(ascii: "-"))
            json.bytes.append(decimal: Int(truncatingIfNeeded: sequence))
        }
        json.append(beforeData)
    }

    /// Closes the event.
    func end(in json: inout JSONBytes) { json.append(afterData) }

    /// Writes a heartbeat.
    func writeHeartbeat(in json: inout JSONBytes) { json.append(heartbeat) }

    /// Writes the `retry` field of Server-Sent Events: the time to wait before a reconnect, in milliseconds.
    static func writeRetry(_ milliseconds: Int, in json: inout JSONBytes) {
        json.append("retry: ")
        json.bytes.append(decimal: milliseconds)
        json.append("\n")
    }
}

extension JSONBytes {
    fileprivate mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }
}

/// One dispatched event of an event stream.
package struct ParsedEvent: Sendable, Equatable {
    /// The event's name; `message` where the stream gives none.
    package var name: String
    /// The `data` lines, joined by line feeds.
    package var data: String
    /// The last event id at the time of the dispatch.
    package var id: String

    /// An event.
    package init(name: String, data: String, id: String = "") {
        self.name = name
        self.data = data
        self.id = id
    }
}

/// Reads `text/event-stream` as the WHATWG's "Server-sent events" say: bytes in any portions, events out.
package struct EventStreamParser: Sendable {
    /// The last `retry` time of the stream, in milliseconds.
    package private(set) var retry: Int?
    /// The id of the last event.
    package private(set) var lastEventID = ""
    /// Comment lines, without their colon.
    package private(set) var comments: [String] = []

    private var line: [UInt8] = []
    private var lastWasCarriageReturn = false
    private var atStart = true
    private var name = ""
    private var data: [String] = []
    private var idBuffer = ""

    /// A parser at the start of a stream.
    package init() {}

    /// Parses bytes and returns the events that they complete.
    package mutating func feed(_ bytes: some Sequence<UInt8>) -> [ParsedEvent] {
        var events: [ParsedEvent] = []
        for byte in bytes {
            defer { lastWasCarriageReturn = byte == 0x0D }
            if byte == 0x0A, lastWasCarriageReturn { continue }
            if byte == 0x0A || byte == 0x0D {
                if let event = endLine() { events.append(event) }
            } else {
                line.append(byte)
            }
        }
        return events
    }

    private mutating func endLine() -> ParsedEvent? {
        if atStart, line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
        atStart = false
        let text = String(decoding: line, as: UTF8.self)
        line.removeAll(keepingCapacity: true)
        if text.isEmpty { return dispatch() }
        if text.hasPrefix(":") {
            comments.append(String(text.dropFirst()))
            return nil
        }
        guard let colon = text.firstIndex(of: ":") else {
            take(field: text, value: "")
            return nil
        }
        var value = text[text.index(after: colon)...]
        if value.hasPrefix(" ") { value = value.dropFirst() }
        take(field: String(text[..<colon]), value: String(value))
        return nil
    }

    private mutating func take(field: String, value: String) {
        switch field {
        case "event": name = value
        case "data": data.append(value)
        case "id": if !value.utf8.contains(0) { idBuffer = value }
        case "retry": if value.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let time = Int(value) { retry = time }
        default: break
        }
    }

    private mutating func dispatch() -> ParsedEvent? {
        defer {
            name = ""
            data = []
        }
        lastEventID = idBuffer
        if data.isEmpty { return nil }
        return ParsedEvent(name: name.isEmpty ? "message" : name, data: data.joined(separator: "\n"), id: lastEventID)
    }
}

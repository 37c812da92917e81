internal import JSONText
internal import NIOHTTP1
internal import TestSupport
internal import Testing

/// An open stream of a gateway, read event by event.
struct EventStream {
    /// An event with its data as JSON.
    struct Event: Sendable {
        let name: String
        let id: String
        let data: JSONValue

        /// A member of the data, or of an object in it (`"fields", "last_price"`).
        subscript(_ path: String...) -> JSONValue? {
            var value: JSONValue? = data
            for name in path {
                guard case .object(let members)? = value else { return nil }
                value = members[name]
            }
            return value
        }
    }

    private let connection: HTTPConnection
    private var parser = EventStreamParser()
    private var pending: [ParsedEvent] = []
    /// The bytes of a compressed body, and how many bytes of its content were parsed.
    private var (compressed, parsed): ([UInt8], Int) = ([], 0)
    let response: HTTPResponseHead

    init(_ url: String, lastEventID: String? = nil, headers: [String: String] = [:]) async throws {
        var headers = headers
        headers["Accept"] = "text/event-stream"
        headers["Last-Event-ID"] = lastEventID
        connection = try await HTTPConnection(url)
        response = try await connection.send("GET", url, headers: headers)
    }

    /// The `retry` time of the stream.
    var retry: Int? { parser.retry }

    /// The next event; nil at the end of the stream.
    mutating func next() async throws -> Event? {
        while pending.isEmpty {
            guard let bytes = try await connection.next() else { return nil }
            pending = parser.feed(try content(bytes))
        }
        let event = pending.removeFirst()
        return Event(name: event.name, id: event.id, data: try JSONValue(parsing: Array(event.data.utf8)))
    }

    /// The content that the next bytes of the body add.
    private mutating func content(_ bytes: [UInt8]) throws -> [UInt8] {
        guard response.headers.contains(name: "Content-Encoding") else { return bytes }
        compressed += bytes
        let content = try Gunzip(compressed).content
        defer { parsed = content.count }
        return Array(content[parsed...])
    }

    /// The next event that satisfies a condition; fails the test if the stream ends before.
    mutating func first(_ name: String, where condition: (Event) -> Bool = { _ in true }) async throws -> Event {
        while let event = try await next() {
            if event.name == name, condition(event) { return event }
        }
        throw EndOfStream(awaited: name)
    }

    struct EndOfStream: Error {
        let awaited: String
    }
}

/// A call of the REST interface and its answer.
struct Answer {
    let status: Int
    let headers: [(name: String, value: String)]
    let body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }
    var json: JSONValue? { try? JSONValue(parsing: body) }

    func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// A member of the body, or of an object in it.
    subscript(_ path: String...) -> JSONValue? {
        var value = json
        for name in path {
            guard case .object(let members)? = value else { return nil }
            value = members[name]
        }
        return value
    }

    /// A member that is a string.
    func string(_ name: String) -> String? {
        guard case .string(let text)? = self[name] else { return nil }
        return text
    }
}

/// Makes a call, on a new connection unless one is given.
func call(
    _ method: String,
    _ url: String,
    json: String? = nil,
    headers: [String: String] = [:],
    on connection: HTTPConnection? = nil
) async throws -> Answer {
    var headers = headers
    if json != nil { headers["Content-Type"] = headers["Content-Type"] ?? "application/json" }
    let connection = if let connection { connection } else { try await HTTPConnection(url) }
    let response = try await connection.send(method, url, headers: headers, body: json ?? "")
    var body: [UInt8] = []
    while let bytes = try await connection.next() { body += bytes }
    return Answer(
        status: Int(response.status.code),
        headers: response.headers.map { ($0.name, $0.value) },
        body: body
    )
}

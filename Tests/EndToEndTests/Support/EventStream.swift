internal import AsyncHTTPClient
internal import JSONText
internal import NIOCore
internal import TestSupport
internal import Testing

/// The client of all tests: each stream needs a connection, so many are allowed to one host.
let httpClient: HTTPClient = {
    var configuration = HTTPClient.Configuration()
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 10_000
    return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
}()

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

    private var body: HTTPClientResponse.Body.AsyncIterator
    private var parser = EventStreamParser()
    private var pending: [ParsedEvent] = []
    let response: HTTPClientResponse

    init(
        _ url: String,
        lastEventID: String? = nil,
        headers: [String: String] = [:],
        client: HTTPClient = httpClient
    ) async throws {
        var request = HTTPClientRequest(url: url)
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        request.headers.add(name: "Accept", value: "text/event-stream")
        if let lastEventID { request.headers.add(name: "Last-Event-ID", value: lastEventID) }
        response = try await client.execute(request, timeout: .minutes(5))
        body = response.body.makeAsyncIterator()
    }

    /// The `retry` time of the stream.
    var retry: Int? { parser.retry }

    /// The next event; nil at the end of the stream.
    mutating func next() async throws -> Event? {
        while pending.isEmpty {
            guard let chunk = try await body.next() else { return nil }
            pending = parser.feed(chunk.readableBytesView)
        }
        let event = pending.removeFirst()
        return Event(name: event.name, id: event.id, data: try JSONValue(parsing: Array(event.data.utf8)))
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

/// Makes a call.
func call(
    _ method: String,
    _ url: String,
    json: String? = nil,
    headers: [String: String] = [:],
    client: HTTPClient = httpClient
) async throws -> Answer {
    var request = HTTPClientRequest(url: url)
    request.method = .init(rawValue: method)
    for (name, value) in headers { request.headers.add(name: name, value: value) }
    if let json {
        if headers["Content-Type"] == nil { request.headers.add(name: "Content-Type", value: "application/json") }
        request.body = .bytes(ByteBuffer(string: json))
    }
    let response = try await client.execute(request, timeout: .minutes(5))
    let body = try await response.body.collect(upTo: 16 << 20)
    return Answer(
        status: Int(response.status.code),
        headers: response.headers.map { ($0.name, $0.value) },
        body: Array(body.readableBytesView)
    )
}

internal import MicroHTTPD
internal import Testing

/// A server of a `TestValue`, and clients whose sockets the loop has, except for that of the first one: the library
/// has the first client's. The tag of the value is 2.
///
/// All clients poll in turn, so which of the polls share a wait is determined: the first client's waits in the library,
/// the second one's returns to the library and begins a shared wait, and the others join.
final class PollingClients {
    let value: TestValue
    let server: TestServer
    private(set) var clients: [TestClient]
    /// A client that does not poll.
    private let observer: TestClient

    init(
        _ count: Int,
        _ value: TestValue = TestValue(),
        _ configuration: DaemonConfiguration = DaemonConfiguration()
    ) throws {
        self.value = value
        let server = try TestServer(configuration, handler: value.handler)
        self.server = server
        clients = try (0..<count).map { _ in try server.client(receiveBuffer: 4096) }
        observer = try server.client()
        for client in clients { #expect(try client.exchange(TestValue.poll("")).header("ETag") == "1") }
        try poll("1")
        #expect(value.change() == 0)
        for client in clients { #expect(try client.readResponse().header("ETag") == "2") }
    }

    /// Sends a text for each client, one after the other, and waits until all wait.
    func send(to some: Range<Int>? = nil, _ text: (Int) -> String) throws {
        for number in some ?? clients.indices {
            try clients[number].send(text(number))
            #expect(value.waitForEvents(1))
        }
        try settle()
    }

    /// Sends the next poll of each client, and waits until all wait.
    func poll(_ tag: String) throws { try send { _ in TestValue.poll(tag) } }

    /// Waits until the loop has done all that was caused before: one thread handles the requests, in turn.
    func settle() throws {
        #expect(try observer.exchange("GET /settled HTTP/1.1\r\nHost: x\r\n\r\n").status == 200)
    }

    /// Closes the connection of the last client.
    func removeLast() { clients.removeLast() }
}

internal import MicroHTTPD

/// A daemon on a port chosen by the system, closed at the end.
final class TestServer {
    let daemon: Daemon
    let port: UInt16

    init(
        _ configuration: DaemonConfiguration = DaemonConfiguration(),
        handler: TestHandler = TestHandler()
    ) throws {
        daemon = Daemon(configuration: configuration, handler: handler) { TestFeed($0) }
        port = try daemon.start()
    }

    deinit {
        daemon.close()
    }

    func client(receiveBuffer: Int32? = nil) throws -> TestClient {
        try TestClient(port: port, receiveBuffer: receiveBuffer)
    }

    /// A server that opens a stream with the content of the closure for each request.
    static func streaming(
        _ configuration: DaemonConfiguration = DaemonConfiguration(),
        _ content: @escaping @Sendable (HTTPRequest) -> TestContent
    ) throws -> TestServer {
        let handler = TestHandler { request, _ in
            .stream([HTTPField("Content-Type", "text/event-stream")], content(request).admitted)
        }
        return try TestServer(configuration, handler: handler)
    }
}

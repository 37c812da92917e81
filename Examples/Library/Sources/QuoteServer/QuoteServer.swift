import LightstreamerClient
import Logging
import ServiceLifecycle

/// Serves the last quotes of the demo server as text: `curl http://127.0.0.1:8081/item1`. The argument is the address of the
/// Lightstreamer server, by default `http://127.0.0.1:8090`. It ends by SIGINT or SIGTERM: first the HTTP server, then the
/// subscription, then the session.
@main
struct QuoteServer {
    static func main() async throws {
        let address = CommandLine.arguments.dropFirst().first ?? "http://127.0.0.1:8090"
        let client = try LightstreamerClient(serverAddress: address, adapterSet: "DEMO")
        let board = QuoteBoard()
        let services: [any Service] = [
            client, QuoteReader(client: client, board: board), HTTPServer(board: board, port: 8081),
        ]
        let logger = Logger(label: "quote-server")
        let group = ServiceGroup(services: services, gracefulShutdownSignals: [.sigint, .sigterm], logger: logger)
        try await group.run()
    }
}

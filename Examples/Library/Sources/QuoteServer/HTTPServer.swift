import NIOCore
import NIOHTTP1
import NIOPosix
import ServiceLifecycle

/// Responds to `GET /ITEM` with the last price of the item.
struct HTTPServer: Service {
    private typealias Connection = NIOAsyncChannel<HTTPServerRequestPart, HTTPServerResponsePart>

    let board: QuoteBoard
    let port: Int

    func run() async throws {
        let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .bind(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    return try Connection(wrappingChannelSynchronously: channel)
                }
            }
        try await withThrowingDiscardingTaskGroup { group in
            try await server.executeThenClose { connections in
                for try await connection in connections.cancelOnGracefulShutdown() {
                    group.addTask { await serve(connection) }
                }
            }
            group.cancelAll()
        }
    }

    /// Responds to the requests of a connection. A connection that breaks concerns only itself.
    private func serve(_ connection: Connection) async {
        try? await connection.executeThenClose { requests, responses in
            var item = ""
            for try await part in requests {
                switch part {
                case .head(let head): item = String(head.uri.dropFirst())
                case .body: break
                case .end: try await responses.write(contentsOf: response(for: item))
                }
            }
        }
    }

    private func response(for item: String) -> [HTTPServerResponsePart] {
        let price = board.price(of: item)
        let text = price.map { "\($0)\n" } ?? "no quote of \(item)\n"
        let headers: HTTPHeaders = [
            "Content-Type": "text/plain; charset=utf-8", "Content-Length": "\(text.utf8.count)",
        ]
        let head = HTTPResponseHead(version: .http1_1, status: price == nil ? .notFound : .ok, headers: headers)
        return [.head(head), .body(.byteBuffer(ByteBuffer(string: text))), .end(nil)]
    }
}

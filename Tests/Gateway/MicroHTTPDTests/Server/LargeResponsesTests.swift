internal import MicroHTTPD
internal import Testing

@Suite struct LargeResponsesTests {
    @Test func aResponseLargerThanTheBudgetCutsOffNoOther() throws {
        let sizes = ["/": 4 << 20, "/larger": 10 << 20]
        var configuration = DaemonConfiguration()
        configuration.responseBudget = 9 << 20
        configuration.sendBufferSize = 4096
        let server = try TestServer(
            configuration,
            handler: TestHandler { request, _ in
                let body = [UInt8](repeating: 97, count: sizes[request.rawPath] ?? 0)
                return .respond(HTTPResponse(status: 200, body: .bytes(body)))
            }
        )
        let clients = try (0..<2).map { _ in try server.client() }
        for client in clients {
            try client.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            _ = try client.readHead()
        }
        let refused = try server.client().exchange("GET /larger HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(refused.text == "{\"code\":\"responseBudgetExceeded\"}")
        for client in clients { #expect(try client.readToEnd().count == 4 << 20) }
    }
}

internal import MicroHTTPD
internal import Testing

@Suite struct BodyMemoryTests {
    /// The first chunk alone exceeds the memory, or the third one does.
    @Test(arguments: [[2_000], [400, 400, 400]])
    func aChunkedBodyBeyondTheBudgetIsRefusedAfterItWasRead(chunks: [Int]) throws {
        var configuration = DaemonConfiguration()
        configuration.bodyBudget = 1_000
        let server = try TestServer(configuration)
        let (client, other) = (try server.client(), try server.client())
        try client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        for size in chunks { try client.send(chunk([UInt8](repeating: UInt8(ascii: "a"), count: size))) }
        // The end of the body is missing, and its memory is free.
        repeat {
            _ = try other.exchange("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        } while server.daemon.figures.refusedRequests == 0 && server.daemon.figures.connections == 2
        #expect(server.daemon.figures.bodies.used == 0)
        try client.send("0\r\n\r\n")
        let response = try client.readResponse()
        #expect(response.status == 503)
        #expect(response.text == "{\"code\":\"bodyBudgetExceeded\"}")
        #expect(client.isClosedByServer())
    }
}

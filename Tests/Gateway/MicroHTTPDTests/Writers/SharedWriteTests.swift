internal import MicroHTTPD
internal import Testing

@Suite struct SharedWriteTests {
    /// Open streams with their heads read; the contents are in the order of the clients.
    private struct Streams {
        let server: TestServer
        let contents: [TestContent]
        let clients: [TestClient]

        init(_ count: Int, receiveBuffer: Int32? = nil) throws {
            let contents = (0..<count).map { _ in TestContent() }
            let server = try TestServer.streaming { contents[Int($0.rawPath.dropFirst()) ?? 0] }
            clients = try contents.indices.map { number in
                let client =
                    try number == 0 && receiveBuffer != nil
                    ? server.client(receiveBuffer: receiveBuffer) : server.client()
                try client.send("GET /\(number) HTTP/1.1\r\nHost: x\r\n\r\n")
                _ = try client.readHead()
                return client
            }
            self.contents = contents
            self.server = server
        }

        /// Shares a payload among some streams, in one pass with the others given.
        func share(_ payloads: [[UInt8]], to some: [TestContent]? = nil) throws {
            let streams = try (some ?? contents).map { try #require($0.stream) }
            let first = try #require(streams.first)
            for payload in payloads { first.feed.share(chunk(payload), to: streams.map(\.id)) }
            first.feed.wake()
        }
    }

    @Test func namedStreamsReceiveTheBytesWithoutVisit() throws {
        let streams = try Streams(1200)
        for round in 0..<3 { try streams.share([Array("round \(round)".utf8)]) }
        for client in streams.clients {
            for round in 0..<3 { #expect(try client.readChunk() == Array("round \(round)".utf8)) }
        }
        #expect(streams.contents.allSatisfy { $0.fills == 1 })
        #expect(streams.contents.allSatisfy { $0.blocks == 0 })
    }

    @Test func onlyThoseNamedGetTheBytes() throws {
        let streams = try Streams(3)
        try streams.share([[1]], to: [streams.contents[2]])
        try streams.share([[2]])
        #expect(try streams.clients[2].readChunk() == [1])
        for client in streams.clients { #expect(try client.readChunk() == [2]) }
    }

    @Test func sharedWritesPrecedeVisits() throws {
        let streams = try Streams(1)
        let stream = try #require(streams.contents[0].stream)
        // Not woken for the first: both are due in the same pass.
        stream.feed.share(chunk([1]), to: [stream.id])
        streams.contents[0].push([2])
        #expect(try streams.clients[0].readChunk() == [1])
        #expect(try streams.clients[0].readChunk() == [2])
    }

    @Test func readerOfAPartReceivesTheRestWithoutGap() throws {
        let streams = try Streams(2, receiveBuffer: 4096)
        let payload = [UInt8](repeating: 7, count: 4_000_000)
        try streams.share([payload])
        #expect(try streams.clients[1].readChunk() == payload)
        // A payload of this size may have blocked this stream as well for a while; a visited stream is not blocked.
        streams.contents[1].push([3])
        #expect(try streams.clients[1].readChunk() == [3])
        #expect(streams.contents[0].blocks == 1)
        // Reported although it is blocked: it is skipped, because these bytes would be written within the others.
        try streams.share([[9]])
        #expect(try streams.clients[1].readChunk() == [9])
        #expect(try streams.clients[0].readChunk() == payload)
        streams.contents[0].push([8])
        #expect(try streams.clients[0].readChunk() == [8])
        try streams.share([[10]])
        #expect(try streams.clients[0].readChunk() == [10])
    }

    @Test func endedStreamReceivesNothingAndOthersContinue() throws {
        let streams = try Streams(3)
        let gone = try #require(streams.contents[1].stream)
        streams.contents[1].finish()
        #expect(try streams.clients[1].readChunk() == nil)
        #expect(streams.contents[1].waitForEnd() == .finished)
        gone.feed.share(chunk([1]), to: [gone.id])
        try streams.share([[2]], to: [streams.contents[0], streams.contents[2]])
        #expect(try streams.clients[0].readChunk() == [2])
        #expect(try streams.clients[2].readChunk() == [2])
    }
}

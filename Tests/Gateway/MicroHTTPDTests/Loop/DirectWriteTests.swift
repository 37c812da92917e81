internal import Glibc
internal import Primitives
internal import StreamIO
internal import Synchronization
internal import Testing

@testable internal import MicroHTTPD

@Suite struct DirectWriteTests {
    /// A scheduler without a thread, whose streams are ends of socket pairs.
    private final class Streams {
        let scheduler: StreamScheduler
        let feed = ScriptedFeed()
        private(set) var clients: [Int32] = []
        private let endings = Endings()
        /// Before the present, so that a write at the present follows a quiet time.
        private var now = Moment.monotonic() - .seconds(1)

        init(_ count: Int, shards: Int = 1) throws {
            var configuration = DaemonConfiguration()
            configuration.shards = shards
            scheduler = StreamScheduler(poller: try Poller(), configuration: configuration, now: now)
            scheduler.feed = feed
            for _ in 0..<count { try open() }
            pass()
            feed.collected = 0
        }

        deinit {
            scheduler.endAll(.daemonClosed)
            for client in clients { close(client) }
        }

        /// The reasons of the streams that have ended.
        var ended: [StreamEnd] { endings.reasons.withLock { $0 } }

        private func open() throws {
            var pair: [Int32] = [0, 0]
            try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
            clients.append(pair[1])
            let descriptor = pair[0]
            let stream = AdmittedStream(id: "\(clients.count)") { [endings] reason in
                endings.reasons.withLock { $0.append(reason) }
            }
            let writer = scheduler.open(stream, framing: .chunked) { stream in
                let connection = StreamConnection(sink: .socket(descriptor), descriptor: descriptor) {
                    close(descriptor)
                }
                return StreamWriter(connection: connection, head: SharedBytes([]), stream: stream, isChunked: true)
            }
            try #require(writer != nil)
        }

        /// One pass of the loop.
        func pass(after pause: Duration = .zero) {
            now = now + pause
            scheduler.advance(to: now)
            scheduler.askFeed()
            while scheduler.hasQueue { scheduler.serve() }
        }

        /// The streams' part of one pass. Each reading of the clock is a step after the one before.
        func serve(taking step: Duration) {
            scheduler.askFeed()
            scheduler.serve {
                now = now + step
                return now
            }
        }

        /// Publishes bytes for some streams.
        func publish(_ bytes: [UInt8], to streams: Range<Int>) {
            let bytes = SharedBytes(bytes)
            let piece = StreamPiece(owner: bytes, bytes: bytes.bytes)
            feed.writes.append(SharedWrite(streams: streams.map { feed.streams[$0] }, pieces: [piece]))
        }

        /// Writes as a publishing thread does. Each reading of the clock is a step after the one before.
        func writeDirectly(after pause: Duration = .seconds(1), taking step: Duration = .microseconds(1)) -> Bool {
            now = now + pause
            return scheduler.writeDirectly {
                now = now + step
                return now
            }
        }

        /// The bytes that a client can read now.
        func received(by client: Int, atMost limit: Int = 1 << 20) -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: limit)
            let count = recv(clients[client], &bytes, bytes.count, Int32(MSG_DONTWAIT))
            return Array(bytes.prefix(max(0, count)))
        }
    }

    /// A feed with the shared writes of the test; its contents have no bytes of their own.
    private final class ScriptedFeed: StreamFeed {
        var writes: [SharedWrite] = []
        var ready: [StreamID] = []
        var collected = 0
        private(set) var streams: [StreamID] = []
        private(set) var contents: [SilentContent] = []

        func open(_ opening: StreamOpening) -> any StreamContent {
            streams.append(opening.id)
            contents.append(SilentContent())
            return contents[contents.count - 1]
        }

        func collect(into news: inout FeedNews, ifAtMost limit: Int?, now: Moment) -> Bool {
            if let limit, writes.reduce(ready.count, { $0 + $1.streams.count }) > limit { return false }
            collected += 1
            news.shared = writes
            news.ready = ready
            writes = []
            ready = []
            return true
        }
    }

    private final class Endings: Sendable {
        let reasons = Mutex<[StreamEnd]>([])
    }

    private final class SilentContent: StreamContent {
        private(set) var fills = 0
        private(set) var blocks = 0

        func fill(_ batch: inout StreamBatch, now: Moment) -> StreamProgress {
            fills += 1
            return .idle(wakeAt: nil)
        }

        func blocked() { blocks += 1 }
        func ended(_ reason: StreamEnd) {}
    }

    @Test func eventsForAFewStreamsAreWritten() throws {
        let streams = try Streams(8)
        streams.publish([1], to: 0..<8)
        #expect(streams.writeDirectly())
        for client in 0..<8 { #expect(streams.received(by: client) == [1]) }
        #expect(!streams.scheduler.hasQueue)
        #expect(streams.feed.contents.allSatisfy { $0.fills == 1 })
    }

    @Test func eventsForMoreStreamsAreLeftToTheLoop() throws {
        let streams = try Streams(9)
        streams.publish([1], to: 0..<9)
        #expect(!streams.writeDirectly())
        #expect(streams.feed.collected == 0)
        streams.pass()
        for client in 0..<9 { #expect(streams.received(by: client) == [1]) }
    }

    @Test(arguments: [(2, 4), (8, 1), (64, 1)])
    func loopsShareTheLimit(shards: Int, limit: Int) throws {
        let streams = try Streams(limit + 1, shards: shards)
        streams.publish([1], to: 0..<limit + 1)
        #expect(!streams.writeDirectly())
        streams.pass()
        streams.publish([2], to: 0..<limit)
        #expect(streams.writeDirectly())
    }

    /// The system does not report a writable socket before the client has read a good part of what is kept for it.
    @Test func streamWhoseClientReadsSlowlyIsNotCutOff() throws {
        let streams = try Streams(1)
        streams.publish([UInt8](repeating: 1, count: 4_000_000), to: 0..<1)
        streams.pass()
        #expect(streams.scheduler.blockedCount == 1)
        for _ in 0..<3 {
            #expect(streams.received(by: 0, atMost: 40_000).count == 40_000)
            streams.pass(after: .seconds(31))
            #expect(streams.ended.isEmpty)
        }
        streams.pass(after: .seconds(31))
        #expect(streams.ended == [.blockedTooLong])
    }

    @Test func streamThatIsDueIsVisitedByTheLoop() throws {
        let streams = try Streams(2)
        streams.publish([1], to: 0..<1)
        streams.feed.ready = [streams.feed.streams[1]]
        #expect(!streams.writeDirectly())
        #expect(streams.received(by: 0) == [1])
        #expect(streams.feed.contents[1].fills == 1)
        streams.pass()
        #expect(streams.feed.contents[1].fills == 2)
    }

    @Test func nothingIsCollectedWhileTheLoopHasAQueue() throws {
        let streams = try Streams(2)
        streams.feed.ready = [streams.feed.streams[0]]
        #expect(!streams.writeDirectly())
        streams.publish([1], to: 0..<1)
        #expect(!streams.writeDirectly())
        #expect(streams.feed.collected == 1)
    }

    @Test func eventsThatFollowEachOtherCloselyAreLeftToTheLoop() throws {
        let streams = try Streams(1)
        streams.publish([1], to: 0..<1)
        #expect(streams.writeDirectly())
        streams.publish([2], to: 0..<1)
        #expect(!streams.writeDirectly(after: .microseconds(48)))
        #expect(streams.writeDirectly(after: .microseconds(0)))
        // The same after events that the loop has written.
        streams.publish([3], to: 0..<1)
        streams.pass()
        streams.publish([4], to: 0..<1)
        #expect(!streams.writeDirectly(after: .microseconds(48)))
        #expect(streams.writeDirectly(after: .microseconds(0)))
        #expect(streams.received(by: 0) == [1, 2, 3, 4])
    }

    @Test func pauseAfterALongWriteIsFourTimesAsLong() throws {
        let streams = try Streams(1)
        streams.publish([1], to: 0..<1)
        #expect(streams.writeDirectly(taking: .microseconds(100)))
        streams.publish([2], to: 0..<1)
        #expect(!streams.writeDirectly(after: .microseconds(398)))
        #expect(streams.writeDirectly(after: .microseconds(0)))
    }

    @Test func restOfAWriteIsSentByTheLoop() throws {
        let streams = try Streams(2)
        let payload = [UInt8](repeating: 7, count: 4_000_000)
        streams.publish(payload, to: 0..<1)
        #expect(!streams.writeDirectly())
        // Before the loop has kept the rest, nothing else is collected.
        streams.publish([8], to: 0..<2)
        #expect(!streams.writeDirectly())
        #expect(streams.feed.contents[0].blocks == 0)
        streams.pass()
        #expect(streams.feed.contents[0].blocks == 1)
        #expect(streams.scheduler.blockedCount == 1)
        #expect(streams.received(by: 1) == [8])
        var received: [UInt8] = []
        while received.count < payload.count {
            received += streams.received(by: 0)
            streams.scheduler.noticed(streams.feed.streams[0], .writable)
        }
        #expect(received == payload)
        #expect(streams.scheduler.blockedCount == 0)
    }

    @Test func brokenStreamIsEndedByTheLoop() throws {
        let streams = try Streams(2)
        shutdown(streams.clients[0], Int32(SHUT_RDWR))
        streams.publish([1], to: 0..<2)
        #expect(!streams.writeDirectly())
        #expect(streams.ended.isEmpty)
        #expect(streams.received(by: 1) == [1])
        streams.pass()
        #expect(streams.ended == [.peerClosed])
    }

    @Test func visitsThatTakeLongAreSpreadOverPasses() throws {
        let streams = try Streams(4)
        streams.feed.ready = streams.feed.streams
        streams.serve(taking: .milliseconds(3))
        #expect(streams.feed.contents.count { $0.fills == 2 } == 2)
        #expect(streams.scheduler.hasQueue)
        streams.serve(taking: .milliseconds(3))
        #expect(streams.feed.contents.allSatisfy { $0.fills == 2 })
        #expect(!streams.scheduler.hasQueue)
    }

    @Test func endsOfManyStreamsAreSpreadOverPasses() throws {
        let streams = try Streams(4)
        for stream in streams.feed.streams { streams.scheduler.noticed(stream, .closed) }
        #expect(streams.ended.isEmpty)
        // What is due on a stream that is over is not written.
        streams.publish([1], to: 0..<4)
        streams.feed.ready = streams.feed.streams
        streams.serve(taking: .milliseconds(3))
        #expect(streams.ended == [.peerClosed, .peerClosed])
        streams.serve(taking: .milliseconds(3))
        #expect(streams.ended == [StreamEnd](repeating: .peerClosed, count: 4))
        #expect(streams.scheduler.count == 0)
        #expect(streams.feed.contents.allSatisfy { $0.fills == 1 })
        for client in 0..<4 { #expect(streams.received(by: client).isEmpty) }
    }

    @Test func streamsAreWrittenOnlyWhileTheyAreOffered() throws {
        let streams = try Streams(1)
        let turn = LoopTurn()
        streams.publish([1], to: 0..<1)
        #expect(turn.writeIfFree() == nil)
        turn.offer(streams.scheduler)
        #expect(turn.writeIfFree() == 1)
        turn.offer(nil)
        streams.publish([2], to: 0..<1)
        #expect(turn.writeIfFree() == nil)
    }

    @Test func publishersOnSeveralThreadsLoseNothingAndKeepTheirOrder() async throws {
        let contents = (0..<3).map { _ in TestContent() }
        let server = try TestServer.streaming { contents[Int($0.rawPath.dropFirst()) ?? 0] }
        let clients = try contents.indices.map { number in
            let client = try server.client()
            try client.send("GET /\(number) HTTP/1.1\r\nHost: x\r\n\r\n")
            _ = try client.readHead()
            return client
        }
        let feed = try #require(contents[0].stream).feed
        let ids = try contents.map { try #require($0.stream).id }
        // In waves that fit into the buffers of the kernel: a blocked stream is left out of shared writes.
        let (publishers, wave) = (4, 10)
        for start in stride(from: 0, to: 300, by: wave) {
            await withTaskGroup(of: Void.self) { group in
                for publisher in 0..<publishers {
                    group.addTask {
                        for number in start..<start + wave {
                            feed.share(chunk(Array("\(publisher) \(number)".utf8)), to: ids)
                            feed.wake()
                        }
                    }
                }
            }
            for client in clients {
                var next = [Int](repeating: start, count: publishers)
                for _ in 0..<publishers * wave {
                    let text = String(decoding: try #require(try client.readChunk()), as: UTF8.self)
                    let numbers = text.split(separator: " ").compactMap { Int($0) }
                    #expect(numbers[1] == next[numbers[0]])
                    next[numbers[0]] += 1
                }
            }
        }
    }
}

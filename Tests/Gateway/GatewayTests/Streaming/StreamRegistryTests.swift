import Changes
import EventHub
internal import GatewayStreaming
import Primitives
import SessionCore
import StreamIO
import Synchronization
import TestSupport
import Testing

@testable import Gateway
@testable import MicroHTTPD

@Suite struct StreamRegistryTests {
    private let properties = SubscriptionProperties(mode: .merge, items: .list(["a"]), fields: .list(["x"]))

    /// A registry over a hub with one subscription, and the feed of one loop.
    private func make() throws -> (hub: EventHub, registry: StreamRegistry, feed: HubShard) {
        let hub = EventHub(epoch: "e") { Moment.monotonic() }
        hub.take(.client("c", .added(.connecting)))
        hub.take(.subscription("s", .added(properties)))
        hub.take(.subscription("s", .carried(by: "c")))
        let registry = StreamRegistry(hub: hub)
        let loop = try StreamLoop()
        return (hub, registry, registry.makeFeed(for: loop))
    }

    private func open(_ stream: AdmittedStream, in feed: HubShard) -> any StreamContent {
        let id = StreamID(slot: 3, generation: 1)
        return feed.open(StreamOpening(stream: stream.id, id: id, framing: .bare, now: Moment.monotonic()))
    }

    private func end(_ stream: AdmittedStream, _ content: any StreamContent, _ reason: StreamEnd) {
        content.ended(reason)
        stream.onEnd(reason)
    }

    private func read(_ stream: any StreamContent) -> (text: String, progress: StreamProgress) {
        var batch = StreamBatch(byteLimit: 1 << 16, pieceLimit: 64)
        let progress = stream.fill(&batch, now: Moment.monotonic())
        let bytes = batch.pieces.flatMap { Array($0.bytes) }
        return (String(decoding: bytes, as: UTF8.self), progress)
    }

    @Test func aStreamIsListedFromTheRequestToItsEnd() throws {
        let (_, registry, feed) = try make()
        let ended = Mutex<[StreamEnd]>([])
        let stream = try registry.open(
            StreamRequest(sources: [.subscription("s")]),
            owner: StreamOwner(peer: "127.0.0.1", identity: "key"),
            id: "mine"
        ) { end in ended.withLock { $0.append(end) } }
        #expect(stream.id == "mine")
        #expect(registry.hub.outcome(of: "mine") == nil)
        let content = open(stream, in: feed)
        #expect(registry.list().map(\.summary.id) == ["mine"])
        #expect(registry.listing(of: "mine")?.owner.identity == "key")
        #expect(registry.hub.outcome(of: "mine") == .fresh)
        end(stream, content, .peerClosed)
        #expect(registry.list().isEmpty)
        #expect(registry.count == 0)
        #expect(ended.withLock { $0 } == [.peerClosed])
    }

    @Test func publishedEventsMakeTheFeedNameTheStream() throws {
        let (hub, registry, feed) = try make()
        let stream = try registry.open(
            StreamRequest(sources: [.subscription("s")]),
            owner: StreamOwner(peer: "127.0.0.1")
        )
        let content = open(stream, in: feed)
        #expect(read(content).text.contains("event: stream\n"))
        hub.take(.client("c", .event(.status(.stalled))))
        var news = FeedNews()
        _ = feed.collect(into: &news, ifAtMost: nil, now: Moment.monotonic())
        #expect(news.ready.map(\.slot) == [3])
        #expect(read(content).text.contains(#"data: {"client":"c","status":"STALLED"}"#))
        #expect(registry.listing(of: stream.id)?.summary.figures.delivered == 1)
        end(stream, content, .finished)
        _ = feed.collect(into: &news, ifAtMost: nil, now: Moment.monotonic())
        #expect(news.ready.count == 1)
    }

    @Test func closedStreamSendsReasonAndEnds() throws {
        let (_, registry, feed) = try make()
        let stream = try registry.open(
            StreamRequest(sources: [.subscription("s")]),
            owner: StreamOwner(peer: "127.0.0.1")
        )
        let content = open(stream, in: feed)
        _ = read(content)
        #expect(registry.close(stream.id, reason: "closed"))
        var news = FeedNews()
        _ = feed.collect(into: &news, ifAtMost: nil, now: Moment.monotonic())
        let last = read(content)
        #expect(last.text.hasSuffix("event: closing\ndata: {\"reason\":\"closed\"}\n\n"))
        #expect(last.progress == .finish)
        end(stream, content, .finished)
    }

    @Test func aStreamClosedBeforeItWasOpenedClosesAtOnce() throws {
        let (_, registry, feed) = try make()
        let stream = try registry.open(
            StreamRequest(sources: [.subscription("s")]),
            owner: StreamOwner(peer: "127.0.0.1")
        )
        registry.hub.closeAll(reason: "shutdown")
        let content = open(stream, in: feed)
        #expect(read(content).progress == .finish)
        end(stream, content, .finished)
        #expect(registry.count == 0)
    }

    @Test func aStreamThatNeverOpensLeavesNothing() throws {
        let (hub, registry, _) = try make()
        let stream = try registry.open(
            StreamRequest(sources: [.subscription("s")]),
            owner: StreamOwner(peer: "127.0.0.1")
        )
        stream.onEnd(.neverOpened)
        #expect(registry.count == 0)
        #expect(hub.streams().isEmpty)
        #expect(throws: HubError.unknownStream(stream.id)) {
            try registry.hub.change(stream: stream.id, add: [], remove: [])
        }
    }

    @Test func idInUseIsNotAssignedAgain() throws {
        let (_, registry, _) = try make()
        let request = StreamRequest(sources: [.subscription("s")])
        let first = try registry.open(request, owner: StreamOwner(peer: "127.0.0.1"), id: "mine")
        let second = try registry.open(request, owner: StreamOwner(peer: "127.0.0.1"), id: "mine")
        #expect(first.id == "mine")
        #expect(second.id != "mine")
        first.onEnd(.neverOpened)
        second.onEnd(.neverOpened)
    }

    @Test func headsKeepCachesAndProxiesAway() {
        var request = StreamRequest(sources: [])
        request.format = .ndjson
        let headers = StreamRegistry.headers(for: request)
        #expect(headers["Content-Type"] == "application/x-ndjson; charset=utf-8")
        #expect(headers["Cache-Control"] == "no-store, no-transform")
        #expect(headers["X-Accel-Buffering"] == "no")
    }
}

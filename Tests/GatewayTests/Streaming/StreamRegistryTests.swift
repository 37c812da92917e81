import EventHub
import SessionCore
import Synchronization
import Testing

@testable import Gateway
@testable import MicroHTTPD

@Suite struct StreamRegistryTests {
    private let properties = SubscriptionProperties(mode: .merge, items: .list(["a"]), fields: .list(["x"]))

    /// A registry over a hub with one subscription, and the feed of one loop.
    private func make() throws -> (hub: EventHub, registry: StreamRegistry, feed: HubFeed, loop: StreamLoop) {
        let hub = EventHub(epoch: "e") { Moment(StreamTime.now()) }
        hub.addClient("c", status: .connecting)
        hub.addSubscription("s", properties: properties)
        hub.carry(subscription: "s", by: "c", present: ValueTable(properties: properties))
        let registry = StreamRegistry(hub: hub)
        let loop = try StreamLoop(index: 0)
        return (hub, registry, registry.makeFeed(for: loop), loop)
    }

    private func opening(_ feed: HubFeed, _ loop: StreamLoop, slot: Int = 3) -> StreamOpening {
        StreamOpening(
            id: StreamID(slot: slot, generation: 1),
            loop: loop,
            feed: feed,
            framing: .bare,
            now: StreamTime.now()
        )
    }

    private func read(_ stream: LiveStream) -> (text: String, progress: StreamProgress) {
        var batch = StreamBatch(byteLimit: 1 << 16, pieceLimit: 64)
        let progress = stream.fill(&batch, now: StreamTime.now())
        let bytes = batch.pieces.flatMap { Array($0.bytes) }
        return (String(decoding: bytes, as: UTF8.self), progress)
    }

    @Test func aStreamIsListedFromTheRequestToItsEnd() throws {
        let (_, registry, feed, loop) = try make()
        let ended = Mutex<[StreamEnd]>([])
        let stream = try registry.open(
            StreamRequest(sources: [.subscription("s")]),
            owner: StreamOwner(peer: "127.0.0.1", identity: "key"),
            id: "mine"
        ) { end in ended.withLock { $0.append(end) } }
        #expect(stream.id == "mine")
        #expect(registry.listing(of: "mine")?.summary.outcome == nil)
        stream.opened(opening(feed, loop))
        #expect(registry.list().map(\.summary.id) == ["mine"])
        #expect(registry.listing(of: "mine")?.owner.identity == "key")
        #expect(registry.listing(of: "mine")?.summary.outcome == .fresh)
        stream.ended(.peerClosed)
        #expect(registry.list().isEmpty)
        #expect(registry.count == 0)
        #expect(ended.withLock { $0 } == [.peerClosed])
    }

    @Test func publishedEventsMakeTheFeedNameTheStream() throws {
        let (hub, registry, feed, loop) = try make()
        let stream = try registry.open(
            StreamRequest(sources: [.subscription("s")]),
            owner: StreamOwner(peer: "127.0.0.1")
        )
        stream.opened(opening(feed, loop))
        #expect(read(stream).text.contains("event: stream\n"))
        hub.publish(.status(.stalled), to: .client("c"))
        var news = FeedNews()
        feed.wokenUp(&news, now: StreamTime.now())
        #expect(news.ready.map(\.slot) == [3])
        #expect(read(stream).text.contains(#"data: {"client":"c","status":"STALLED"}"#))
        #expect(registry.listing(of: stream.id)?.summary.figures.delivered == 1)
        stream.ended(.finished)
        feed.wokenUp(&news, now: StreamTime.now())
        #expect(news.ready.count == 1)
    }

    @Test func aClosedStreamSaysWhyAndFinishes() throws {
        let (_, registry, feed, loop) = try make()
        let stream = try registry.open(
            StreamRequest(sources: [.subscription("s")]),
            owner: StreamOwner(peer: "127.0.0.1")
        )
        stream.opened(opening(feed, loop))
        _ = read(stream)
        #expect(registry.close(stream.id, reason: "closed"))
        var news = FeedNews()
        feed.wokenUp(&news, now: StreamTime.now())
        let last = read(stream)
        #expect(last.text.hasSuffix("event: closing\ndata: {\"reason\":\"closed\"}\n\n"))
        #expect(last.progress == .finish)
        stream.ended(.finished)
    }

    @Test func aStreamClosedBeforeItWasOpenedClosesAtOnce() throws {
        let (_, registry, feed, loop) = try make()
        let stream = try registry.open(
            StreamRequest(sources: [.subscription("s")]),
            owner: StreamOwner(peer: "127.0.0.1")
        )
        registry.closeAll(reason: "shutdown")
        stream.opened(opening(feed, loop))
        #expect(read(stream).progress == .finish)
        stream.ended(.finished)
        #expect(registry.count == 0)
    }

    @Test func aStreamThatNeverOpensLeavesNothing() throws {
        let (hub, registry, _, _) = try make()
        let stream = try registry.open(
            StreamRequest(sources: [.subscription("s")]),
            owner: StreamOwner(peer: "127.0.0.1")
        )
        stream.ended(.neverOpened)
        #expect(registry.count == 0)
        #expect(hub.streams().isEmpty)
        #expect(throws: HubError.unknownStream(stream.id)) { try registry.patch(stream.id, add: [], remove: []) }
    }

    @Test func anIdThatIsTakenIsNotGivenTwice() throws {
        let (_, registry, _, _) = try make()
        let request = StreamRequest(sources: [.subscription("s")])
        let first = try registry.open(request, owner: StreamOwner(peer: "127.0.0.1"), id: "mine")
        let second = try registry.open(request, owner: StreamOwner(peer: "127.0.0.1"), id: "mine")
        #expect(first.id == "mine")
        #expect(second.id != "mine")
        first.ended(.neverOpened)
        second.ended(.neverOpened)
    }

    @Test func headsKeepCachesAndProxiesAway() {
        var request = StreamRequest(sources: [])
        request.format = .ndjson
        let head = StreamRegistry.head(for: request)
        #expect(head.headers["Content-Type"] == "application/x-ndjson; charset=utf-8")
        #expect(head.headers["Cache-Control"] == "no-store, no-transform")
        #expect(head.headers["X-Accel-Buffering"] == "no")
    }
}

import Changes
import MicroHTTPD
import SessionCore
import SessionPool
import Testing

@testable import Gateway

/// Streams of a feed that tickets open: their values have the types of the feed.
@Suite struct TypedTicketTests {
    private func fixture() async throws -> AccessFixture {
        try await AccessFixture { configuration in
            var quotes = FeedConfiguration(name: "quotes")
            quotes.upstream = "demo"
            quotes.items = [FeedItem("item1")].compactMap(\.self)
            quotes.fields = [FeedField("price", "number")].compactMap(\.self)
            configuration.feeds = [quotes]
        }
    }

    private func publish(to fixture: AccessFixture) {
        let layout = SubscriptionLayout(itemNames: ["item1"], fieldNames: ["price"], fieldCount: 1)
        let update = ItemUpdate(
            layout: layout,
            itemPos: 1,
            isSnapshot: true,
            values: ["23.910"],
            changed: FieldSet(all: 1)
        )
        let events: [SubscriptionEvent] = [
            .subscribed(itemCount: 1, fieldCount: 1, keyPosition: nil, commandPosition: nil), .update(update),
        ]
        let id = fixture.services.pool.resources().last?.id ?? SubscriptionID("")
        for event in events { fixture.hub.take(.subscription(id, .event(event))) }
    }

    /// The events of the stream that a ticket opens at a target, or opens again.
    private func events(
        _ fixture: AccessFixture,
        _ target: String,
        _ headers: [HTTPField] = []
    ) throws -> String {
        let (_, stream) = fixture.open("GET", target, "", headers)
        return fixture.events(try #require(stream)) { publish(to: fixture) }
    }

    @Test(arguments: ["/v1/stream?feed=quotes&ticket=", "/feeds/quotes/item1?format=sse&ticket=", ""])
    func valuesAreTypedWhenTheStreamOpensAndWhenItOpensAgain(target: String) async throws {
        let fixture = try await fixture()
        var target = target
        if target.isEmpty {
            let made = fixture.perform("POST", "/v1/streams", as: AccessFixture.alice, #"{"feed":"quotes"}"#)
            target = try #require(made.json["url"]?.string) + "?ticket="
        }
        target += fixture.makeTicket(as: AccessFixture.alice)
        #expect(try events(fixture, target).contains(#""fields":{"price":23.910}"#))
        let again = try events(fixture, target, [HTTPField("Last-Event-ID", "e-1")])
        #expect(again.contains(#""fields":{"price":23.910}"#), "\(again)")
    }

    @Test(arguments: ["?", "?format=json&", "/item1?", "/item1/price?"])
    func aTicketReadsNoValues(part: String) async throws {
        let fixture = try await fixture()
        let ticket = fixture.makeTicket(as: AccessFixture.alice)
        for method in ["GET", "HEAD"] {
            #expect(fixture.perform(method, "/feeds/quotes\(part)ticket=\(ticket)").status == 401)
        }
        #expect(fixture.perform("GET", "/feeds/quotes/item1?format=sse&ticket=\(ticket)").isStream)
    }
}

import Changes
import EventHub
import JSONText
import SessionCore
import SessionPool
import StreamIO
import Testing

@testable import Gateway

@Suite struct StreamsResourceTests {
    private let fixture = Fixture()

    @Test func aStreamOfASubscriptionOpensInItsFormat() {
        let path = "/v1/subscriptions/\(fixture.makeSubscription())/events"
        let stream = fixture.perform("GET", path)
        #expect(stream.isStream)
        #expect(stream.headers["Content-Type"]?.hasPrefix("text/event-stream") == true)
        #expect(stream.headers["Cache-Control"] == "no-store, no-transform")
        let lines = fixture.perform("GET", path + "?format=ndjson")
        #expect(lines.headers["Content-Type"]?.hasPrefix("application/x-ndjson") == true)
        #expect(fixture.perform("GET", path, "", ["Accept": "application/json"]).status == 406)
        #expect(fixture.services.streamResources.ids.isEmpty)
    }

    @Test(arguments: [("gzip, br", "gzip"), ("br, gzip;q=0", nil), ("identity, gzip;q=0.5", nil), (nil, nil)])
    func streamsOfOneSubscriptionAreCompressedForClientsThatAcceptGzip(accepted: String?, encoding: String?) {
        let (id, other) = (fixture.makeSubscription(), fixture.makeSubscription())
        let headers = accepted.map { ["Accept-Encoding": $0] } ?? [:]
        for method in ["GET", "HEAD"] {
            let stream = fixture.perform(method, "/v1/subscriptions/\(id)/events", "", headers)
            #expect(stream.headers["Content-Encoding"] == encoding)
            #expect(stream.headers["Vary"] == "Accept-Encoding")
        }
        let two = fixture.perform("GET", "/v1/stream?subscription=\(id)&subscription=\(other)", "", headers)
        #expect(two.isStream)
        #expect(two.headers["Content-Encoding"] == nil)
        var configuration = fixture.services.configuration
        configuration.compression = .off
        fixture.services.current.replace(by: configuration)
        let plain = fixture.perform("GET", "/v1/subscriptions/\(id)/events", "", headers)
        #expect(plain.headers["Content-Encoding"] == nil)
    }

    private static let quotes = "upstream=demo&mode=RAW&items=a&fields=b"

    /// Confirms a subscription, as its server may do at once.
    private func confirm(_ id: SubscriptionID) {
        let event = SubscriptionEvent.subscribed(itemCount: 7, fieldCount: 1, keyPosition: nil, commandPosition: nil)
        fixture.hub.take(.subscription(id, .event(event)))
    }

    @Test func streamReceivesAllEventsOfASubscriptionThatItOpened() {
        let events = fixture.events("/v1/stream?" + Self.quotes, confirm)
        #expect(events.contains(#""status":"DISCONNECTED","active":true,"subscribed":false"#))
        #expect(events.contains("event: subscribed\n"))
        // The subscription lingers: another stream joins it.
        let others = fixture.events("/v1/stream?" + Self.quotes) { _ in }
        #expect(others.contains(#""subscribed":true"#))
        #expect(!others.contains("event: subscribed\n"))
    }

    @Test func streamsAreShownWithTheStatesThatTheirEventsReport() {
        let id = fixture.makeSubscription()
        let prepared = fixture.perform("POST", "/v1/streams", #"{"sources":[{"subscription":"\#(id)"}]}"#)
        let path = prepared.headers["Location"] ?? ""
        confirm(SubscriptionID(id))
        let source = fixture.perform("GET", path).json["sources"]?.array?.first
        #expect(source?["mode"] == "MERGE" && source?["active"] == true && source?["subscribed"] == true)
        let listed = fixture.perform("GET", "/v1/streams").json["streams"]?.array?.first
        #expect(listed?["sources"]?.array?.first == source)
    }

    @Test func preparedStreamReceivesAllEventsOfItsSubscriptionsOnce() {
        let body = #"{"upstream":"demo","mode":"RAW","items":["a"],"fields":["b"]}"#
        let url = fixture.perform("POST", "/v1/streams", body).json["url"]?.string ?? ""
        #expect(fixture.events(url, confirm).contains("event: subscribed\n"))
        let again = fixture.events(url) { _ in }
        #expect(again.contains(#""subscribed":true"#))
        #expect(!again.contains("event: subscribed\n"))
    }

    @Test func preparedStreamHasTheStateOfASourceThatWasAddedAfterItsLastEvent() throws {
        let (present, added) = (fixture.makeSubscription(), fixture.makeSubscription())
        let body = #"{"sources":[{"subscription":"\#(present)"}]}"#
        let prepared = fixture.perform("POST", "/v1/streams", body)
        let (path, url) = (prepared.headers["Location"] ?? "", prepared.json["url"]?.string ?? "")
        for id in [present, added] { publish("1", of: id) }
        let last = try #require(lastID(of: fixture.events(url) { _ in }))
        #expect(fixture.events(url + "?lastEventId=" + last) { _ in }.contains(#""resume":"resumed""#))
        let add = #"{"add":[{"subscription":"\#(added)"}]}"#
        #expect(fixture.perform("PATCH", path, add).status == 200)
        let events = fixture.events(url + "?lastEventId=" + last) { _ in }
        #expect(events.contains(#""resume":"gap""#))
        #expect(events.contains(#""subscription":"\#(added)","item":"i1","itemPos":1,"snapshot":true"#))
        let next = try #require(lastID(of: events))
        #expect(fixture.events(url + "?lastEventId=" + next) { _ in }.contains(#""resume":"resumed""#))
    }

    @Test func aSourceToRemoveThatTheStreamDoesNotHaveIsPassedOver() {
        let (present, other) = (fixture.makeSubscription(), fixture.makeSubscription())
        let prepared = fixture.perform("POST", "/v1/streams", #"{"sources":[{"subscription":"\#(present)"}]}"#)
        let change = #"{"remove":[{"subscription":"\#(other)"},{"subscription":"nope"}]}"#
        let changed = fixture.perform("PATCH", prepared.headers["Location"] ?? "", change)
        #expect(changed.status == 200)
        #expect(changed.json["sources"]?.array?.compactMap { $0["subscription"]?.string } == [present])
    }

    @Test func preparedStreamEndsWhenTheSourceThatAChangeHasLeftIsRefused() {
        let body = #"{"upstream":"demo","mode":"RAW","items":["a"],"fields":["b"]}"#
        let prepared = fixture.perform("POST", "/v1/streams", body)
        let first = prepared.json["sources"]?.array?.first?["subscription"]?.string ?? ""
        let change = #"{"remove":[{"subscription":"\#(first)"}],"add":[{"mode":"RAW","items":["c"],"fields":["b"]}]}"#
        #expect(fixture.perform("PATCH", prepared.headers["Location"] ?? "", change).status == 200)
        let events = fixture.events(prepared.json["url"]?.string ?? "") { id in
            fixture.hub.take(.subscription(id, .event(.failed(code: 21, message: "Bad Item Group name"))))
        }
        #expect(events.contains(#"{"reason":"refused"}"#))
    }

    @Test func preparedStreamThatIsOpenedAgainSubscribesAgainAfterARefusal() throws {
        let body = #"{"upstream":"demo","mode":"RAW","items":["a"],"fields":["b"]}"#
        let prepared = fixture.perform("POST", "/v1/streams", body)
        let url = prepared.json["url"]?.string ?? ""
        let id = SubscriptionID(prepared.json["sources"]?.array?.first?["subscription"]?.string ?? "")
        let resource = try #require(fixture.services.pool.resource(id))
        fixture.services.pool.deactivate(resource)
        fixture.hub.take(.subscription(id, .event(.failed(code: 21, message: "Bad Item Group name"))))
        // The first reader is told the refusal of the subscription that was opened for the stream.
        #expect(fixture.events(url) { _ in }.contains(#"{"reason":"refused"}"#))
        let head = fixture.perform("HEAD", url)
        #expect(head.status == 200 && !resource.status.isActive)
        let events = fixture.events(url) { _ in }
        #expect(resource.status.isActive && events.contains(#""active":true"#))
        #expect(!events.contains("event: closing"))
    }

    @Test func preparedStreamOpensWithTheSourcesThatWereNotDeleted() {
        let ids = [fixture.makeSubscription(), fixture.makeSubscription()]
        let body = #"{"sources":[{"subscription":"\#(ids[0])"},{"subscription":"\#(ids[1])"}]}"#
        let url = fixture.perform("POST", "/v1/streams", body).json["url"]?.string ?? ""
        #expect(fixture.perform("DELETE", "/v1/subscriptions/" + ids[0]).status == 204)
        let events = fixture.events(url) { _ in }
        #expect(events.contains(#""sources":[{"subscription":"\#(ids[1])""#) && !events.contains(ids[0]))
        #expect(fixture.perform("DELETE", "/v1/subscriptions/" + ids[1]).status == 204)
        #expect(fixture.perform("GET", url).status == 404)
    }

    /// Confirms a subscription, and sends it a value.
    private func publish(_ value: String, of id: String) {
        let layout = SubscriptionLayout(itemNames: ["i1"], fieldNames: ["f1"], fieldCount: 1)
        let update = ItemUpdate(
            layout: layout,
            itemPos: 1,
            isSnapshot: true,
            values: [value],
            changed: FieldSet(all: 1)
        )
        let confirmed = SubscriptionEvent.subscribed(
            itemCount: 1,
            fieldCount: 1,
            keyPosition: nil,
            commandPosition: nil
        )
        for event in [confirmed, .update(update)] { fixture.hub.take(.subscription(SubscriptionID(id), .event(event))) }
    }

    private func lastID(of events: String) -> String? {
        events.split(separator: "\n").last { $0.hasPrefix("id: ") }.map { String($0.dropFirst(4)) }
    }

    @Test func aDeletedStreamIsGoneBeforeItsClientHasReadItsLastEvent() async throws {
        let fixture = try await AccessFixture()
        let admin = AccessFixture.admin
        let body = #"{"sources":[{"upstream":"demo","mode":"RAW","items":["a"],"fields":["b"]}]}"#
        let prepared = fixture.perform("POST", "/v1/streams", as: admin, body).json["id"]?.string ?? ""
        let (_, first) = fixture.open("GET", "/v1/streams/\(prepared)/events", as: admin)
        let (_, second) = fixture.open("GET", "/v1/stream?" + Self.quotes, as: admin)
        for stream in [try #require(first), try #require(second)] {
            let path = "/v1/streams/\(stream.id)"
            #expect(fixture.perform("DELETE", path, as: admin).status == 204)
            for method in ["GET", "PATCH", "DELETE"] {
                #expect(fixture.perform(method, path, as: admin, "{}").status == 404)
            }
            stream.onEnd(.finished)
            #expect(fixture.perform("GET", path, as: admin).status == 404)
        }
        #expect(fixture.perform("GET", "/v1/streams", as: admin).json["streams"]?.array?.isEmpty == true)
    }

    @Test func onlyAPreparedStreamIsOpenedByItsID() async throws {
        let fixture = try await AccessFixture()
        let (_, stream) = fixture.open("GET", "/v1/stream?" + Self.quotes, as: AccessFixture.admin)
        let path = "/v1/streams/\(try #require(stream).id)"
        #expect(fixture.perform("GET", path, as: AccessFixture.admin).status == 200)
        let refused = fixture.perform("GET", path + "/events", as: AccessFixture.admin)
        #expect(refused.status == 404 && refused.code == "unknown-stream")
        #expect(refused.json["detail"]?.string?.contains("was not prepared") == true)
    }

    /// `HEAD` was answered with 200 when `GET` was 409.
    @Test func aPreparedStreamInUseIsAConflict() async throws {
        let fixture = try await AccessFixture()
        let admin = AccessFixture.admin
        let body = #"{"upstream":"demo","mode":"MERGE","items":["a"],"fields":["b"]}"#
        let url = try #require(fixture.perform("POST", "/v1/streams", as: admin, body).json["url"]?.string)
        #expect(fixture.perform("HEAD", url, as: admin).status == 200)
        let (_, stream) = fixture.open("GET", url, as: admin)
        for method in ["GET", "HEAD"] {
            let refused = fixture.perform(method, url, as: admin)
            #expect(refused.status == 409, "\(method)")
        }
        try #require(stream).onEnd(.peerClosed)
        #expect(fixture.perform("HEAD", url, as: admin).status == 200)
    }

    @Test func headOpensNothing() {
        let path = "/v1/subscriptions/\(fixture.makeSubscription())/events"
        let head = fixture.perform("HEAD", path)
        #expect(head.status == 200)
        #expect(head.headers["Content-Type"]?.hasPrefix("text/event-stream") == true)
        #expect(fixture.services.streams.count == 0)
        #expect(fixture.perform("HEAD", "/v1/stream?upstream=demo&mode=MERGE&items=a&fields=b").status == 200)
        #expect(fixture.services.pool.resources().count == 1)
    }

    @Test(arguments: [
        ("/v1/stream", 422), ("/v1/stream?subscription=", 422), ("/v1/stream?client=none&client=", 422),
        ("/v1/stream?subscription=none", 404), ("/v1/stream?client=none", 404),
        ("/v1/stream?upstream=none&mode=MERGE&items=a&fields=b", 404), ("/v1/clients/none/events", 404),
        ("/v1/streams/none", 404), ("/v1/streams/none/events", 404),
        ("/v1/clients/none/events?conflate=maybe", 422),
    ])
    func aBadStreamIsRefused(target: String, status: Int) {
        #expect(fixture.perform("GET", target).status == status)
    }

    @Test(arguments: [
        ("[]", "/sources"), ("null", "/sources"), ("[{}]", "/sources/0/subscription"), ("[1]", "/sources/0"),
        (#"[{"subscription":"a","x":1}]"#, "/sources/0/x"),
    ])
    func aRefusedSourceIsTheOnlyError(sources: String, pointer: String) {
        let outcome = fixture.perform("POST", "/v1/streams", #"{"sources":\#(sources)}"#)
        #expect(outcome.status == 422)
        #expect(outcome.json["errors"]?.array?.compactMap { $0["pointer"]?.string } == [pointer])
    }

    @Test func streamIsPatchedOnlyWithAMatchingTag() {
        let id = fixture.makeClient()
        let body = #"{"sources":[{"client":"\#(id)"}]}"#
        let path = fixture.perform("POST", "/v1/streams", body).headers["Location"] ?? ""
        let tag = fixture.perform("GET", path).headers["ETag"] ?? ""
        #expect(fixture.perform("GET", path, "", ["If-None-Match": tag]).status == 304)
        let add = #"{"add":[{"subscription":"\#(fixture.makeSubscription())"}]}"#
        #expect(fixture.perform("PATCH", path, add, ["If-Match": "\"x\""]).status == 412)
        let changed = fixture.perform("PATCH", path, add, ["If-Match": tag])
        #expect(changed.status == 200)
        #expect(changed.headers["ETag"] != tag)
        #expect(fixture.perform("PATCH", path, add, ["If-Match": tag]).status == 412)
        #expect(fixture.perform("DELETE", path, "", ["If-Match": tag]).status == 412)
        #expect(fixture.perform("GET", path).status == 200)
        #expect(fixture.perform("DELETE", path, "", ["If-Match": changed.headers["ETag"] ?? ""]).status == 204)
    }

    /// Its client has not read the last event.
    @Test func aStreamThatIsEndingIsPatchedForItsNextOpening() async throws {
        let fixture = try await AccessFixture()
        let admin = AccessFixture.admin
        let (present, added) = (fixture.makeSubscription(as: admin), fixture.makeSubscription(as: admin))
        let body = #"{"sources":[{"subscription":"\#(present)"}]}"#
        let path = try #require(fixture.perform("POST", "/v1/streams", as: admin, body).headers["Location"])
        let (_, stream) = fixture.open("GET", path + "/events", as: admin)
        let last = try #require(stream)
        // A loop has opened the stream.
        let number = StreamID(slot: 0, generation: 0)
        let shard = fixture.hub.makeShard(seed: 0) {}
        _ = shard.open(StreamOpening(stream: last.id, id: number, framing: .bare, now: fixture.time.moment))
        fixture.services.streams.close(last.id, reason: "slow-reader")
        let patch = #"{"add":[{"subscription":"\#(added)"}],"remove":[{"subscription":"\#(present)"}]}"#
        let changed = fixture.perform("PATCH", path, as: admin, patch)
        #expect(changed.status == 200)
        #expect(changed.json["sources"]?.array?.map { $0["subscription"]?.string } == [added])
        #expect(fixture.perform("GET", path, as: admin).json["sources"] == changed.json["sources"])
        last.onEnd(.neverOpened)
        let events = fixture.events(path + "/events", as: admin)
        #expect(events.contains(added) && !events.contains(present))
        withExtendedLifetime(shard) {}
    }

    @Test func sourcesOfALargeStreamAreVisitedOnTheBackgroundQueue() {
        let sources = (0..<100).map { _ in #"{"subscription":"\#(fixture.makeSubscription())"}"# }
        let body = #"{"sources":[\#(sources.joined(separator: ","))]}"#
        let path = fixture.perform("POST", "/v1/streams", body).headers["Location"] ?? ""
        #expect(fixture.perform("GET", path).status == 200)
        let add = #"{"add":[{"subscription":"\#(fixture.makeSubscription())"}]}"#
        #expect(fixture.perform("PATCH", path, add).status == 200)
        fixture.services.background.stop()
        for target in [path, path + "/events", "/v1/streams"] {
            #expect(fixture.perform("GET", target).code == "unavailable")
        }
        #expect(fixture.perform("PATCH", path, "{}").code == "unavailable")
        #expect(fixture.perform("DELETE", path).code == "unavailable")
    }

    @Test func aPreparedStreamIsShownOpenedAndDeleted() {
        let subscription = fixture.makeSubscription()
        let made = fixture.perform(
            "POST",
            "/v1/streams",
            #"{"sources":[{"subscription":"\#(subscription)"}],"conflate":false}"#
        )
        #expect(made.status == 201)
        #expect(made.json["open"]?.bool == false)
        #expect(made.json["sources"]?.array?.first?["subscription"]?.string == subscription)
        let location = made.headers["Location"] ?? ""
        let url = made.json["url"]?.string ?? ""
        #expect(fixture.perform("GET", url).isStream)
        #expect(fixture.perform("GET", "/v1/streams").json["streams"]?.array?.count == 1)
        #expect(fixture.perform("PATCH", location, #"{"add":[{"client":"none"}]}"#).status == 404)
        #expect(fixture.perform("PATCH", location, #"{"add":[{}]}"#).pointers == ["/add/0/subscription"])
        #expect(fixture.perform("DELETE", location).status == 204)
        #expect(fixture.perform("GET", location).code == "unknown-stream")
    }

    @Test func aStreamShowsTheStateOfItsSources() throws {
        let client = fixture.makeClient()
        let body = #"{"client":"\#(client)","mode":"RAW","items":["a"],"fields":["f"]}"#
        let subscription = try #require(fixture.perform("POST", "/v1/subscriptions", body).json["id"]?.string)
        let sources = #"{"sources":[{"subscription":"\#(subscription)"},{"client":"\#(client)"}]}"#
        let location = try #require(fixture.perform("POST", "/v1/streams", sources).headers["Location"])
        let shown = { fixture.perform("GET", location).json["sources"]?.array }
        #expect(
            shown()?.first == [
                "subscription": .string(subscription), "mode": "RAW", "client": .string(client),
                "status": "DISCONNECTED",
                "active": true, "subscribed": false, "lastError": .null,
            ]
        )
        #expect(shown()?.last == ["client": .string(client), "status": "DISCONNECTED"])
        let id = SubscriptionID(subscription)
        fixture.hub.take(.subscription(id, .event(.failed(code: 21, message: "bad group"))))
        fixture.hub.take(.subscription(id, .carried(by: nil)))
        #expect(
            shown()?.first == [
                "subscription": .string(subscription), "mode": "RAW", "client": .null, "status": .null, "active": false,
                "subscribed": false, "lastError": ["code": 21, "message": "bad group"],
            ]
        )
    }
}

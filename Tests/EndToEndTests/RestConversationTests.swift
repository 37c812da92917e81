internal import DemoServer
internal import Foundation
internal import JSONText
internal import LightstreamerClient
internal import Testing

/// Conversations with a server as a user of the REST interface sees them: calls go in, events of one stream come out.
@Suite struct RestConversationTests {
    private static let quote =
        #""mode":"MERGE","items":["item1"],"fields":["last_price"],"dataAdapter":"QUOTE_ADAPTER""#

    @Test(arguments: [(33, 33), (10, 39), (-4, -4)])
    func finalEndIsReportedInTheOrderOfTheReference(code: Int, reported: Int) async throws {
        try await DemoFixture.run { demo in
            var client = try await RestClient(demo)
            try await client.connect()
            let subscription = try await client.subscribe(Self.quote)
            await demo.server.endSessions(code: code, message: "gone")
            #expect(
                try await client.events(until: "unsubscribed") == [
                    "status DISCONNECTED", "server-error \(reported) gone", "property sessionId null",
                    "property serverSocketName null", "property clientIp null", "property realMaxBandwidth null",
                    "unsubscribed",
                ]
            )
            let shown = try await call("GET", client.url)
            #expect(shown["lastServerError", "code"] == .number(JSONNumber(reported)))
            #expect(shown["subscriptions"]?.array?.count == 1)
            let state = try await call("GET", subscription)
            #expect(state["active"] == true && state["subscribed"] == false)
            try await client.connect()
            _ = try await client.stream.first("subscribed")
            #expect(try await call("GET", client.url)["lastServerError"] == .null)
        }
    }

    @Test(arguments: [41, 48])
    func retryableEndIsFollowedByANewSession(code: Int) async throws {
        try await DemoFixture.run { demo in
            var client = try await RestClient(demo)
            try await client.connect()
            _ = try await client.subscribe(Self.quote)
            await demo.server.endSessions(code: code, message: "again")
            let events = try await client.events(until: "subscribed")
            #expect(events.first == "status DISCONNECTED:WILL-RETRY")
            #expect(
                events.filter { !$0.hasPrefix("property") } == [
                    "status DISCONNECTED:WILL-RETRY", "unsubscribed", "status CONNECTING",
                    "status CONNECTED:WS-STREAMING", "subscribed",
                ]
            )
        }
    }

    @Test func brokenConnectionIsRecoveredWithoutANewSubscription() async throws {
        try await DemoFixture.run { demo in
            var client = try await RestClient(demo)
            try await client.connect()
            _ = try await client.subscribe(Self.quote)
            let session = try await call("GET", client.url).string("sessionId")
            await demo.server.install([Fault(.drop)])
            let events = try await client.events(until: "status CONNECTED:WS-STREAMING")
            #expect(events.first == "status DISCONNECTED:TRYING-RECOVERY")
            #expect(!events.contains("unsubscribed"))
            #expect(try await call("GET", client.url).string("sessionId") == session)
            _ = try await client.stream.first("update")
        }
    }

    @Test func connectCutsTheRetryPauseShort() async throws {
        try await DemoFixture.run { demo in
            await demo.server.install([Fault(.refuse(code: 4, message: "later"), at: .request(.create))])
            var client = try await RestClient(demo, options: #"{"retryDelay":100000}"#)
            #expect(try await call("POST", client.url + "/connect").status == 202)
            #expect(
                try await client.events(until: "status DISCONNECTED:WILL-RETRY") == [
                    "status CONNECTING", "status DISCONNECTED:WILL-RETRY",
                ]
            )
            #expect(try await call("POST", client.url + "/connect").status == 202)
            let events = try await client.events(until: "status CONNECTED:WS-STREAMING")
            #expect(events.first == "status CONNECTING")
        }
    }

    @Test func refusedSessionIsAnsweredAndShown() async throws {
        try await DemoFixture.run { demo in
            await demo.server.install([Fault(.refuse(code: 7, message: "full"), at: .request(.create))])
            var client = try await RestClient(demo)
            let refused = try await call("POST", client.url + "/connect", headers: ["Prefer": "wait=60"])
            #expect(refused.status == 502)
            #expect(refused["upstream"] == ["code": 7, "message": "full"])
            #expect(
                try await client.events(until: "server-error 7 full") == [
                    "status CONNECTING", "status DISCONNECTED", "server-error 7 full",
                ]
            )
        }
    }

    @Test func subscriptionOfARefusedSessionIsAnsweredWithTheRefusal() async throws {
        try await DemoFixture.run { demo in
            await demo.server.install([Fault(.refuse(code: 7, message: "full"), at: .request(.create))])
            let client = try await RestClient(demo)
            let (subscriptions, id, wait) = (demo.url + "/v1/subscriptions", client.id, ["Prefer": "wait=60"])
            let body = #"{"client":"\#(id)",\#(Self.quote)}"#
            // One request may begin to wait before the server refuses the session, the other one begins later.
            async let first = call("POST", subscriptions, json: body, headers: wait)
            #expect(try await call("POST", client.url + "/connect", headers: wait).status == 502)
            for refused in [try await first, try await call("POST", subscriptions, json: body, headers: wait)] {
                #expect(refused.status == 502)
                #expect(refused["upstream"] == ["code": 7, "message": "full"])
            }
            let left = try await call("GET", subscriptions)
            #expect(left["subscriptions"] == .array([]))
        }
    }

    @Test func disconnectionEndsTheSessionInTheAnswer() async throws {
        try await DemoFixture.run { demo in
            let client = try await RestClient(demo)
            try await client.connect()
            let answer = try await call("POST", client.url + "/disconnect", headers: ["Prefer": "wait=60"])
            #expect(answer.status == 200)
            #expect(answer.string("status") == "DISCONNECTED")
            for name in ["sessionId", "serverSocketName", "clientIp", "transport"] { #expect(answer[name] == .null) }
        }
    }

    @Test func forcedTransportMovesALiveSession() async throws {
        try await DemoFixture.run { demo in
            var client = try await RestClient(demo)
            try await client.connect()
            let session = try await call("GET", client.url).string("sessionId")
            for transport in ["HTTP-POLLING", "WS-POLLING", "HTTP-STREAMING", "WS-STREAMING"] {
                let patch = #"{"forcedTransport":"\#(transport)"}"#
                #expect(try await call("PATCH", client.url + "/options", json: patch).status == 200)
                _ = try await client.events(until: "status CONNECTED:\(transport)")
                #expect(try await call("GET", client.url).string("transport") == transport)
            }
            #expect(try await call("GET", client.url).string("sessionId") == session)
        }
    }

    @Test func olderEditionNamesItsPropertiesInEvents() async throws {
        try await DemoFixture.run(configure: { $0.pool.edition = .old }) { demo in
            var client = try await RestClient(demo)
            let patch = """
                {"idleTimeout":3,"keepaliveInterval":4,"pollingInterval":1,"reverseHeartbeatInterval":2,
                 "requestedMaxBandwidth":20,"httpExtraHeaders":{"X-A":"b"},"retryDelay":6}
                """
            let options = try await call("PATCH", client.url + "/options", json: patch)
            #expect(options["idleTimeout"] == 3 && options["requested", "retryDelay"] == 6)
            var told: Set<String> = []
            while told.count < 7 { told.insert(try await client.event()) }
            #expect(
                told == [
                    "property idleMillis 3", "property keepaliveMillis 4", "property pollingMillis 1",
                    "property reverseHeartbeatMillis 2", "property maxBandwidth 20",
                    #"property httpExtraHeaders {"X-A":"b"}"#, "property retryDelay 6",
                ]
            )
        }
    }

    @Test func wrongCountsAreASubscriptionError() async throws {
        try await DemoFixture.run { demo in
            var client = try await RestClient(demo)
            try await client.connect()
            await demo.server.install([Fault(.wrongCounts(items: 1, fields: 0))])
            let refused = try await client.make(Self.quote, headers: ["Prefer": "wait=60"])
            #expect(refused.status == 502)
            #expect(refused["upstream", "code"] == 61)
            let event = try await client.stream.first("subscription-error")
            #expect(event["code"] == 61 && event["message"] == "Expected 1 items but got 2")
        }
    }

    @Test func removalByTheServerLeavesAnInactiveSubscription() async throws {
        try await DemoFixture.run { demo in
            var client = try await RestClient(demo)
            try await client.connect()
            let subscription = try await client.subscribe(Self.quote)
            await demo.server.install([Fault(.inject(["UNSUB,1"]))])
            _ = try await client.stream.first("unsubscribed")
            let shown = try await call("GET", subscription)
            #expect(shown["active"] == false && shown["subscribed"] == false && shown["lastError"] != .null)
            #expect(try await call("GET", client.url)["subscriptions"] == [])
        }
    }

    @Test func laterEventsHaveTheNamesOfChangedProperties() async throws {
        try await DemoFixture.run { demo in
            let body = #"{"upstream":"demo","mode":"MERGE","items":["item1"],"fields":["nothing"]}"#
            let made = try await call("POST", demo.url + "/v1/subscriptions", json: body)
            let url = demo.url + (try #require(made.header("Location")))
            var stream = try await EventStream(url + "/events")
            while try await call("GET", url)["lastError"] == .null { _ = try await stream.next() }
            let patch = #"{"items":["item2"],"fields":["last_price"]}"#
            #expect(try await call("PATCH", url, json: patch).status == 200)
            #expect(try await call("POST", url + "/subscribe").status == 202)
            let update = try await stream.first("update")
            #expect(update["item"] == "item2")
            #expect(update["fields", "last_price"] != nil && update["fields", "nothing"] == nil)
        }
    }

    @Test func outcomesOfMessagesAreEventsAndAnswers() async throws {
        try await DemoFixture.run { demo in
            var client = try await RestClient(demo)
            try await client.connect()
            let outcomes: [(text: String, members: [String: JSONValue])] = [
                ("ECHO|hello", ["outcome": "processed", "response": "hello"]),
                ("FAIL|-5|no", ["outcome": "denied", "code": -5, "error": "no"]),
                ("FAIL|35|no", ["outcome": "failed"]),
            ]
            for (text, members) in outcomes {
                let body = #"{"text":"\#(text)","sequence":"s"}"#
                let answer = try await call(
                    "POST",
                    client.url + "/messages",
                    json: body,
                    headers: ["Prefer": "wait=60"]
                )
                #expect(answer.status == 200)
                let event = try await client.stream.first("message-outcome")
                #expect(event["message"] == answer["message"])
                for (name, value) in members { #expect(answer[name] == value && event[name] == value, "\(text)") }
            }
        }
    }

    @Test(arguments: [32, 33])
    func messageThatTheServerReportsAsADuplicateIsAborted(code: Int) async throws {
        try await DemoFixture.run { demo in
            var client = try await RestClient(demo)
            try await client.connect()
            await demo.server.install([Fault(.refuse(code: code, message: "late"), at: .request(.message))])
            for text in ["refused", "FAIL|\(code)|late"] {
                let answer = try await call(
                    "POST",
                    client.url + "/messages",
                    json: #"{"text":"\#(text)"}"#,
                    headers: ["Prefer": "wait=60"]
                )
                try #require(answer.status == 200, "\(text)")
                let event = try await client.stream.first("message-outcome")
                #expect(event["message"] == answer["message"])
                #expect(answer["outcome"] == "aborted" && answer["sentOnNetwork"] == true)
                #expect(event["outcome"] == "aborted" && event["sentOnNetwork"] == true)
            }
        }
    }

    /// No event tells of the refusal: the second subscription is there to know when the first answer has arrived.
    @Test func frequencyLimitThatTheServerRefusedIsRequestedAgain() async throws {
        try await DemoFixture.run { demo in
            var client = try await RestClient(demo)
            try await client.connect()
            let subscription = try await client.subscribe(Self.quote)
            await demo.server.install([Fault(.refuse(code: 66, message: "later"), at: .request(.reconf))])
            let limit = #"{"requestedMaxFrequency":2}"#
            #expect(try await call("PATCH", subscription, json: limit).status == 200)
            let other = Self.quote.replacingOccurrences(of: "item1", with: "item2")
            #expect(try await client.make(other, headers: ["Prefer": "wait=60"]).status == 201)
            #expect(try await call("GET", subscription)["realMaxFrequency"] == "unlimited")
            #expect(try await call("PATCH", subscription, json: limit).status == 200)
            _ = try await client.stream.first("real-max-frequency") { $0["value"] == 2 }
        }
    }

    @Test func messageThatWaitsForASessionIsAbortedWithItsClient() async throws {
        try await DemoFixture.run { demo in
            var client = try await RestClient(demo)
            let body = #"{"text":"hello","enqueueWhileDisconnected":true}"#
            let sent = try await call("POST", client.url + "/messages", json: body)
            #expect(sent.status == 202)
            #expect(try await call("DELETE", client.url).status == 204)
            let event = try await client.stream.first("message-outcome")
            #expect(event["message"] == sent["id"])
            #expect(event["outcome"] == "aborted" && event["sentOnNetwork"] == false)
            let closing = try await client.stream.first("closing")
            #expect(closing["reason"] == "deleted")
        }
    }
}

/// A dedicated client of the REST interface, with the stream of its own events and those of its subscriptions.
private struct RestClient {
    let url: String
    let id: String
    private let gateway: String
    var stream: EventStream

    init(_ demo: DemoFixture.Running, options: String = "{}") async throws {
        let body = #"{"upstream":"demo","connect":false,"options":\#(options)}"#
        let made = try await call("POST", demo.url + "/v1/clients", json: body)
        gateway = demo.url
        id = try #require(made.string("id"))
        url = demo.url + (try #require(made.header("Location")))
        stream = try await EventStream(url + "/events?subscriptions=true")
        _ = try await stream.first("stream")
    }

    /// Connects, and waits for the outcome.
    func connect() async throws {
        let answer = try await call("POST", url + "/connect", headers: ["Prefer": "wait=60"])
        #expect(answer.status == 200)
    }

    /// Creates a subscription.
    func make(_ properties: String, headers: [String: String] = [:]) async throws -> Answer {
        let body = #"{"client":"\#(id)",\#(properties)}"#
        return try await call("POST", gateway + "/v1/subscriptions", json: body, headers: headers)
    }

    /// Creates a subscription and reads the stream up to its first update; returns its URL.
    mutating func subscribe(_ properties: String) async throws -> String {
        let made = try await make(properties)
        _ = try await stream.first("update")
        return gateway + (try #require(made.header("Location")))
    }

    /// The next event other than data, as a line of text.
    mutating func event() async throws -> String {
        while let event = try await stream.next() {
            let text = { (name: String) in event[name]?.string ?? event[name]?.text ?? "" }
            switch event.name {
            case "update", "real-max-frequency", "end-of-snapshot": continue
            case "status": return "status \(text("status"))"
            case "property": return "property \(text("property")) \(text("value"))"
            case "server-error": return "server-error \(text("code")) \(text("message"))"
            default: return event.name
            }
        }
        throw EventStream.EndOfStream(awaited: "event")
    }

    /// The events other than data up to one.
    mutating func events(until last: String) async throws -> [String] {
        var events: [String] = []
        repeat { events.append(try await event()) } while events.last != last
        return events
    }
}

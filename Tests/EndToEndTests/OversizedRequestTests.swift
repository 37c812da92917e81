internal import DemoServer
internal import JSONText
internal import Testing

/// Requests that exceed the request limit of the upstream, for which the demo server closes the connection that carries one,
/// or that the upstream refuses as malformed.
@Suite(.timeLimit(.minutes(2))) struct OversizedRequestTests {
    private static let patience = ["Prefer": "wait=60"]
    /// 120,000 bytes in the request of a subscription; the limit of the server is 50,000.
    private static let items = (1...1_000).map { "\"" + String(repeating: "x", count: 110) + "\($0)\"" }
        .joined(separator: ",")

    @Test func subscriptionOfAPooledSessionIsRefusedAlone() async throws {
        try await DemoFixture.run { demo in
            let query = "upstream=demo&mode=MERGE&items=item1&fields=time"
            var other = try await EventStream(demo.url + "/v1/stream?" + query)
            let client = try #require(try await other.first("update")["client"]?.string)
            let body = #"{"upstream":"demo","mode":"MERGE","items":[\#(Self.items)],"fields":["time"]"#
            let refused = try await call(
                "POST",
                demo.url + "/v1/subscriptions",
                json: body + "}",
                headers: Self.patience
            )
            #expect(refused.status == 502 && refused["upstream", "code"] == 67)
            let detail = refused.string("detail") ?? ""
            #expect(detail.hasPrefix("The request of 1") && detail.contains("limit of 50000 bytes"), "\(detail)")
            let made = try await call("POST", demo.url + "/v1/streams", json: body + #","fieldsSent":"all"}"#)
            var stream = try await EventStream(demo.url + (try #require(made.string("url"))))
            #expect(try await stream.first("subscription-error")["code"] == 67)
            #expect(try await stream.first("closing")["reason"] == "refused")
            try await Self.expectUndisturbed(&other, client, demo)
        }
    }

    @Test(arguments: [65, 67])
    func subscriptionThatTheServerCallsMalformedIsRefusedAlone(code: Int) async throws {
        try await DemoFixture.run { demo in
            let query = "upstream=demo&mode=MERGE&items=item1&fields=time"
            var other = try await EventStream(demo.url + "/v1/stream?" + query)
            let client = try #require(try await other.first("update")["client"]?.string)
            let refusal = FaultEffect.refuse(code: code, message: "bad syntax")
            await demo.server.install([Fault(refusal, at: .request(.add), times: .max)])
            let body = #"{"upstream":"demo","mode":"MERGE","items":["item2"],"fields":["time"]}"#
            let refused = try await call(
                "POST",
                demo.url + "/v1/subscriptions",
                json: body,
                headers: Self.patience
            )
            #expect(refused.status == 502 && refused["upstream", "code"]?.text == "\(code)")
            #expect(refused["upstream", "message"] == "bad syntax")
            try await Self.expectUndisturbed(&other, client, demo)
        }
    }

    /// As the class reference says: the session is that of one caller.
    @Test func subscriptionThatTheServerCallsMalformedEndsADedicatedSession() async throws {
        try await DemoFixture.run { demo in
            let made = try await call(
                "POST",
                demo.url + "/v1/clients",
                json: #"{"upstream":"demo"}"#,
                headers: Self.patience
            )
            let client = try #require(made.string("id"))
            var events = try await EventStream(demo.url + "/v1/clients/\(client)/events")
            await demo.server.install([Fault(.refuse(code: 65, message: "bad syntax"), at: .request(.add), times: .max)]
            )
            let body = #"{"client":"\#(client)","mode":"MERGE","items":["item2"],"fields":["time"]}"#
            #expect(try await call("POST", demo.url + "/v1/subscriptions", json: body).status == 201)
            #expect(try await events.first("server-error")["code"] == 65)
            let shown = try await call("GET", demo.url + "/v1/clients/\(client)")
            #expect(shown.string("status") == "DISCONNECTED")
        }
    }

    @Test func messageOfAPooledSessionIsDeniedAlone() async throws {
        try await DemoFixture.run { demo in
            let query = "upstream=demo&mode=MERGE&items=item1&fields=time"
            var other = try await EventStream(demo.url + "/v1/stream?" + query)
            let client = try #require(try await other.first("update")["client"]?.string)
            let text = String(repeating: "x", count: 100_000)
            let outcome = try await call(
                "POST",
                demo.url + "/v1/messages?upstream=demo",
                json: #"{"text":"\#(text)","sequence":"s"}"#,
                headers: Self.patience
            )
            #expect(outcome.status == 200 && outcome["outcome"] == "denied" && outcome["code"] == 67)
            #expect(outcome.string("error")?.contains("limit of 50000 bytes") == true)
            let next = try await call(
                "POST",
                demo.url + "/v1/messages?upstream=demo",
                json: #"{"text":"ECHO|hello","sequence":"s"}"#,
                headers: Self.patience
            )
            #expect(next["outcome"] == "processed")
            try await Self.expectUndisturbed(&other, client, demo)
        }
    }

    @Test(arguments: ["WS-STREAMING", "HTTP-POLLING"])
    func dedicatedClientRefusesThemAndGoesOn(transport: String) async throws {
        try await DemoFixture.run { demo in
            let made = try await call(
                "POST",
                demo.url + "/v1/clients",
                json: #"{"upstream":"demo","options":{"forcedTransport":"\#(transport)"}}"#,
                headers: Self.patience
            )
            let client = try #require(made.string("id"))
            let url = demo.url + "/v1/clients/\(client)"
            var events = try await EventStream(url + "/events?subscriptions=true")
            let body = #"{"client":"\#(client)","mode":"MERGE","items":[\#(Self.items)],"fields":["time"]}"#
            let subscription = try await call("POST", demo.url + "/v1/subscriptions", json: body)
            let text = String(repeating: "x", count: 100_000)
            _ = try await call("POST", url + "/messages", json: #"{"text":"\#(text)"}"#)
            let error = try await events.first("subscription-error")
            #expect(error["code"] == 67)
            #expect(try await events.first("message-outcome")["outcome"] == "denied")
            let path = demo.url + (try #require(subscription.header("Location")))
            let shown = try await call("GET", path)
            #expect(shown["active"] == false && shown["lastError", "code"] == 67)
            #expect(try await call("PATCH", path, json: #"{"items":["item1"]}"#).status == 200)
            #expect(try await call("POST", path + "/subscribe", headers: Self.patience).status == 200)
            let present = try await call("GET", url)
            #expect(present.string("status") == "CONNECTED:" + transport)
            #expect(present["counters", "reconnects"] == 0 && present["counters", "sessions"] == 1)
        }
    }

    /// Expects that a stream goes on, and that the client that carries it has not lost its connection.
    private static func expectUndisturbed(
        _ stream: inout EventStream,
        _ client: String,
        _ demo: DemoFixture.Running
    ) async throws {
        while let event = try await stream.next() {
            #expect(event.name == "update", "\(event.name) \(event.data.text)")
            if event.name == "update" { break }
        }
        let present = try await call("GET", demo.url + "/v1/clients/\(client)")
        #expect(present.string("status") == "CONNECTED:WS-STREAMING")
        #expect(present["counters", "reconnects"] == 0)
    }
}

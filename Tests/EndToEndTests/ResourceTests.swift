internal import Foundation
internal import JSONText
internal import Testing

@Suite struct ResourceTests {
    private static let quote = """
        {"upstream":"demo","mode":"MERGE","items":["item1"],"fields":["last_price"],"dataAdapter":"QUOTE_ADAPTER"}
        """

    @Test func subscriptionIsMadeReadAndDeleted() async throws {
        try await DemoFixture.run { demo in
            let made = try await call(
                "POST",
                demo.url + "/v1/subscriptions",
                json: Self.quote,
                headers: ["Prefer": "wait=60"]
            )
            #expect(made.status == 201)
            #expect(made.header("Preference-Applied")?.hasPrefix("wait") == true)
            #expect(made["subscribed"] == .bool(true))
            let url = demo.url + (try #require(made.header("Location")))
            var stream = try await EventStream(url + "/events")
            _ = try await stream.first("update")
            let value = try await call("GET", url + "/values/item1/last_price")
            #expect(value.status == 200)
            guard case .string(let price)? = value["value"] else {
                Issue.record("no value in \(value.text)")
                return
            }
            #expect(Double(price) != nil)
            #expect(value["stale"] == .bool(false))
            let bare = try await call("GET", url + "/values/1/1", headers: ["Accept": "text/plain"])
            #expect(Double(bare.text) != nil)
            let wrong = try await call("GET", url + "/values/item1/colour")
            #expect(wrong.status == 404)
            #expect(wrong.header("Content-Type") == "application/problem+json")
            #expect(wrong.string("code") == "unknown-field")
            #expect(try await call("DELETE", url).status == 204)
            _ = try await stream.first("unsubscribed")
            #expect(try await call("GET", url).status == 404)
        }
    }

    @Test func theFrequencyOfOneSharerChangesWhileItsReadersKeepTheirValues() async throws {
        try await DemoFixture.run { demo in
            let body =
                #"{"upstream":"demo","mode":"MERGE","items":["item1"],"fields":["stock_name","last_price"],"#
                + #""requestedMaxFrequency":20}"#
            var urls: [String] = []
            for _ in 0..<2 {
                let made = try await call(
                    "POST",
                    demo.url + "/v1/subscriptions",
                    json: body,
                    headers: ["Prefer": "wait=60"]
                )
                urls.append(demo.url + (try #require(made.header("Location"))))
            }
            var stream = try await EventStream(urls[1] + "/events")
            // The end of the snapshot of the join.
            _ = try await stream.first("end-of-snapshot")
            #expect(try await call("PATCH", urls[1], json: #"{"requestedMaxFrequency":10}"#).status == 200)
            var names: [String] = []
            // The new upstream subscription has another frequency.
            while let event = try await stream.next() {
                names.append(event.name)
                if event.name == "update" { #expect(event["snapshot"] == .bool(false)) }
                if event.name == "real-max-frequency" {
                    #expect(event["value"] == 10)
                    break
                }
            }
            _ = try await stream.first("update")
            #expect(!names.contains("unsubscribed") && !names.contains("subscribed"))
            #expect(!names.contains("end-of-snapshot"))
            let shown = try await call("GET", urls[1])
            #expect(shown["subscribed"] == true && shown["realMaxFrequency"] == 10)
            #expect(try await call("GET", urls[0])["realMaxFrequency"] == 20)
            #expect(try await call("GET", urls[1] + "/values/item1/stock_name")["value"] != .null)
        }
    }

    @Test func refusalOfTheServerIsVerbatim() async throws {
        try await DemoFixture.run { demo in
            let body =
                #"{"upstream":"demo","mode":"MERGE","items":["item1"],"fields":["last_price"],"dataAdapter":"NONE"}"#
            let made = try await call(
                "POST",
                demo.url + "/v1/subscriptions",
                json: body,
                headers: ["Prefer": "wait=60"]
            )
            #expect(made.status == 502)
            #expect(made["upstream", "code"]?.text == "17")
            let list = try await call("GET", demo.url + "/v1/subscriptions")
            #expect(list["subscriptions"] == .array([]))
        }
    }

    struct Refusal: Sendable {
        let method: String
        let path: String
        var body: String?
        var headers: [String: String] = [:]
        let status: Int
        var code: String?
        var pointer: String?
    }

    static let refusals: [Refusal] = [
        Refusal(method: "POST", path: "/v1/subscriptions", body: "{", status: 400, code: "malformed"),
        Refusal(method: "POST", path: "/v1/subscriptions", body: "[]", status: 400, code: "malformed"),
        Refusal(
            method: "POST",
            path: "/v1/subscriptions",
            body: #"{"upstream":"demo","mode":"SIDEWAYS","items":["a"],"fields":["b"]}"#,
            status: 422,
            code: "invalid-value",
            pointer: "/mode"
        ),
        Refusal(
            method: "POST",
            path: "/v1/subscriptions",
            body: #"{"upstream":"demo","mode":"MERGE","items":["a"],"fields":["b"],"colour":1}"#,
            status: 422,
            pointer: "/colour"
        ),
        Refusal(
            method: "POST",
            path: "/v1/subscriptions",
            body: #"{"upstream":"demo","mode":"MERGE","items":["a b"],"fields":["b"]}"#,
            status: 422,
            pointer: "/items"
        ),
        Refusal(
            method: "POST",
            path: "/v1/subscriptions",
            body: "x",
            headers: ["Content-Type": "text/plain"],
            status: 415
        ),
        Refusal(
            method: "POST",
            path: "/v1/subscriptions",
            body: String(repeating: " ", count: 2 << 20),
            status: 413
        ),
        Refusal(method: "PUT", path: "/v1/subscriptions", status: 405),
        Refusal(method: "GET", path: "/v1/nothing", status: 404),
        Refusal(method: "GET", path: "/v1/stream?upstream=demo&mode=MERGE&items=a", status: 422),
        Refusal(method: "GET", path: "/v1/stream?upstream=nowhere&mode=MERGE&items=a&fields=b", status: 404),
        Refusal(
            method: "POST",
            path: "/v1/clients",
            body: #"{"serverAddress":"http://192.0.2.1:80"}"#,
            status: 403,
            code: "upstream-not-allowed"
        ),
        Refusal(method: "POST", path: "/v1/clients", body: #"{"serverAddress":"tcp://x"}"#, status: 422),
    ]

    @Test func badRequestsGetTheRightProblem() async throws {
        try await DemoFixture.run { demo in
            for refusal in Self.refusals {
                let answer = try await call(
                    refusal.method,
                    demo.url + refusal.path,
                    json: refusal.body,
                    headers: refusal.headers
                )
                let what = Comment(rawValue: "\(refusal.method) \(refusal.path) \(refusal.body?.prefix(80) ?? "")")
                #expect(answer.status == refusal.status, what)
                #expect(answer.header("Content-Type") == "application/problem+json", what)
                if let code = refusal.code { #expect(answer.string("code") == code, what) }
                if let pointer = refusal.pointer { #expect(answer.text.contains("\"\(pointer)"), what) }
                if refusal.status == 405 { #expect(answer.header("Allow")?.contains("POST") == true, what) }
            }
            #expect(try await call("GET", demo.url + "/health/live").status == 200)
        }
    }

    @Test func optionsOfAPooledClientAreShownAndChanged() async throws {
        try await DemoFixture.run { demo in
            _ = try await call("POST", demo.url + "/v1/subscriptions", json: Self.quote, headers: ["Prefer": "wait=60"])
            let list = try await call("GET", demo.url + "/v1/clients")
            guard case .array(let clients)? = list["clients"], case .object(let client)? = clients.first,
                case .string(let id)? = client["id"]
            else {
                Issue.record("no client in \(list.text)")
                return
            }
            let url = demo.url + "/v1/clients/\(id)/options"
            let changed = try await call(
                "PATCH",
                url,
                json: #"{"retryDelay":1.5,"stalledTimeout":3}"#,
                headers: ["Content-Type": "application/merge-patch+json"]
            )
            #expect(changed.status == 200)
            #expect(changed["retryDelay"]?.text == "1.5")
            let refused = try await call(
                "PATCH",
                url,
                json: #"{"retryDelay":-1,"stalledTimeout":9}"#,
                headers: ["Content-Type": "application/merge-patch+json"]
            )
            #expect(refused.status == 422)
            #expect(refused.text.contains("/retryDelay"))
            #expect(try await call("GET", url)["stalledTimeout"]?.text == "3")
        }
    }
}

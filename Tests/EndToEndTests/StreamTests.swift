internal import Foundation
internal import JSONText
internal import Testing

@Suite struct StreamTests {
    private static let quotes =
        "/v1/stream?upstream=demo&mode=MERGE&items=item1,item2&fields=stock_name,last_price,time"

    @Test func oneLinerGivesStatusesSnapshotsAndUpdates() async throws {
        try await DemoFixture.run { demo in
            var stream = try await EventStream(demo.url + Self.quotes)
            #expect(stream.response.headers.first(name: "Content-Type")?.hasPrefix("text/event-stream") == true)
            #expect(stream.response.headers.first(name: "Cache-Control") == "no-store, no-transform")
            #expect(stream.response.headers.first(name: "X-Accel-Buffering") == "no")
            let head = try #require(try await stream.next())
            #expect(head.name == "stream")
            #expect(head.id == "")
            #expect(head["resume"] == .string("fresh"))
            #expect(stream.retry != nil)
            let status = try await stream.first("status") { $0["status"] == .string("CONNECTED:WS-STREAMING") }
            #expect(status["client"] != nil)
            var snapshots: Set<JSONValue> = []
            while snapshots.count < 2 {
                let update = try await stream.first("update") { $0["snapshot"] == .bool(true) }
                #expect(update["fields", "stock_name"] != nil)
                #expect(update.id.contains("-"))
                snapshots.insert(try #require(update["item"]))
            }
            #expect(snapshots == [.string("item1"), .string("item2")])
            let update = try await stream.first("update") { $0["snapshot"] == .bool(false) }
            #expect(update["fields", "stock_name"] == nil)
        }
    }

    @Test func compressedEventsAreReadAsTheyArrive() async throws {
        try await DemoFixture.run { demo in
            let headers = ["Accept-Encoding": "gzip"]
            var streams: [EventStream] = []
            for _ in 0..<5 {
                streams.append(try await EventStream(demo.url + Self.quotes, headers: headers))
            }
            var plain = try await EventStream(demo.url + Self.quotes)
            var ids: Set<String> = []
            while ids.count < 5 { ids.insert(try await plain.first("update") { $0["snapshot"] == .bool(false) }.id) }
            for index in streams.indices {
                #expect(streams[index].response.headers.first(name: "Content-Encoding") == "gzip")
                var missing = ids
                while !missing.isEmpty { missing.remove(try await streams[index].first("update").id) }
            }
        }
    }

    @Test func joinersShareOneUpstreamSubscriptionAndGetItsPresentState() async throws {
        try await DemoFixture.run { demo in
            var first = try await EventStream(demo.url + Self.quotes)
            _ = try await first.first("update") { $0["snapshot"] == .bool(false) }
            var others: [EventStream] = []
            for _ in 0..<20 { others.append(try await EventStream(demo.url + Self.quotes)) }
            for index in others.indices {
                let update = try await others[index].first("update")
                #expect(update["snapshot"] == .bool(true))
                #expect(update["fields", "last_price"] != nil)
            }
            let census = await demo.server.census()
            #expect(census.sessions == 1)
            #expect(census.subscriptions == 1)
        }
    }

    @Test func reconnectingReaderMissesAndRepeatsNothing() async throws {
        try await DemoFixture.run { demo in
            var whole = try await EventStream(demo.url + Self.quotes)
            var part = try await EventStream(demo.url + Self.quotes)
            var last = ""
            while last.isEmpty {
                let event = try #require(try await part.next())
                if event.name == "update", event["snapshot"] == .bool(false) { last = event.id }
            }
            var following: [String] = []
            while following.count < 5 {
                let event = try #require(try await whole.next())
                if !following.isEmpty || event.id == last { following.append(event.id) }
            }
            var again = try await EventStream(demo.url + Self.quotes, lastEventID: last)
            let head = try #require(try await again.next())
            #expect(head["resume"] == .string("resumed"))
            for id in following.dropFirst() {
                #expect(try await again.next()?.id == id)
            }
        }
    }

    @Test func legacyListenersReceiveTheEventsOfTheClient() async throws {
        try await DemoFixture.run { demo in
            let made = try await call("POST", demo.url + "/v1/clients", json: #"{"upstream":"demo","connect":false}"#)
            let location = try #require(made.header("Location"))
            var stream = try await EventStream(demo.url + location + "/events?legacy=true")
            _ = try await stream.first("stream")
            _ = try await call("POST", demo.url + location + "/connect")
            _ = try await stream.first("connection-established")
            let start = try await stream.first("session-started")
            #expect(start["polling"] == .bool(false))
            let bytes = try await stream.first("bytes-received")
            #expect(bytes["bytes"] != nil)
            _ = try await call("POST", demo.url + location + "/disconnect")
            _ = try await stream.first("connection-closed")
        }
    }

    @Test func commandModeCarriesKeysAndSecondLevelFields() async throws {
        try await DemoFixture.run { demo in
            let body = """
                {"upstream":"demo","mode":"COMMAND","items":["portfolio1"],"fields":["key","command","qty"],
                 "dataAdapter":"PORTFOLIO_ADAPTER","commandSecondLevelFields":["stock_name","last_price"],
                 "commandSecondLevelDataAdapter":"QUOTE_ADAPTER"}
                """
            let made = try await call(
                "POST",
                demo.url + "/v1/subscriptions",
                json: body,
                headers: ["Prefer": "wait=60"]
            )
            #expect(made.status == 201)
            var stream = try await EventStream(demo.url + (try #require(made.header("Location"))) + "/events")
            let update = try await stream.first("update") { $0["fields", "last_price"] != nil }
            #expect(update["key"] != nil)
            #expect(update["command"] != nil)
        }
    }

    @Test func thousandStreamsAllGetTheirUpdates() async throws {
        try await DemoFixture.run { demo in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<1_000 {
                    group.addTask {
                        var stream = try await EventStream(demo.url + Self.quotes)
                        var updates = 0
                        var lastSequence = 0
                        while updates < 6 {
                            let event = try await stream.first("update")
                            let sequence = try #require(event.id.split(separator: "-").last.flatMap { Int($0) })
                            #expect(sequence > lastSequence)
                            lastSequence = sequence
                            updates += 1
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(await demo.server.census().subscriptions == 1)
        }
    }
}

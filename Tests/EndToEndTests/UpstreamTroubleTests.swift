internal import DemoServer
internal import Foundation
internal import Gateway
internal import JSONText
internal import Logging
internal import SessionPool
internal import Testing

@Suite struct UpstreamTroubleTests {
    private static let quotes = "/v1/stream?upstream=demo&mode=MERGE&items=item1&fields=last_price"

    @Test func lostServerIsReportedAndReconnected() async throws {
        let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        var configuration = DemoServerConfiguration()
        let first = DemoServer(configuration, logger: quiet)
        let running = Task { try await first.run() }
        let port = try await first.boundPort
        configuration.port = port
        let second = DemoServer(configuration, logger: quiet)
        try await DemoFixture.withGateway(over: port) { _, url in
            var stream = try await EventStream(url + Self.quotes)
            _ = try await stream.first("update")
            running.cancel()
            _ = await running.result
            let trouble = try await stream.first("status") { event in
                guard case .string(let status)? = event["status"] else { return false }
                return status.hasPrefix("DISCONNECTED:")
            }
            #expect(trouble["client"] != nil)
            #expect(try await call("GET", url + "/health/live").status == 200)
            let again = Task { try await second.run() }
            _ = try await stream.first("status") { $0["status"] == .string("CONNECTED:WS-STREAMING") }
            let update = try await stream.first("update")
            #expect(update["snapshot"] == .bool(true))
            again.cancel()
            _ = await again.result
        }
    }

    @Test func serverThatRefusesIsReported() async throws {
        var configuration = DemoServerConfiguration()
        configuration.adapterSets = ["OTHER"]
        try await DemoFixture.run(server: configuration) { demo in
            var stream = try await EventStream(demo.url + Self.quotes)
            let error = try await stream.first("server-error")
            #expect(error["code"]?.text == "2")
            let refused = try await stream.first("subscription-error")
            #expect(refused["code"] == 2 && refused["type"] == "/docs#upstream-refused")
            #expect(
                refused["detail"]?.string?.contains("The adapter set does not exist") == true,
                "\(refused["detail"]?.text ?? "")"
            )
            let closing = try await stream.first("closing")
            #expect(closing["reason"] == "refused")
            let body = #"{"upstream":"demo","mode":"MERGE","items":["item2"],"fields":["last_price"]}"#
            let waiting = try await call(
                "POST",
                demo.url + "/v1/subscriptions",
                json: body,
                headers: ["Prefer": "wait=60"]
            )
            #expect(waiting.status == 502 && waiting["upstream", "code"] == 2)
            #expect(try await call("GET", demo.url + "/health/live").status == 200)
        }
    }

    @Test func sessionWithLostNotificationsIsReplacedAndTheCauseReported() async throws {
        try await DemoFixture.run { demo in
            var stream = try await EventStream(demo.url + Self.quotes)
            _ = try await stream.first("update")
            await demo.server.install([Fault(.progress(3)), Fault(.drop)])
            let lost = try await stream.first("status") { $0["status"] == "DISCONNECTED:WILL-RETRY" }
            #expect(lost["lastFailure", "reason"] == "progress-mismatch")
            let update = try await stream.first("update") { $0["snapshot"] == .bool(true) }
            #expect(update["fields", "last_price"] != nil)
        }
    }

    @Test func sessionThatTheServerEndsIsReplaced() async throws {
        try await DemoFixture.run { demo in
            var stream = try await EventStream(demo.url + Self.quotes)
            _ = try await stream.first("update")
            await demo.server.endSessions(code: 48, message: "refresh")
            _ = try await stream.first("unsubscribed")
            _ = try await stream.first("subscribed")
            let update = try await stream.first("update")
            #expect(update["snapshot"] == .bool(true))
        }
    }

    @Test(arguments: [-5, 2])
    func sessionThatTheServerEndsForGoodEndsItsStreams(code: Int) async throws {
        try await DemoFixture.run { demo in
            var stream = try await EventStream(demo.url + Self.quotes)
            _ = try await stream.first("update")
            // An `END` with a code from 1 to 29 is reported as 39, which is not lasting; the code of a refused bind is kept.
            if code > 0 {
                let refusal = Fault(.refuse(code: code, message: "no"), at: .request(.bind))
                await demo.server.install([refusal, Fault(.loop(delayMilliseconds: 0))])
            } else {
                await demo.server.endSessions(code: code, message: "no")
            }
            let error = try await stream.first("subscription-error")
            #expect(error["code"]?.number?.intValue == code)
            let unsubscribed = try #require(try await stream.next())
            #expect(unsubscribed.name == "unsubscribed" && unsubscribed["active"] == .bool(false))
            #expect(try await stream.first("closing")["reason"] == "refused")
        }
    }

    @Test func aGatewayWithOneConnectedUpstreamIsReady() async throws {
        try await DemoFixture.run { configuration in
            configuration.readiness = .connected
            configuration.pool.upstreams.append(
                UpstreamConfiguration(name: "absent", serverAddress: "http://127.0.0.1:1")
            )
        } _: { demo in
            #expect(try await call("GET", demo.url + "/health/ready").status == 200)
            var absent = try await EventStream(demo.url + "/v1/stream?upstream=absent&mode=MERGE&items=i&fields=f")
            _ = try await absent.first("status") { $0["status"] == "DISCONNECTED:WILL-RETRY" }
            let unready = try await call("GET", demo.url + "/health/ready")
            #expect(unready.status == 503 && unready["detail"] == "No upstream is connected.")
            var present = try await EventStream(demo.url + Self.quotes)
            _ = try await present.first("update")
            #expect(try await call("GET", demo.url + "/health/ready").status == 200)
        }
    }
}

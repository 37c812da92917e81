internal import Foundation
internal import JSONText
internal import Testing

/// The program as a user starts it.
@Suite struct DemoCommandTests {
    @Test(arguments: [SIGTERM, SIGINT])
    func demoPrintsItsAddressesServesAndStopsCleanly(signal: Int32) async throws {
        let process = try GatewayProcess(["demo", "--port", "0", "--demo-port", "0"])
        let addresses = try await process.demoAddresses()
        #expect(addresses.gateway.hasPrefix("http://127.0.0.1:"))
        #expect(addresses.demoServer.hasPrefix("http://127.0.0.1:"))
        var stream = try await EventStream(
            addresses.gateway + "/v1/stream?upstream=demo&mode=MERGE&items=item1&fields=last_price"
        )
        _ = try await stream.first("update")
        process.signal(signal)
        let closing = try await stream.first("closing")
        #expect(closing["reason"] == .string("shutdown"))
        #expect(try await stream.next() == nil)
        #expect(await process.ended() == 0)
    }

    @Test func settingsOfTheCallerGoOverThoseOfDemo() async throws {
        let flags = ["cors.origins=https://a.example", "upstreams.demo.adapterSet=OTHER", "feeds.quotes.title=Mine"]
        let process = try GatewayProcess(
            ["demo", "--port", "0", "--demo-port", "0"] + flags.flatMap { ["--set", $0] }
        )
        let url = try await process.demoAddresses().gateway
        let upstream = try await call("GET", url + "/v1/upstreams/demo", headers: ["Origin": "https://b.example"])
        #expect(upstream.header("Access-Control-Allow-Origin") == nil)
        #expect(upstream["adapterSet"]?.string == "OTHER")
        #expect(try await call("GET", url + "/v1/feeds/quotes")["title"]?.string == "Mine")
        await process.stop()
    }

    @Test func demoReachesItsServerAtAnotherAddress() async throws {
        let process = try GatewayProcess(["demo", "--port", "0", "--demo-port", "0", "--demo-host", "127.0.0.2"])
        let addresses = try await process.demoAddresses()
        #expect(addresses.demoServer.hasPrefix("http://127.0.0.2:"))
        var stream = try await EventStream(addresses.gateway + "/v1/stream?items=item1&fields=last_price")
        _ = try await stream.first("update")
        let upstream = try await call("GET", addresses.gateway + "/v1/upstreams/demo")
        #expect(upstream["serverAddress"]?.string == addresses.demoServer)
        await process.stop()
    }

    @Test func anUpstreamOfTheCallerKeepsItsAddress() async throws {
        let address = "http://127.0.0.1:9"
        let process = try GatewayProcess(
            ["demo", "--port", "0", "--demo-port", "0", "--set", "upstreams.demo.serverAddress=\(address)"]
        )
        let url = try await process.demoAddresses().gateway
        #expect(try await call("GET", url + "/v1/upstreams/demo")["serverAddress"]?.string == address)
        await process.stop()
    }

    @Test func demoReloadsItsConfiguration() async throws {
        let folder = try ProcessFolder()
        let file = try folder.write("gateway.yaml", "cors: {origins: 'https://a.example'}")
        let process = try GatewayProcess(["demo", "--port", "0", "--demo-port", "0", "--config", file])
        let url = try await process.demoAddresses().gateway
        var stream = try await EventStream(url + "/v1/stream?items=item1&fields=last_price")
        _ = try await stream.first("update")
        _ = try folder.write("gateway.yaml", "cors: {origins: 'https://b.example'}")
        process.signal(SIGHUP)
        _ = await process.log(with: "configuration reloaded")
        let response = try await call("GET", url + "/v1/feeds", headers: ["Origin": "https://b.example"])
        #expect(response.header("Access-Control-Allow-Origin") == "https://b.example")
        _ = try await stream.first("update")
        await process.stop()
    }

    @Test func demoRegistersDevicesAndResetsBadges() async throws {
        let process = try GatewayProcess(["demo", "--port", "0", "--demo-port", "0"])
        let url = try await process.demoAddresses().gateway
        let made = try await call(
            "POST",
            url + "/v1/clients",
            json: #"{"upstream":"demo"}"#,
            headers: ["Prefer": "wait=20"]
        )
        let client = url + (made.header("Location") ?? "")
        var stream = try await EventStream(client + "/events?legacy=true")
        _ = try await stream.first("stream")
        let device = #"{"token":"new","previousToken":"old","platform":"Apple","applicationId":"com.example"}"#
        #expect(try await call("PUT", client + "/device", json: device).status == 202)
        #expect(try await stream.first("device-token-change")["succeeded"] == .bool(true))
        #expect(try await call("POST", client + "/badge-reset").status == 202)
        #expect(try await stream.first("badge-reset")["succeeded"] == .bool(true))
        await process.stop()
    }

    @Test func serveReadsItsFileAndPrintsItsAddressFirst() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("gateway-\(UUID()).yaml")
        try "http: {port: 0}\nupstreams: {a: {serverAddress: 'http://127.0.0.1:1'}}".write(
            to: file,
            atomically: true,
            encoding: .utf8
        )
        defer { try? FileManager.default.removeItem(at: file) }
        let process = try GatewayProcess(["serve", "--config", file.path])
        let line = try #require(await process.line())
        #expect(line.hasPrefix("gateway: http://127.0.0.1:"))
        let address = try #require(line.split(separator: " ").last.map(String.init))
        #expect(try await call("GET", address + "/health/live").status == 200)
        let health = try await run(
            GatewayProcess.binary("lightstreamer-gateway"),
            ["health", "--url", address + "/health/live"]
        )
        #expect(health.status == 0)
        await process.stop()
    }

    @Test func checkNamesEveryMistakeAndEndsWithItsStatus() async throws {
        let (status, output) = try await run(
            GatewayProcess.binary("lightstreamer-gateway"),
            ["check", "--port", "99999", "--set", "colour=red"]
        )
        #expect(status == 78)
        #expect(output.contains("flags: http.port: must be a whole number from 0 to 65535"))
        #expect(output.contains("flags: colour: is not a key of the configuration"))
    }

    @Test func checkConnectsToUpstreamsAndSubscribesToFeeds() async throws {
        let process = try GatewayProcess(["demo", "--port", "0", "--demo-port", "0"])
        let server = try await process.demoAddresses().demoServer
        let folder = try ProcessFolder()
        let file = try folder.write(
            "gateway.yaml",
            """
            upstreams:
              demo: { serverAddress: "\(server)", adapterSet: DEMO, default: true }
              gone: { serverAddress: "http://127.0.0.1:1" }
            feeds:
              quotes: { items: "item{1…3}", fields: { last_price: number } }
              wrong: { items: nothing, fields: { last_price: number } }
            """
        )
        let binary = try GatewayProcess.binary("lightstreamer-gateway")
        let (status, output) = try await run(binary, ["check", "--connect", "--config", file])
        #expect(status == 1)
        #expect(output.contains("upstream demo: CONNECTED:"), "\(output)")
        #expect(output.contains("feed quotes: subscribed"), "\(output)")
        #expect(output.contains("feed wrong: The server refused the subscription with code 21"), "\(output)")
        #expect(output.contains("upstream gone: Nothing accepts connections at http://127.0.0.1:1."), "\(output)")
        await process.stop()
    }

    @Test func healthWithoutAGatewayFails() async throws {
        let (status, _) = try await run(
            GatewayProcess.binary("lightstreamer-gateway"),
            ["health", "--url", "http://127.0.0.1:1/health/live"]
        )
        #expect(status == 1)
    }

    @Test func getPrintsOneValueOrATableAndTheReasonWithoutValues() async throws {
        let process = try GatewayProcess(["demo", "--port", "0", "--demo-port", "0"])
        let addresses = try await process.demoAddresses()
        let binary = try GatewayProcess.binary("lightstreamer-gateway")
        let address = String(addresses.gateway.dropFirst("http://".count))
        let price = try await run(binary, ["get", address, "item1", "last_price"])
        #expect(price.status == 0)
        #expect(Double(price.output.dropLast()) != nil, "\(price.output)")
        let table = try await run(
            binary,
            ["get", address, "item1", "item2", "stock_name,last_price", "--format", "csv"]
        )
        #expect(table.output.hasPrefix("item,stock_name,last_price\r\nitem1,"), "\(table.output)")
        let refused = try await run(binary, ["get", address, "nothing", "last_price"])
        #expect(refused.status == 1)
        #expect(refused.output.contains("An item or item group does not exist."), "\(refused.output)")
        let server = try await run(binary, ["get", addresses.demoServer, "item1", "last_price"])
        #expect(server.status == 1)
        #expect(server.output.contains("No gateway responds at \(addresses.demoServer)"), "\(server.output)")
        await process.stop()
        let gone = try await run(binary, ["get", address, "item1", "last_price"])
        #expect(gone.status == 1)
        #expect(gone.output.contains("the connection was refused. Start the server or gateway"), "\(gone.output)")
    }

    /// A web server, or a proxy with a page of its own.
    @Test(arguments: ["", "Content-Type: text/html; charset=utf-8\r\n"])
    func pageOfAnotherServerIsNoValue(header: String) async throws {
        let page = "HTTP/1.1 200 OK\r\n\(header)Content-Length: 6\r\nConnection: close\r\n\r\n<html>"
        let binary = try GatewayProcess.binary("lightstreamer-gateway")
        try await BadServer.run(.response(page)) { port in
            let address = "http://127.0.0.1:\(port)"
            for command in [["get", address], ["watch", "--once", "--gateway", address]] {
                let (status, output) = try await run(binary, command + ["item1", "last_price"])
                #expect(status == 1)
                #expect(output.contains("No gateway responds at \(address)"), "\(output)")
            }
        }
    }

    /// As the events of another server, or of a gateway behind a proxy that changes media types.
    @Test func streamOfAnotherMediaTypeIsRefusedBeforeItsEnd() async throws {
        let stream = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 999\r\n\r\n: hello\n\n"
        let binary = try GatewayProcess.binary("lightstreamer-gateway")
        try await BadServer.run(.response(stream)) { port in
            let address = "http://127.0.0.1:\(port)"
            let command = ["watch", "--once", "--gateway", address, "item1", "last_price"]
            let (status, output) = try await run(binary, command)
            #expect(status == 1)
            #expect(output.contains("No gateway responds at \(address)"), "\(output)")
        }
    }

    @Test func watchFindsOutWhatServesAnAddress() async throws {
        let process = try GatewayProcess(["demo", "--port", "0", "--demo-port", "0"])
        let addresses = try await process.demoAddresses()
        let binary = try GatewayProcess.binary("lightstreamer-gateway")
        let what = ["item1", "stock_name,last_price", "--count", "1"]
        for (address, options) in [(addresses.gateway, []), (addresses.demoServer, ["--adapter-set", "DEMO"])] {
            let words = [String(address.dropFirst("http://".count))] + what
            let outcome = try await run(binary, ["watch"] + words + options)
            #expect(outcome.status == 0)
            #expect(outcome.output.contains("item1 (snapshot) stock_name="), "\(outcome.output)")
        }
        let lines = try await run(binary, ["watch", addresses.gateway, "--json"] + what)
        #expect(lines.output.hasPrefix(#"{"event":"stream","data":{"stream":"#), "\(lines.output)")
        await process.stop()
    }

    @Test func watchPrintsUpdatesFromServerAndGateway() async throws {
        let process = try GatewayProcess(["demo", "--port", "0", "--demo-port", "0"])
        let addresses = try await process.demoAddresses()
        let binary = try GatewayProcess.binary("lightstreamer-gateway")
        let what = ["--items", "item1", "--fields", "stock_name,last_price", "--count", "2"]
        // As `record` takes them, and the words of `watch`: without a scheme, or with a slash at the end.
        let server = String(addresses.demoServer.dropFirst("http://".count))
        let direct = try await run(binary, ["watch", "--server", server, "--adapter-set", "DEMO"] + what)
        #expect(direct.status == 0)
        #expect(direct.output.contains("item1 (snapshot) stock_name="))
        let through = try await run(binary, ["watch", "--gateway", addresses.gateway + "/"] + what)
        #expect(through.status == 0)
        #expect(through.output.contains("item1 (snapshot) stock_name="))
        await process.stop()
    }
}

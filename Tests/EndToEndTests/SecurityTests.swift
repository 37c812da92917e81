internal import DemoServer
internal import Foundation
internal import JSONText
internal import Logging
internal import Testing

/// Authentication and authorization, tested with the program.
@Suite struct SecurityTests {
    private static let stream = "/v1/stream?upstream=demo&mode=MERGE&fields=last_price&items="
    private static let admin = "lsg_" + String(repeating: "a", count: 43)
    private static let reader = "lsg_" + String(repeating: "b", count: 43)

    private static func bearer(_ key: String) -> [String: String] { ["Authorization": "Bearer \(key)"] }

    /// The output of `key --hash` for a key.
    private static func hash(_ key: String, in folder: ProcessFolder) async throws -> String {
        let file = try folder.write("key", key + "\n")
        let binary = try GatewayProcess.binary("lightstreamer-gateway").path
        let (status, output) = try await run(
            URL(fileURLWithPath: "/bin/sh"),
            ["-c", "exec \"$0\" key --hash < \"$1\"", binary, file]
        )
        #expect(status == 0)
        return try #require(
            output.split(whereSeparator: \.isWhitespace).last { $0.hasPrefix("sha256:") }.map(String.init)
        )
    }

    private static func configuration(_ folder: ProcessFolder, port: Int, streams: Int = 1) async throws -> String {
        """
        http: {host: 0.0.0.0, port: 0}
        log: {level: debug, format: json}
        auth:
          keys:
            admin: {hash: "\(try await hash(admin, in: folder))", operations: "read,subscribe,manage,send"}
            reader: {hash: "\(try await hash(reader, in: folder))", items: item1, streams: \(streams), rate: 1000}
        upstreams:
          demo: {serverAddress: "http://127.0.0.1:\(port)", adapterSet: DEMO}
        """
    }

    /// Runs a demo server and a gateway that requires keys.
    private static func withGateway(
        _ body: (GatewayProcess, String, ProcessFolder, Int) async throws -> Void
    ) async throws {
        let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let server = DemoServer(DemoServerConfiguration(), logger: quiet)
        let running = Task { try await server.run() }
        let port = try await server.boundPort
        let folder = try ProcessFolder()
        let file = try folder.write("gateway.yaml", try await configuration(folder, port: port))
        let process = try GatewayProcess(["serve", "--config", file])
        try await body(process, try await process.address(), folder, port)
        await process.stop()
        running.cancel()
        _ = await running.result
    }

    @Test func keysOpenWhatTheyAreForAndNothingElse() async throws {
        try await Self.withGateway { _, url, _, _ in
            let anonymous = try await call("GET", url + "/v1/upstreams")
            #expect(anonymous.status == 401)
            #expect(anonymous.header("WWW-Authenticate")?.hasPrefix("Bearer ") == true)
            #expect(try await call("GET", url + "/health/live").status == 200)
            #expect(try await call("GET", url + "/v1/upstreams", headers: Self.bearer("lsg_x")).status == 401)
            #expect(try await call("GET", url + "/v1/upstreams", headers: Self.bearer(Self.reader)).status == 200)
            #expect(try await call("GET", url + "/v1/upstreams?access_token=\(Self.admin)").status == 400)
            let client = #"{"upstream":"demo"}"#
            let headers = Self.bearer(Self.reader)
            #expect(try await call("POST", url + "/v1/clients", json: client, headers: headers).status == 403)
            let admins = try await call("POST", url + "/v1/clients", json: client, headers: Self.bearer(Self.admin))
            #expect(admins.status == 201)
            let path = url + (admins.header("Location") ?? "")
            #expect(try await call("GET", path, headers: headers).status == 404)
            #expect(try await call("GET", url + Self.stream + "item2", headers: headers).status == 403)
            let cookie = ["Cookie": "gateway_token=\(Self.admin)", "Origin": "https://evil.example"]
            #expect(try await call("POST", url + "/v1/tickets", headers: cookie).status == 403)
        }
    }

    @Test func aTicketOpensOneStreamAndTheLimitOfStreamsHolds() async throws {
        try await Self.withGateway { process, url, _, _ in
            let made = try await call("POST", url + "/v1/tickets", headers: Self.bearer(Self.reader))
            let ticket = try #require(made.string("ticket"))
            let address = url + Self.stream + "item1&ticket=\(ticket)"
            var stream = try await EventStream(address)
            _ = try await stream.first("update")
            #expect(try await call("GET", address).status == 401)
            let headers = Self.bearer(Self.reader)
            let full = try await call("GET", url + Self.stream + "item1", headers: headers)
            #expect(full.status == 503)
            #expect(full.header("Retry-After") != nil)
            var refused = try await EventStream(url + Self.stream + "item1", headers: headers)
            #expect(refused.response.status == .ok)
            #expect(try await refused.first("closing")["reason"] == .string("stream-limit"))
            #expect(refused.retry != nil)
            #expect(try await refused.next() == nil)
            // The log of the last request has the path, and no query with a ticket in it.
            #expect(await process.log(with: "\"path\":\"/v1/tickets\"") != nil)
            let line = try #require(await process.log(with: "\"path\":\"/v1/stream\""))
            #expect(!line.contains("lst_"))
        }
    }

    @Test func aReloadEndsTheStreamsWhoseRightsItTakesAway() async throws {
        try await Self.withGateway { process, url, folder, port in
            var kept = try await EventStream(url + Self.stream + "item1", headers: Self.bearer(Self.admin))
            var lost = try await EventStream(url + Self.stream + "item1", headers: Self.bearer(Self.reader))
            _ = try await kept.first("update")
            _ = try await lost.first("update")
            try folder.write("gateway.yaml", "http: [")
            process.signal(SIGHUP)
            let mistake = try #require(await process.log(with: "mistake in the configuration"))
            #expect((try? JSONValue(parsing: Array(mistake.utf8))) != nil)
            #expect(await process.log(with: "the old one stays in force") != nil)
            try folder.write("gateway.yaml", try await Self.configuration(folder, port: port, streams: 2))
            process.signal(SIGHUP)
            #expect(try await lost.first("closing")["reason"] == .string("revoked"))
            #expect(await process.log(with: "configuration reloaded") != nil)
            _ = try await kept.first("update")
            process.signal(SIGTERM)
            #expect(try await kept.first("closing")["reason"] == .string("shutdown"))
            #expect(await process.ended() == 0)
        }
    }

    @Test func anotherAddressThanLoopbackNeedsAWordAboutAccess() async throws {
        let binary = try GatewayProcess.binary("lightstreamer-gateway")
        let (status, output) = try await run(binary, ["serve", "--host", "0.0.0.0", "--port", "0"])
        #expect(status == 78)
        #expect(output.contains("http.host"))
    }

    /// An empty file, such as one that is about to be written, opened the gateway without a word.
    @Test func aReloadThatEndsTheNeedForCredentialsIsWarnedAbout() async throws {
        let folder = try ProcessFolder()
        let keys = "auth.keys.a.hash: \(try await Self.hash(Self.admin, in: folder))\n"
        let file = try folder.write("gateway.yaml", "http: {port: 0}\n" + keys)
        let process = try GatewayProcess(["serve", "--config", file])
        let url = try await process.address()
        #expect(try await call("GET", url + "/v1/upstreams").status == 401)
        try folder.write("gateway.yaml", "")
        process.signal(SIGHUP)
        #expect(await process.log(with: "callers need no credentials any more") != nil)
        #expect(await process.log(with: "no upstream is configured") != nil)
        await process.stop()
    }
}

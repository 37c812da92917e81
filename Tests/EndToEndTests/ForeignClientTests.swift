internal import Foundation
internal import Testing

/// Tests with foreign software, which `.ci/setup tests` installs.
@Suite struct ForeignClientTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    private static let python = root.appendingPathComponent(".venv/bin/python")

    /// The tools may be missing on a developer's machine, but not in CI.
    static var hasTools: Bool {
        FileManager.default.isExecutableFile(atPath: python.path) || ProcessInfo.processInfo.environment["CI"] != nil
    }

    static func script(_ path: String, _ arguments: String...) async throws -> (status: Int32, output: String) {
        try await script(path, arguments)
    }

    /// Runs a Python script of `Tests`.
    static func script(_ path: String, _ arguments: [String]) async throws -> (status: Int32, output: String) {
        try await run(python, [root.appendingPathComponent("Tests").appendingPathComponent(path).path] + arguments)
    }

    /// Runs scripts of `Tests`, as many at a time as `width`, and expects that they end without a failure. Scripts mostly
    /// wait, each for the processes that it started itself.
    static func expectSuccess(of scripts: [[String]], width: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, script) in scripts.enumerated() {
                if index >= width { try await group.next() }
                group.addTask {
                    let (status, output) = try await Self.script(script[0], Array(script.dropFirst()))
                    #expect(status == 0, "\(script.joined(separator: " ")): \(output)")
                }
            }
            try await group.waitForAll()
        }
    }

    /// Each transport has a server of its own with faults; all are tested at the same time.
    @Test(.enabled(if: hasTools, "needs .ci/setup tests"))
    func officialPythonClientUsesTheDemoServerOnEveryTransport() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for transport in ["WS-STREAMING", "HTTP-STREAMING", "WS-POLLING", "HTTP-POLLING"] {
                group.addTask { try await Self.expectChecks(over: transport) }
            }
            try await group.waitForAll()
        }
    }

    private static func expectChecks(over transport: String) async throws {
        let process = try GatewayProcess(["demo-server", "--port", "0", "--faults"])
        let line = try #require(await process.line())
        let address = try #require(line.split(separator: " ").last.map(String.init))
        let (status, output) = try await script(
            "PythonClient/official_client.py",
            address,
            "--faults",
            "--transport",
            transport
        )
        #expect(status == 0, Comment(rawValue: output))
        await process.stop()
    }

    /// Each script starts its own gateways: the dashboard and the API page in headless Chromium, the files of
    /// `Examples`, the table of `watch` in a pseudo-terminal.
    @Test(.enabled(if: hasTools, "needs .ci/setup tests"))
    func pagesAndExamplesWork() async throws {
        let scripts = [
            // The longest first.
            "Browser/module.py", "Browser/chaos.py", "Browser/docs.py", "Browser/module_rules.py",
            "PythonClient/follow_faults.py", "Browser/dashboard_recovery.py", "Packaging/check.py",
            "Browser/dashboard_views.py", "Examples/check.py", "Browser/dashboard_scripts.py",
            "PythonClient/replay.py", "Browser/module_pages.py", "Browser/module_hub.py", "Browser/firefox.py",
            "Browser/dashboard_layout.py", "Browser/limits.py", "Browser/accessibility.py",
            "Examples/compressed.py", "Terminal/watch.py", "Browser/dashboard_access.py",
            "PythonClient/model_context.py",
        ]
        let binary = try GatewayProcess.binary("lightstreamer-gateway").path
        try await Self.expectSuccess(of: scripts.map { [$0, binary] }, width: 4)
    }

    @Test(
        .enabled(if: hasTools, "needs .ci/setup tests"),
        arguments: ["PythonClient/event_stream.py", "Browser/event_source.py"]
    )
    func readersThatComeBackMissAndRepeatNothing(script: String) async throws {
        let process = try GatewayProcess(["demo", "--port", "0", "--demo-port", "0"])
        let addresses = try await process.demoAddresses()
        let (status, output) = try await Self.script(script, addresses.gateway)
        #expect(status == 0, Comment(rawValue: output))
        await process.stop()
    }

    @Test(.enabled(if: hasTools, "needs .ci/setup tests"))
    func curlShowsTheLiveDataOfTheReadme() async throws {
        let process = try GatewayProcess(["demo", "--port", "0", "--demo-port", "0"])
        let addresses = try await process.demoAddresses()
        let query = "/v1/stream?upstream=demo&mode=MERGE&items=item1,item2&fields=stock_name,last_price,time"
        // Curl ends with 28 at its time limit, which ends an endless response here.
        let (status, output) = try await run(
            URL(fileURLWithPath: "/usr/bin/curl"),
            ["--silent", "--no-buffer", "--max-time", "8", addresses.gateway + query]
        )
        #expect(status == 28)
        for name in ["stream", "status", "subscribed", "update"] {
            #expect(output.contains("event: \(name)\n"), Comment(rawValue: output))
        }
        await process.stop()
    }

    @Test(.enabled(if: hasTools, "needs .ci/setup tests"))
    func aGeneratedClientReadsAValue() async throws {
        let process = try GatewayProcess(["demo", "--port", "0", "--demo-port", "0"])
        let addresses = try await process.demoAddresses()
        let (status, output) = try await Self.script("PythonClient/generated_client.py", addresses.gateway)
        #expect(status == 0, Comment(rawValue: output))
        await process.stop()
    }

    @Test(.enabled(if: hasTools, "needs .ci/setup tests"))
    func aTypedClientOfTheFeedsReadsAValueAndTenEvents() async throws {
        let process = try GatewayProcess(["demo", "--port", "0", "--demo-port", "0"])
        let addresses = try await process.demoAddresses()
        let script = Self.root.appendingPathComponent("Tests/TypeScriptClient/run")
        let (status, output) = try await run(script, [addresses.gateway])
        #expect(status == 0 && output.hasSuffix("10 events\n"), Comment(rawValue: output))
        await process.stop()
    }

    /// Open responses never end; the stream tests read them. The upstream refuses invented items, which is 502 for
    /// `/v1/values`, and a subscription without items cannot be subscribed to, which is 422.
    @Test(
        .enabled(if: hasTools, "needs .ci/setup tests"),
        arguments: [
            ["--exclude-path-regex", "(/events|/v1/stream|/v1/values|/subscribe)$"],
            [
                "--include-path-regex", "(/v1/values|/subscribe)$",
                "--exclude-checks", "not_a_server_error,positive_data_acceptance",
            ],
        ]
    )
    func schemathesisFindsTheInterfaceAsDescribed(selection: [String]) async throws {
        let process = try GatewayProcess(["demo", "--port", "0", "--demo-port", "0"])
        let addresses = try await process.demoAddresses()
        let folder = try ProcessFolder()
        let contract = try folder.write("contract.json", "")
        let (converted, message) = try await Self.script(
            "PythonClient/strict_contract.py",
            Self.root.appendingPathComponent("openapi.yaml").path,
            contract
        )
        try #require(converted == 0, Comment(rawValue: message))
        let (status, output) = try await run(
            Self.python.deletingLastPathComponent().appendingPathComponent("schemathesis"),
            [
                "--config-file", Self.root.appendingPathComponent("Tests/PythonClient/schemathesis.toml").path,
                "run", contract, "--url", addresses.gateway,
                "--phases", "examples,fuzzing", "--max-examples", "10", "--no-color",
                // The same requests in every run, without checks of their duration.
                "--generation-deterministic",
                "--suppress-health-check", "all", "--request-timeout", "60",
            ] + selection
        )
        #expect(status == 0, Comment(rawValue: String(output.suffix(20_000))))
        await process.stop()
    }
}

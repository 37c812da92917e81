internal import Foundation
internal import JSONText
internal import Testing

@Suite struct CommandLineTests {
    private func gateway(_ arguments: String...) async throws -> (status: Int32, output: String) {
        try await run(GatewayProcess.binary("lightstreamer-gateway"), arguments)
    }

    private func inject(_ fault: String, into server: String) async throws {
        let headers = ["Content-Type": "text/plain"]
        #expect(try await call("POST", server + "/demo/faults", json: fault, headers: headers).status == 200)
    }

    @Test func anAddressInUseIsNamed() async throws {
        let process = try GatewayProcess(["demo", "--port", "0", "--demo-port", "0"])
        let addresses = try await process.demoAddresses()
        for (command, option, address) in [
            ("serve", "--port", addresses.gateway), ("demo-server", "--port", addresses.demoServer),
        ] {
            let port = try #require(address.split(separator: ":").last)
            let outcome = try await gateway(command, option, String(port))
            #expect(outcome.status == 1)
            #expect(outcome.output.contains("cannot listen on 127.0.0.1:\(port): the address is in use"), "\(outcome)")
        }
        await process.stop()
    }

    @Test func settingsArePrintedAsJSONSchema() async throws {
        let outcome = try await gateway("check", "--keys", "--format", "json-schema")
        #expect(outcome.status == 0)
        #expect(try JSONValue(parsing: outcome.output)["properties"]?["http"] != nil)
    }

    /// The output was written to another descriptor, which had the number of the closed one.
    @Test func aClosedStandardOutputStaysClosed() async throws {
        let program = try GatewayProcess.binary("lightstreamer-gateway").path
        let shell = URL(fileURLWithPath: "/bin/sh")
        let outcome = try await run(shell, ["-c", "exec \"$0\" check --keys <&- >&-", program])
        #expect(outcome.status == 1)
        #expect(outcome.output.contains("Bad file descriptor"), "\(outcome)")
    }

    @Test func aMissingConfigurationFileIsNamed() async throws {
        let outcome = try await gateway("check", "--config", "/nonexistent/gateway.yaml")
        #expect(outcome.status == 66)
        #expect(outcome.output.contains("/nonexistent/gateway.yaml: does not exist"), "\(outcome)")
    }

    /// The description of all commands that `swift package generate-manual` reads, and the scripts of three shells.
    @Test func theManualAndCompletionsNameEveryCommand() async throws {
        let commands = ["serve", "demo", "demo-server", "get", "watch", "record", "bench", "check", "health", "key"]
        let help = try await gateway("--experimental-dump-help")
        let described = try JSONValue(parsing: help.output)["command"]?["subcommands"]?.array ?? []
        for command in commands {
            let entry = described.first { $0["commandName"]?.string == command }
            #expect(entry?["abstract"]?.string?.isEmpty == false, "\(command)")
        }
        for shell in ["bash", "zsh", "fish"] {
            let script = try await gateway("--generate-completion-script", shell)
            #expect(script.status == 0)
            for command in commands { #expect(script.output.contains(command), "\(shell): \(command)") }
        }
        let bash = try await gateway("--generate-completion-script", "bash")
        let parsed = try await run(URL(fileURLWithPath: "/bin/bash"), ["-n", "-c", bash.output])
        #expect(parsed.status == 0, "\(parsed.output)")
    }

    /// With the script, bash completed no files, which it completes without any.
    @Test(arguments: [
        ("serve --config /etc/os-releas", "/etc/os-release"), ("record /etc/os-releas", "/etc/os-release"),
        ("demo-server --replay /etc/os-releas", "/etc/os-release"), ("watch --mode DIST", "DISTINCT"),
        ("serve --log-level warn", "warning"), ("demo --log-format j", "json"), ("get --format nd", "ndjson"),
    ])
    func bashCompletesValuesAndFiles(words: String, completion: String) async throws {
        let bash = try await gateway("--generate-completion-script", "bash")
        let script = """
            \(bash.output)
            COMP_LINE='lightstreamer-gateway \(words)'; COMP_POINT=${#COMP_LINE}; read -ra COMP_WORDS <<<"$COMP_LINE"
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=()
            _lightstreamer-gateway lightstreamer-gateway "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"
            echo "completed: ${COMPREPLY[*]}"
            """
        let outcome = try await run(URL(fileURLWithPath: "/bin/bash"), ["-c", script])
        #expect(outcome.output.contains("completed: \(completion)\n"), "\(outcome.output)")
    }

    @Test func aBenchmarkReadsEveryUpdateOnAllStreams() async throws {
        let process = try GatewayProcess(["demo", "--port", "0", "--demo-port", "0"])
        let address = try await process.demoAddresses().gateway
        let url = "\(address)/v1/stream?items=item1,item2&fields=last_price"
        let outcome = try await gateway("bench", url, "--streams", "20", "--seconds", "5", "--json")
        let report = try JSONValue(parsing: outcome.output)
        #expect(outcome.status == 0, "\(outcome)")
        #expect(report["streams"]?.number?.intValue == 20)
        #expect((report["events"]?.number?.intValue ?? 0) > 20)
        for figure in ["refused", "holes", "doubled", "outOfOrder", "stale"] {
            #expect(report[figure]?.number?.intValue == 0)
        }

        let refused = try await gateway("bench", "\(address)/v1/stream?items=item1", "--streams", "2", "--json")
        #expect(refused.status == 1)
        #expect(try JSONValue(parsing: refused.output)["refused"]?.number?.intValue == 2, "\(refused)")
        await process.stop()
    }

    @Test(arguments: ["key", "check --keys", "check"])
    func outputThatIsLostIsAFailure(command: String) async throws {
        let binary = try GatewayProcess.binary("lightstreamer-gateway").path
        let line = "'\(binary)' \(command) >"
        let full = try await run(URL(fileURLWithPath: "/bin/sh"), ["-c", line + "/dev/full"])
        #expect(full.status == 1)
        #expect(full.output.contains("Cannot write the output: No space left on device.\n"), "\(full)")
        let written = try await run(URL(fileURLWithPath: "/bin/sh"), ["-c", line + "/dev/null"])
        #expect(written.status == 0)
    }

    @Test func aMistypedCommandGetsASuggestion() async throws {
        let outcome = try await gateway("serv")
        #expect(outcome.status == 64)
        #expect(outcome.output.contains("Did you mean \"serve\"?"))
    }

    /// The system chooses the port of this gateway, so that its command line does not contain its address.
    @Test func healthReadsTheCommandLineOfTheGateway() async throws {
        let process = try GatewayProcess(["demo", "--port", "0", "--demo-port", "0"])
        _ = try await process.demoAddresses()
        let outcome = try await gateway("health", "--pid", "\(process.id)")
        #expect(outcome.status == 64)
        #expect(outcome.output.contains("http.port is 0"))
        await process.stop()
    }

    /// The health check of a container failed, and could end a gateway that went on with its former configuration.
    @Test(arguments: ["http: [", "http: {port: 1}", "http: {port: 0, hots: a}"])
    func healthOfAProcessDoesNotDependOnChangesOfItsFile(text: String) async throws {
        let folder = try ProcessFolder()
        let file = try folder.write("gateway.yaml", "http: {port: 0}")
        let process = try GatewayProcess(["serve", "--config", file])
        _ = try await process.address()
        try folder.write("gateway.yaml", text)
        let outcome = try await gateway("health", "--pid", "\(process.id)", "--ready")
        #expect(outcome.status == 0 && outcome.output == "200 {\"status\":\"ready\"}\n", "\(outcome)")
        await process.stop()
    }

    /// They had the usage of the whole program; the arguments of another program were read as those of a gateway.
    @Test func mistakesThatACommandFindsLaterAreOneLine() async throws {
        let program = try GatewayProcess.binary("lightstreamer-gateway").path
        let shell = URL(fileURLWithPath: "/bin/sh")
        let key = try await run(shell, ["-c", "exec \"$0\" key --hash </dev/null", program])
        #expect(key.status == 64 && key.output == "Error: standard input has no key\n", "\(key)")
        let health = try await gateway("health", "--pid", "\(getpid())")
        #expect(health.status == 64 && health.output == "Error: --pid: the process is not a gateway\n", "\(health)")
    }

    @Test func watchExplainsErrorsAndEndsWithStatusOne() async throws {
        let process = try GatewayProcess(["demo", "--port", "0", "--demo-port", "0"])
        let addresses = try await process.demoAddresses()
        let what = ["--items", "item1", "--fields", "last_price"]
        let binary = try GatewayProcess.binary("lightstreamer-gateway")
        let adapter = try await run(
            binary,
            ["watch", "--server", addresses.demoServer, "--adapter-set", "DEMO", "--data-adapter", "NONE"] + what
        )
        #expect(adapter.status == 1)
        #expect(adapter.output.contains("The data adapter does not exist"), "\(adapter.output)")
        let through = try await run(
            binary,
            ["watch", "--gateway", addresses.gateway, "--data-adapter", "NONE"] + what
        )
        #expect(through.status == 1)
        #expect(through.output.contains("The data adapter does not exist"), "\(through.output)")
        let upstream = try await run(binary, ["watch", "--gateway", addresses.gateway, "--upstream", "x"] + what)
        #expect(upstream.status == 1)
        #expect(upstream.output.contains("(404)"), "\(upstream.output)")
        await process.stop()
        let gone = try await run(binary, ["watch", "--gateway", addresses.gateway, "--once"] + what)
        #expect(gone.status == 1)
        #expect(gone.output.contains("the connection was refused"), "\(gone.output)")
    }

    @Test func watchEndsWhenTheServerRemovesTheSubscription() async throws {
        let process = try GatewayProcess(["demo", "--port", "0", "--demo-port", "0"])
        let addresses = try await process.demoAddresses()
        let binary = try GatewayProcess.binary("lightstreamer-gateway")
        for source in [["--server", addresses.demoServer, "--adapter-set", "DEMO"], ["--gateway", addresses.gateway]] {
            try await inject("inject line=UNSUB,1 at=data:3", into: addresses.demoServer)
            let outcome = try await run(binary, ["watch", "--items", "item1", "--fields", "last_price"] + source)
            #expect(outcome.status == 1)
            #expect(outcome.output.contains("The server removed the subscription."), "\(outcome.output)")
        }
        await process.stop()
    }

    /// They ended with status 1.
    @Test func watchAndRecordGoOnAfterAnErrorThatMayPass() async throws {
        let process = try GatewayProcess(["demo", "--port", "0", "--demo-port", "0"])
        let addresses = try await process.demoAddresses()
        let folder = try ProcessFolder()
        let items = (1...10).map { "item\($0)" }.joined(separator: ",")
        // Three updates of the first session, and the snapshot of the second one.
        let what = ["--items", items, "--fields", "last_price", "--count", "13"]
        let server = ["--adapter-set", "DEMO"]
        for command in [
            ["watch", "--server", addresses.demoServer] + server, ["watch", "--gateway", addresses.gateway],
            ["record", folder.path("quotes.lsrec"), "--upstream", addresses.demoServer] + server,
        ] {
            try await inject("end code=33 text=broken at=data:3", into: addresses.demoServer)
            let outcome = try await run(GatewayProcess.binary("lightstreamer-gateway"), command + what)
            #expect(outcome.status == 0, "\(outcome)")
            #expect(outcome.output.contains("with code 33: \"broken\""), "\(outcome.output)")
        }
        await process.stop()
    }

    /// The status was 0.
    @Test func aRecordingOfASourceThatIsNotReachedIsAFailure() async throws {
        let folder = try ProcessFolder()
        let file = folder.path("quotes.lsrec")
        let what = ["--items", "item1", "--fields", "last_price", "--seconds", "1"]
        let program = try GatewayProcess.binary("lightstreamer-gateway")
        let outcome = try await run(program, ["record", file, "--upstream", "http://127.0.0.1:1"] + what)
        #expect(outcome.status == 1 && FileManager.default.fileExists(atPath: folder.path("quotes.lsrec")))
        #expect(outcome.output.contains("The source was not subscribed within 1 s.\n"), "\(outcome.output)")
    }

    @Test func serveWarnsAboutAnUnknownVariableAndMissingUpstreams() async throws {
        let process = try GatewayProcess(["serve", "--port", "0"], environment: ["GATEWAY_HTTP_PROT": "1"])
        #expect(await process.log(with: "did you mean GATEWAY_HTTP_PORT?") != nil)
        #expect(await process.log(with: "no upstream is configured") != nil)
        await process.stop()
    }

    /// The signal ended the process, and systemd took that for a stop.
    @Test func aReloadDuringTheStartIsPerformed() async throws {
        let process = try GatewayProcess(["serve", "--port", "0"])
        // The log of the start; the gateway does not listen yet.
        #expect(await process.log(with: "no upstream is configured") != nil)
        process.signal(SIGHUP)
        #expect(await process.log(with: "configuration reloaded") != nil)
        process.signal(SIGTERM)
        #expect(await process.ended() == 0)
    }
}

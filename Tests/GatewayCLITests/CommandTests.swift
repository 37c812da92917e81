import ArgumentParser
import Foundation
import Logging
import Testing

@testable import GatewayCLI

@Suite struct CommandTests {
    @Test func aMistypedCommandGetsASuggestion() {
        #expect(
            GatewayCommand.unknownCommand(in: ["serv"])?.message
                == "There is no command \"serv\". Did you mean \"serve\"?"
        )
        #expect(GatewayCommand.unknownCommand(in: ["wacth"])?.message.contains("\"watch\"") == true)
        #expect(GatewayCommand.unknownCommand(in: ["xyzzy"])?.message == "There is no command \"xyzzy\".")
        #expect(GatewayCommand.unknownCommand(in: ["serve"]) == nil)
        #expect(GatewayCommand.unknownCommand(in: ["--help"]) == nil)
        #expect(GatewayCommand.unknownCommand(in: []) == nil)
    }

    /// A comma alone ended the process.
    @Test(arguments: ["demo=,", "demo=http://a,", "demo=,DEMO", "demo=", "=http://a", "demo"])
    func anIncompleteUpstreamIsAMistake(text: String) throws {
        let arguments = ["serve", "--upstream", text]
        let error = try #require(throws: (any Error).self) { try GatewayCommand.parseAsRoot(arguments) }
        let message = GatewayCommand.fullMessage(for: error)
        #expect(message.hasPrefix("Error: --upstream \(text): must be NAME=URL[,ADAPTERSET]\n"))
        // That of the command; it was that of the whole program.
        #expect(message.contains("lightstreamer-gateway serve --help"))
    }

    @Test func anUpstreamHasAnAddressAndPerhapsAnAdapterSet() throws {
        let options = try GatewayOptions.parse(["--upstream", "a=http://a,DEMO,1", "--upstream", "b=http://b"])
        let flags = try options.flags().map { "\($0.key)=\($0.value)" }
        #expect(
            flags == [
                "upstreams.a.serverAddress=http://a", "upstreams.a.adapterSet=DEMO,1",
                "upstreams.b.serverAddress=http://b",
            ]
        )
    }

    @Test func variablesOfTheDemosOwnNamesAreSettings() throws {
        let options = try GatewayOptions.parse([])
        let defaults = DemoCommand.defaults(host: "127.0.0.1", port: 1)
        let environment = [
            "GATEWAY_FEEDS_QUOTES_TITLE": "t", "GATEWAY_UPSTREAMS_DEMO_USER": "u", "GATEWAY_COLOUR": "red",
        ]
        let configuration = try options.read(defaults: defaults, environment: environment)
        let warnings = options.warnings(about: configuration, defaults: defaults, environment: environment)
        #expect(warnings == ["the environment variable GATEWAY_COLOUR is not a setting"])
    }

    @Test(arguments: [
        ("127.0.0.1", "http://127.0.0.1:8090"), ("0.0.0.0", "http://127.0.0.1:8090"), ("::", "http://[::1]:8090"),
        ("fd00::1", "http://[fd00::1]:8090"), ("demo.example", "http://demo.example:8090"),
    ])
    func theUpstreamOfTheDemoIsTheAddressOfItsServer(host: String, address: String) {
        let defaults = DemoCommand.defaults(host: host, port: 8090)
        #expect(defaults.first { $0.key == "upstreams.demo.serverAddress" }?.value == address)
    }

    /// The limit was 60 s for any `shutdown.grace`.
    @Test(arguments: [1, 10, 600])
    func aStopIsNotCancelledBeforeTheEndOfItsGraceTime(seconds: Int) {
        #expect(ProcessServices.longestStop(.seconds(seconds)) > .seconds(seconds))
    }

    /// Clients of other languages need the names.
    @Test(arguments: ["DEMO", "QUOTE_ADAPTER", "DEFAULT", "PORTFOLIO_ADAPTER", "CHAT_ROOM", "RAW_FEED", "JSON_FEED"])
    func theHelpOfTheDemoServerNamesItsData(name: String) {
        #expect(DemoServerCommand.configuration.discussion.contains(name))
    }

    @Test func everyCommandDescribesItself() {
        for command in GatewayCommand.configuration.subcommands {
            #expect(!command.configuration.abstract.isEmpty)
            #expect(command.configuration.commandName != nil)
        }
    }

    @Test(arguments: [
        ("http://a:1", "http://a:1/health/live"), ("http://a:1/", "http://a:1/health/live"),
        ("https://[::1]:8443", "https://[::1]:8443/health/live"), ("http://a/health", "http://a/health"),
        ("http://a/?b", "http://a/?b"), ("a:1", "http://a:1/health/live"), ("a:1/health", "http://a:1/health"),
    ])
    func aURLWithoutAPathIsTheAddressOfTheGateway(url: String, target: String) {
        #expect(HealthCommand.target(url, "/health/live") == target)
    }

    @Test(arguments: [
        ("{\"status\":\"live\"}\n", "200 {\"status\":\"live\"}\n"), ("", "200 \n"), ("a\r\n", "200 a\n"),
        ("\u{1B}[2J\r\n200 live\n", "200 \u{FFFD}[2J\u{FFFD}\u{FFFD}200 live\n"),
    ])
    func aResponseToTheHealthCheckIsOneLineThatDoesNotControlTheTerminal(body: String, line: String) {
        #expect(HealthCommand.line(status: 200, body) == line)
    }

    /// The other options were ignored: another gateway, or another property, was checked.
    @Test(arguments: [
        (["--url", "http://a", "--port", "1"], false), (["--url", "http://a", "--config", "c"], false),
        (["--pid", "\(getpid())", "--host", "::1"], false), (["--url", "http://a/health", "--ready"], false),
        (["--url", "http://a", "--ready"], true), (["--port", "1", "--ready"], true),
    ])
    func aHealthCheckHasOneAddress(words: [String], isValid: Bool) {
        #expect(((try? GatewayCommand.parseAsRoot(["health"] + words)) != nil) == isValid)
    }

    /// The other options were ignored, and a form without the table printed no table.
    @Test(arguments: [
        (["--keys", "--format", "json-schema"], true), (["--keys"], true), (["--connect", "--config", "c"], true),
        (["--format", "json-schema"], false), (["--keys", "--connect"], false), (["--keys", "--config", "c"], false),
        (["--keys", "--port", "1"], false),
    ])
    func theTableOfSettingsNeedsNoConfiguration(words: [String], isValid: Bool) {
        #expect(((try? GatewayCommand.parseAsRoot(["check"] + words)) != nil) == isValid)
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func completionsAreGenerated(shell: String) {
        let script = GatewayCommand.completionScript(for: CompletionShell(rawValue: shell) ?? .bash)
        #expect(script.contains("demo-server"))
    }

    @Test(arguments: [
        ("time info request path=/v1", "time info request path=/v1"),
        ("path=/\u{1B}[2J\r\nforged line", "path=/\\u{1b}[2J\\u{d}\\u{a}forged line"),
        ("é\u{85}\u{2028}\u{202E}\n", "é\\u{85}\\u{2028}\\u{202e}\\u{a}"),
        ("", ""),
    ])
    func textOfOthersCannotForgeLogLines(line: String, written: String) {
        #expect(TextLogHandler.escaped(line) == written)
    }

    @Test(arguments: [
        (#"{"path":"é\u001b"}"#, #"{"path":"é\u001b"}"#),
        (
            "{\"path\":\"\u{7F}\u{9B}31m\u{85}\u{2028}\u{202E}\u{E0001}\"}",
            #"{"path":"\u007f\u009b31m\u0085\u2028\u202e\udb40\udc01"}"#
        ),
    ])
    func textOfOthersCannotForgeJSONLogLines(line: String, written: String) throws {
        #expect(JSONLogHandler.escaped(line) == written)
        let texts = try JSONDecoder().decode([String: String].self, from: Data(line.utf8))
        #expect(try JSONDecoder().decode([String: String].self, from: Data(written.utf8)) == texts)
    }

    /// The output was cut, and `watch` ended.
    @Test func aPipeThatDoesNotBlockReceivesAllBytes() throws {
        var ends = [Int32](repeating: 0, count: 2)
        try #require(pipe(&ends) == 0)
        let (output, input) = (ends[0], ends[1])
        #expect(fcntl(input, F_SETFL, O_NONBLOCK) == 0)
        let bytes = [UInt8](repeating: 0x78, count: 1 << 20)
        Thread.detachNewThread {
            _ = bytes.withUnsafeBytes { StandardOutput.write($0, to: input) }
            close(input)
        }
        let received = FileHandle(fileDescriptor: output, closeOnDealloc: true).readDataToEndOfFile()
        #expect(received.count == bytes.count)
    }

    @Test func logLinesHaveTheMessageFirstAndNumbersAsNumbers() throws {
        let event = LogEvent(
            level: .info,
            message: "request",
            error: nil,
            metadata: nil,
            source: "Gateway",
            file: "",
            function: "",
            line: 1
        )
        let metadata: Logger.Metadata = [
            "status": .stringConvertible(200), "seconds": .stringConvertible(0.25), "path": "7",
        ]
        let json = String(
            decoding: JSONLogHandler(label: "gateway", logLevel: .info).line(event, metadata),
            as: UTF8.self
        )
        #expect(
            json.hasSuffix(
                #","level":"info","message":"request","logger":"gateway","path":"7","seconds":0.25,"status":200}"#
                    + "\n"
            )
        )
        let text = String(
            decoding: TextLogHandler(label: "gateway", logLevel: .info).line(event, metadata),
            as: UTF8.self
        )
        #expect(text.hasSuffix("Z info request path=7 seconds=0.25 status=200\n"))
        // Both have the same time, by RFC 3339.
        let time = try #require(text.split(separator: " ").first)
        #expect(time.count == 24 && json.hasPrefix(#"{"time":"\#(time.prefix(16))"#))
    }

    @Test(arguments: [
        (["get", "--feed", "quotes"], true), (["get", "--feed", "quotes", "item1", "last_price"], true),
        (["get", "item1"], false), (["get", "--feed", "quotes", "--upstream", "demo"], false),
        (["watch", "--feed", "quotes", "item1"], true), (["watch", "item1"], false),
        (["watch", "--feed", "quotes", "--mode", "RAW"], false),
        (["watch", "--feed", "q", "--server", "http://a"], false),
    ])
    func aFeedTakesThePlaceOfUpstreamModeAndAdapter(words: [String], isValid: Bool) {
        let command = try? GatewayCommand.parseAsRoot(words)
        #expect((command != nil) == isValid)
    }

    /// `get` sent any mode to the gateway, and ended with status 1.
    @Test(arguments: ["get", "watch"])
    func aModeIsOneOfTheProtocol(command: String) {
        let words = [command, "item1", "last_price", "--mode"]
        #expect((try? GatewayCommand.parseAsRoot(words + ["command"])) != nil)
        #expect((try? GatewayCommand.parseAsRoot(words + ["TABLE"])) == nil)
    }

    /// It named the property `serverAddress`.
    @Test func aServerAddressThatIsNoURLIsNamed() async throws {
        let command = try WatchCommand.parse(["item1", "last_price"])
        let output = WatchOutput(display: LineDisplay(), limit: nil)
        let failure = await #expect(throws: WatchFailure.self) {
            try await ServerWatch(command: command, address: "tcp://a", output: output).run()
        }
        #expect(failure?.sentence == "tcp://a: must be an http or https URL without a query")
    }

    /// An option of the other kind of source was ignored.
    @Test(
        arguments: [
            (["--adapter-set", "A"], "--adapter-set", nil), (["--user", "u"], "--user", nil),
            (["--upstream", "u"], nil, "--upstream"), (["--feed", "f"], nil, "--feed"), (["--once"], nil, nil),
        ] as [([String], String?, String?)]
    )
    func anOptionBelongsToOneKindOfSource(words: [String], ofGateway: String?, ofServer: String?) throws {
        let command = try WatchCommand.parse(["item1", "last_price"] + words)
        let mistakes = [command.mistake(with: .gateway("http://a")), command.mistake(with: .server("http://a"))]
        #expect(
            mistakes == [
                ofGateway.map { "\($0) is for a Lightstreamer server, and http://a is a gateway" },
                ofServer.map { "\($0) is for a gateway, and http://a is a Lightstreamer server" },
            ]
        )
    }

    /// A line end was sent with the key, and no request succeeded.
    @Test(
        arguments: [("key\r\n", "key"), (" key\n", "key"), ("key", "key"), ("", nil), ("\n", nil), (nil, nil)]
            as [(String?, String?)]
    )
    func theTokenOfTheEnvironmentHasNoSpaceAroundIt(value: String?, token: String?) {
        #expect(GatewayRequest.token(value.map { ["GATEWAY_TOKEN": $0] } ?? [:]) == token)
    }

    @Test(arguments: [
        ("http://a/s", true), ("https://a:65535/s", true), ("http://a:0/s", false), ("http://a:70000/s", false),
        ("http://a", false), ("ftp://a/s", false),
    ])
    func aBenchmarkHasTheURLOfAStream(url: String, isValid: Bool) {
        #expect(((try? GatewayCommand.parseAsRoot(["bench", url])) != nil) == isValid)
    }

    /// It had the usage of the whole program.
    @Test func theListeningSocketsOfTheSystemAreRead() throws {
        let loopback = Self.words([127, 0, 0, 1])
        let version6 = [UInt8](repeating: 0, count: 15) + [1]
        for (address, host) in [
            (loopback, "127.0.0.1"), (Self.words([0, 0, 0, 0]), "0.0.0.0"), (Self.words(version6), "0:0:0:0:0:0:0:1"),
            (Self.words([UInt8](repeating: 0, count: 16)), "::"),
        ] {
            let entry = ListeningSocket.entry("  0: \(address):1F90 0:0000 0A 0:0 00:0 0 0 0 4711 1 0 100 0")
            #expect(entry?.socket == ListeningSocket(host: host, port: 8080))
            #expect(entry?.inode == "4711")
        }
        #expect(ListeningSocket.entry("  0: \(loopback):1F90 0:0000 01 0:0 00:0 0 0 0 4711 1 0 100 0") == nil)
        #expect(ListeningSocket.entry("  sl  local_address rem_address   st tx_queue rx_queue tr tm->when") == nil)
        #expect(ListeningSocket.all(of: 999_999_999).isEmpty)
    }

    /// An address as the system writes it: words of 32 bits in the byte order of the machine.
    private static func words(_ bytes: [UInt8]) -> String {
        stride(from: 0, to: bytes.count, by: 4).map { start in
            let word = bytes[start..<start + 4].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            let text = String(UInt32(littleEndian: word), radix: 16, uppercase: true)
            return String(repeating: "0", count: 8 - text.count) + text
        }
        .joined()
    }

    @Test func aProcessThatCannotBeReadIsAMistakeOfHealth() throws {
        let error = try #require(throws: (any Error).self) {
            try GatewayCommand.parseAsRoot(["health", "--pid", "999999999"])
        }
        let message = GatewayCommand.fullMessage(for: error)
        #expect(message.contains("--pid 999999999: /proc/999999999/cmdline cannot be read"), "\(message)")
        #expect(message.contains("Usage: lightstreamer-gateway health "), "\(message)")
    }

    /// The greatest number of seconds ended the process.
    @Test(arguments: [("1", true), ("1000000000", true), ("0", false), ("\(Int.max)", false)])
    func theTimeOfARecordingIsBounded(seconds: String, isValid: Bool) {
        let words = ["record", "file", "--feed", "f", "--seconds", seconds]
        #expect(((try? GatewayCommand.parseAsRoot(words)) != nil) == isValid)
    }

    /// The seed was ignored.
    @Test(arguments: [
        (["--seed", "1"], true), (["--replay", "f", "--speed", "2"], true), (["--replay", "f", "--seed", "1"], false),
        (["--speed", "2"], false),
    ])
    func aReplayHasNoSeed(words: [String], isValid: Bool) {
        #expect(((try? GatewayCommand.parseAsRoot(["demo-server"] + words)) != nil) == isValid)
    }

    @Test(arguments: [("merge", true), ("COMMAND", true), ("MERGED", false)])
    func aRecordingHasOneOfTheFourModes(mode: String, isValid: Bool) {
        let words = ["record", "file", "--upstream", "http://a", "--items", "i", "--fields", "f", "--mode", mode]
        let command = try? GatewayCommand.parseAsRoot(words)
        #expect((command != nil) == isValid)
    }

    @Test(arguments: [("i,j", "f", true), (",", "f", false), ("i", "", false)])
    func aRecordingHasItemsAndFields(items: String, fields: String, isValid: Bool) {
        let words = ["record", "file", "--upstream", "http://a", "--items", items, "--fields", fields]
        #expect(((try? GatewayCommand.parseAsRoot(words)) != nil) == isValid)
    }
}

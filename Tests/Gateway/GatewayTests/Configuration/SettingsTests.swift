import JSONText
import Testing

@testable import Gateway

@Suite struct SettingsTests {
    @Test func defaultsAreThoseInForce() throws {
        let defaults = Dictionary(uniqueKeysWithValues: Settings.all.map { ($0.key, $0.defaultValue) })
        #expect(defaults["http.maxHeaders"] == "\(GatewayConfiguration().http.headerLimit)")
        #expect(defaults["http.port"] == "8080")
        #expect(defaults["streams.heartbeat"] == "15")
        #expect(defaults["upstreams.*.options.retryDelay"] == "2; edition old: 5")
        #expect(defaults["auth.keys.*.operations"] == "read, subscribe")
    }

    /// Reading a default does not change the configuration.
    @Test func defaultsCanBeWritten() throws {
        for setting in Settings.all where !setting.isSecret {
            switch setting.type {
            case .integer, .seconds, .flag, .choice:
                let value = setting.defaultValue
                if Double(value) == nil, !["true", "false"].contains(value), setting.type != .flag {
                    guard case .choice(let words) = setting.type, words.contains(value) else { continue }
                }
                var configuration = GatewayConfiguration()
                try setting.apply(&configuration, "name", value)
                if !setting.key.contains("*") { #expect(setting.text(configuration) == value, "\(setting.key)") }
            default: break
            }
        }
    }

    @Test func budgetsFollowFromTheMemoryAndAreWarnedAboutBeyondIt() {
        var configuration = GatewayConfiguration()
        #expect(configuration.hubConfiguration(memory: 16 << 30).memoryBytes == 4 << 30)
        #expect(configuration.hubConfiguration(memory: 16 << 30).ownerMemoryBytes == 1 << 30)
        #expect(configuration.responseBudget(memory: 16 << 30) == 2 << 30)
        #expect(configuration.memoryWarning(memory: 16 << 30) == nil)
        configuration.hub.memoryBytes = 15 << 30
        #expect(configuration.memoryWarning(memory: 16 << 30)?.contains("streams.memory") == true)
        configuration.hub.memoryBytes = 1 << 40
        configuration.http.responseBudget = .max
        #expect(configuration.memoryWarning(memory: 16 << 30) != nil)
    }

    /// A body of 2 MiB got a 503, which advises to try again, at each attempt.
    @Test func aLimitOfABodyBeyondTheBudgetOfAllIsWarnedAbout() {
        var configuration = GatewayConfiguration()
        configuration.http.bodyBudget = configuration.http.bodyLimit
        #expect(configuration.warnings().isEmpty)
        configuration.http.bodyLimit += 1
        let rule = "http.maxBody is more than http.maxBodies: bodies beyond 1048576 bytes are refused with 503"
        #expect(configuration.warnings() == [rule])
    }

    @Test func aReloadKeepsTheSettingsOfTheNextStart() {
        let older = GatewayConfiguration()
        var count = 0
        for setting in Settings.all where !setting.isSecret && !setting.key.contains("*") {
            let changed = Self.otherValues(of: setting).lazy.compactMap { value -> GatewayConfiguration? in
                var newer = older
                guard (try? setting.apply(&newer, "", value)) != nil else { return nil }
                return setting.text(newer) == setting.text(older) ? nil : newer
            }
            guard let newer = changed.first else { continue }
            let kept = newer.keepingRestartSettings(of: older)
            #expect(setting.text(kept) == setting.text(setting.effect == .restart ? older : newer), "\(setting.key)")
            count += 1
        }
        #expect(count > 60)
    }

    /// Values, some of which a setting accepts.
    private static func otherValues(of setting: Setting) -> [String] {
        switch setting.type {
        case .integer(let range, _): ["\(range.lowerBound)", "\(range.upperBound)"]
        case .seconds, .number: ["7", "0.5"]
        case .flag: ["true", "false"]
        case .choice(let words): words
        case .list, .lines, .text:
            ["example", "example:1", "10.0.0.0/8", "https://example.com", "nats://example", "read"]
        }
    }

    @Test func keysAreDifferentAndDescribed() {
        #expect(Set(Settings.all.map(\.key)).count == Settings.all.count)
        #expect(Settings.all.allSatisfy { !$0.meaning.isEmpty && $0.meaning.hasSuffix(".") })
        #expect(Settings.table.split(separator: "\n").count == Settings.all.count + 2)
    }

    @Test func theSchemaHasEverySetting() throws {
        let schema = try JSONValue(parsing: Settings.jsonSchema)
        for setting in Settings.all {
            var node: JSONValue? = schema
            for part in setting.key.split(separator: ".").map(String.init) {
                if let alternatives = node?["anyOf"]?.array { node = alternatives.last }
                node = part == "*" ? node?["additionalProperties"] : node?["properties"]?[part]
            }
            let described = node?["anyOf"]?.array?.first ?? node
            #expect(described?["description"]?.string?.hasPrefix(setting.meaning) == true, "\(setting.key)")
        }
        let port = schema["properties"]?["http"]?["properties"]?["port"]
        #expect(port?["maximum"]?.number?.intValue == 65_535)
        let upstream = schema["properties"]?["upstreams"]?["additionalProperties"]?["properties"]
        #expect(upstream?["passwordFile"]?["type"]?.string == "string")
    }

    @Test func unknownVariablesGetASuggestion() {
        let environment = [
            "GATEWAY_HTTP_PROT": "1", "GATEWAY_HTTP_PORT": "1", "GATEWAY_TOKEN": "x", "GATEWAY_QWERTYUIOP": "1",
            "GATEWAY_UPSTREAM_NAMES": "demo", "GATEWAY_UPSTREAMS_DEMO_PASSWORD_FILE": "/p",
            "GATEWAY_UPSTREAMS_DEMO_SERVER_ADRESS": "x", "OTHER": "1", "GATEWAY_PORT": "1",
        ]
        let unknown = ConfigurationReader(environment: environment).unknownVariables
        #expect(
            unknown.map(\.name) == [
                "GATEWAY_HTTP_PROT", "GATEWAY_PORT", "GATEWAY_QWERTYUIOP", "GATEWAY_UPSTREAMS_DEMO_SERVER_ADRESS",
            ]
        )
        #expect(
            unknown.map(\.suggestion) == [
                "GATEWAY_HTTP_PORT", "GATEWAY_HTTP_PORT", nil, "GATEWAY_UPSTREAMS_DEMO_SERVER_ADDRESS",
            ]
        )
    }

    /// They were called no settings, which they are with the list of names.
    @Test(arguments: [
        ("UPSTREAMS_PUSH_SERVER_ADDRESS", "UPSTREAM_NAMES"), ("UPSTREAMS_A_B_TLS_CA", "UPSTREAM_NAMES"),
        ("UPSTREAMS_PUSH_PASSWORD_FILE", "UPSTREAM_NAMES"), ("AUTH_KEYS_BOARD_HASH", "AUTH_KEY_NAMES"),
        ("FEEDS_QUOTES_ITEMS", "FEED_NAMES"), ("UPSTREAMS_PUSH_COLOUR", nil), ("AUTH_KEYS_HASH", nil),
    ])
    func aVariableOfANameThatIsNotListedTellsOfTheList(name: String, listing: String?) {
        let unknown = ConfigurationReader(environment: ["GATEWAY_\(name)": "x"]).unknownVariables
        let reason = listing.map { "has no effect: GATEWAY_\($0) must list its name" } ?? "is not a setting"
        #expect(unknown.map(\.description) == ["the environment variable GATEWAY_\(name) \(reason)"])
    }
}

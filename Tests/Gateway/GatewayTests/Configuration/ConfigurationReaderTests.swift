internal import Foundation
internal import Gateway
internal import Testing

@Suite struct ConfigurationReaderTests {
    private static func read(
        flags: [(key: String, value: String)] = [],
        environment: [String: String] = [:],
        file: String? = nil,
        defaults: [(key: String, value: String)] = [],
        files: [String: String] = [:]
    ) throws -> GatewayConfiguration {
        var reader = ConfigurationReader(
            flags: flags,
            environment: environment,
            file: try file.map { try ConfigurationFile(path: "gateway.yaml", text: $0) },
            defaults: defaults,
            readFile: { files[$0] }
        )
        return try reader.read()
    }

    private static func mistakes(_ body: () throws -> GatewayConfiguration) -> [String] {
        do {
            _ = try body()
            return []
        } catch let error as ConfigurationError {
            return error.mistakes.map(\.description)
        } catch {
            return ["\(error)"]
        }
    }

    private static let demo = """
        upstreams:
          demo:
            serverAddress: http://127.0.0.1:8090
            adapterSet: DEMO
        """

    @Test func defaultsListenOnLoopback() throws {
        let configuration = try Self.read()
        #expect(configuration.http.host == "127.0.0.1")
        #expect(configuration.http.port == 8080)
        #expect(configuration.pool.upstreams.isEmpty)
    }

    @Test func flagsGoOverEnvironmentAndThatOverTheFile() throws {
        let file = "http:\n  port: 1001\n  maxBody: 2001\n  threads: 2"
        let environment = ["GATEWAY_HTTP_PORT": "1002", "GATEWAY_HTTP_MAX_BODY": "2002"]
        let configuration = try Self.read(flags: [("http.port", "1003")], environment: environment, file: file)
        #expect(configuration.http.port == 1003)
        #expect(configuration.http.bodyLimit == 2002)
        #expect(configuration.http.shards == 2)
    }

    @Test(arguments: [
        ("http.maxBody", "GATEWAY_HTTP_MAX_BODY"), ("auth.jwt.jwksURL", "GATEWAY_AUTH_JWT_JWKS_URL"),
        ("feeds.a-b.fields.x1Y_z", "GATEWAY_FEEDS_A_B_FIELDS_X1Y_Z"),
        ("upstreams.DEMO.default", "GATEWAY_UPSTREAMS_DEMO_DEFAULT"),
    ])
    func aVariableHasTheWordsOfItsKeyInUpperCase(key: String, variable: String) {
        #expect(ConfigurationReader.variable(for: key) == variable)
    }

    @Test func everySourceGoesOverTheDefaultsOfACommand() throws {
        let defaults: [(key: String, value: String)] = [
            ("cors.origins", "*"), ("http.port", "1"), ("http.maxBody", "1"), ("http.threads", "1"),
        ]
        let configuration = try Self.read(
            flags: [("cors.origins", "https://a.example"), ("cors.origins", "https://b.example")],
            environment: ["GATEWAY_HTTP_PORT": "1002"],
            file: "http:\n  maxBody: 2001",
            defaults: defaults
        )
        #expect(configuration.access.origins == ["https://a.example", "https://b.example"])
        #expect(configuration.http.port == 1002)
        #expect(configuration.http.bodyLimit == 2001)
        #expect(configuration.http.shards == 1)
    }

    /// The library that derives names of environment variables ended the process for the first two.
    @Test(arguments: ["u?\u{314}H\u{314}yes", "tionsH\u{314}yeys", "a b", "é", String(repeating: "a", count: 65)])
    func namesThatAreNotAdmittedAreMistakes(name: String) {
        for group in ["upstreams", "auth.keys"] {
            let key = "\(group).\(name)"
            let member = group == "upstreams" ? "serverAddress" : "hash"
            let rule = "must have a name of 1 to 64 letters, digits, dashes and underscores"
            #expect(Self.mistakes { try Self.read(flags: [("\(key).\(member)", "x")]) }.contains { $0.hasSuffix(rule) })
            #expect(Self.mistakes { try Self.read(file: "\(key).\(member): x") }.contains { $0.hasSuffix(rule) })
        }
        let listed = Self.mistakes { try Self.read(environment: ["GATEWAY_UPSTREAM_NAMES": name]) }
        #expect(listed.count == 1 && listed[0].contains("must have a name"))
    }

    /// They were those of a line of the file that has other names, or of no source.
    @Test(arguments: [nil, ConfigurationReaderTests.demo])
    func mistakesOfANameAreThoseOfItsSource(file: String?) {
        let flags = [("upstreams.a b.serverAddress", "http://a"), ("feeds.f.items", "i")]
        let environment = ["GATEWAY_UPSTREAM_NAMES": "u,c d", "GATEWAY_AUTH_KEY_NAMES": "k"]
        let mistakes = Self.mistakes { try Self.read(flags: flags, environment: environment, file: file) }
        let expected = [
            "flags: upstreams.a b", "environment GATEWAY_UPSTREAM_NAMES: upstreams.c d", "flags: feeds.f.fields",
            "environment GATEWAY_UPSTREAM_NAMES: upstreams.u.serverAddress",
            "environment GATEWAY_AUTH_KEY_NAMES: auth.keys.k.hash",
        ]
        for start in expected { #expect(mistakes.contains { $0.hasPrefix(start + ": ") }, "\(start): \(mistakes)") }
        let areGiven = mistakes.allSatisfy { $0.hasPrefix("flags: ") || $0.hasPrefix("environment GATEWAY_") }
        #expect(areGiven, "\(mistakes)")
        let missing = Self.mistakes { try Self.read(file: "upstreams:\n  u:\n    user: x\n") }
        #expect(missing == ["gateway.yaml:3: upstreams.u.serverAddress: is required"])
    }

    @Test func upstreamIsReadFromAFileWithItsOptions() throws {
        let file = Self.demo + "\n    options:\n      retryDelay: 0.5\n      forcedTransport: WS-POLLING\n"
        let upstream = try #require(try Self.read(file: file).pool.upstreams.first)
        #expect(upstream.name == "demo")
        #expect(upstream.adapterSet == "DEMO")
        #expect(upstream.options.retryDelay == 0.5)
        #expect(upstream.options.forcedTransport == .wsPolling)
    }

    @Test func jsonIsReadAsWell() throws {
        let file = #"{"upstreams": {"demo": {"serverAddress": "http://127.0.0.1:1"}}, "http": {"port": 0}}"#
        let configuration = try Self.read(file: file)
        #expect(configuration.http.port == 0)
        #expect(configuration.pool.upstreams.map(\.name) == ["demo"])
    }

    @Test func upstreamIsReadFromTheEnvironmentAlone() throws {
        let environment = [
            "GATEWAY_UPSTREAM_NAMES": "demo",
            "GATEWAY_UPSTREAMS_DEMO_SERVER_ADDRESS": "http://127.0.0.1:8090",
            "GATEWAY_UPSTREAMS_DEMO_PASSWORD_FILE": "/run/secrets/demo",
        ]
        let configuration = try Self.read(environment: environment, files: ["/run/secrets/demo": "s3cret\n"])
        let upstream = try #require(configuration.pool.upstreams.first)
        #expect(upstream.serverAddress == "http://127.0.0.1:8090")
        #expect(upstream.password == "s3cret")
    }

    @Test(arguments: ["", "\n", "\r\n"])
    func theLineEndOfAFileIsNoPartOfItsSecret(end: String) throws {
        let file = Self.demo + "\n    passwordFile: /run/secrets/demo"
        let configuration = try Self.read(file: file, files: ["/run/secrets/demo": "s3 cret \(end)"])
        #expect(configuration.pool.upstreams.first?.password == "s3 cret ")
    }

    @Test func aSecretAndItsFileInOneSourceAreAMistake() {
        let file = Self.demo + "\n    password: a\n    passwordFile: /run/secrets/demo"
        let mistakes = Self.mistakes { try Self.read(file: file, files: ["/run/secrets/demo": "b"]) }
        #expect(mistakes.count == 1)
        #expect(mistakes.first?.contains("passwordFile: is given beside upstreams.demo.password") == true)
    }

    @Test func secretsOfFilesFollowTheOrderOfTheSources() throws {
        let file = Self.demo + "\n    password: of the file"
        let named = ["GATEWAY_UPSTREAMS_DEMO_PASSWORD_FILE": "/new"]
        let files = ["/new": "new\n"]
        func password(flags: [(key: String, value: String)] = [], environment: [String: String]) throws -> String? {
            try Self.read(flags: flags, environment: environment, file: file, files: files).pool.upstreams.first?
                .password
        }
        #expect(try password(environment: named) == "new")
        let flag = [(key: "upstreams.demo.passwordFile", value: "/new")]
        let variable = ["GATEWAY_UPSTREAMS_DEMO_PASSWORD": "of a variable"]
        #expect(try password(flags: flag, environment: variable) == "new")
        #expect(throws: ConfigurationError.self) { try password(environment: variable.merging(named) { $1 }) }
        #expect(try password(environment: [:]) == "of the file")
        let missing = ["GATEWAY_UPSTREAMS_DEMO_PASSWORD_FILE": "/missing"]
        #expect(
            Self.mistakes { try Self.read(environment: missing, file: file, files: files) } == [
                "environment GATEWAY_UPSTREAMS_DEMO_PASSWORD_FILE: upstreams.demo.passwordFile: "
                    + "names a path that does not exist"
            ]
        )
    }

    @Test func olderEditionHasItsDefaultsAndOptionsGoOverThem() throws {
        let file = Self.demo + "\n    edition: old\n    options:\n      sessionRecoveryTimeout: 3\n"
        let upstream = try #require(try Self.read(file: file).pool.upstreams.first)
        #expect(upstream.options.retryDelay == 5)
        #expect(upstream.options.sessionRecoveryTimeout == 3)
    }

    @Test func oneEditionHoldsForAllUpstreamsThatNameNoOther() throws {
        let file =
            "edition: old\n" + Self.demo + "\n  other:\n    serverAddress: http://127.0.0.1:1\n    edition: new\n"
        let pool = try Self.read(file: file).pool
        #expect(pool.edition == .old)
        #expect(pool.upstreams.map(\.options.retryDelay) == [5, 2])
    }

    @Test func sessionsPerServerAreLimitedAsConfigured() throws {
        let file = """
            pool:
              maxConcurrentSessionsPerServer: 2
              maxConcurrentSessionsPerServerExceededPolicy: USE-POLLING
            """
        let limit = try Self.read(file: file).pool.sessionLimit
        #expect(limit.maxConcurrentSessionsPerServer == 2)
        #expect(limit.policy == .usePolling)
        let lenient = try Self.read(flags: [
            ("pool.maxConcurrentSessionsPerServer", "7"),
            ("pool.maxConcurrentSessionsPerServerExceededPolicy", "block"),
        ])
        #expect(lenient.pool.sessionLimit.maxConcurrentSessionsPerServer == 6)
        #expect(lenient.pool.sessionLimit.policy == .block)
        #expect(Self.mistakes { try Self.read(flags: [("pool.maxConcurrentSessionsPerServer", "-1")]) }.count == 1)
    }

    @Test func extraHeadersAreLinesAndMayBeInAFile() throws {
        let file = Self.demo + "\n    options:\n      httpExtraHeadersFile: /run/secrets/headers\n"
        let good = try Self.read(file: file, files: ["/run/secrets/headers": "X-A: 1\nAuthorization: Bearer a:b\n"])
        #expect(good.pool.upstreams.first?.options.httpExtraHeaders == ["X-A": "1", "Authorization": "Bearer a:b"])
        for bad in ["X-A", "X-A: 1\nX-A: 2", "a b: 1"] {
            #expect(Self.mistakes { try Self.read(file: file, files: ["/run/secrets/headers": bad]) }.count == 1)
        }
    }

    @Test func everyMistakeIsNamedWithItsLine() {
        let file = """
            http:
              port: 70000
              colour: red
            upstreams:
              demo:
                serverAddress: ftp://example.com
                options:
                  retryDelay: 0
            """
        let mistakes = Self.mistakes { try Self.read(file: file) }
        #expect(mistakes.contains { $0.hasPrefix("gateway.yaml:2: http.port: must be") })
        #expect(mistakes.contains("gateway.yaml:3: http.colour: is not a key of the configuration"))
        #expect(mistakes.contains { $0.hasPrefix("gateway.yaml:8: upstreams.demo.options.retryDelay: must be") })
        #expect(mistakes.contains { $0.hasPrefix("gateway.yaml:6: upstreams.demo.serverAddress:") })
    }

    @Test func everyMistakeOfAFileIsReportedAtOnce() {
        let file = """
            upstreams:
              a.b: { serverAddress: 'http://a' }
              demo:
                serverAddress: ftp://example.com
                tls: { key: k, pins: [sha256/x, sha1/y] }
                proxy: { user: u }
                http: { password: p }
            feeds:
              f: { items: [{ a: b }], fields: { a: string, b: text } }
            http: { hosts: [[x]] }
            """
        let expected = [
            "gateway.yaml:2: upstreams: has a member whose name is empty, has a dot or is not text",
            "gateway.yaml:4: upstreams.demo.serverAddress: must be an http or https URL",
            "gateway.yaml:5: upstreams.demo.tls.certificate: is required where tls.key is set",
            "gateway.yaml:5: upstreams.demo.tls.pins: \"sha256/x\" must be",
            "gateway.yaml:5: upstreams.demo.tls.pins: \"sha1/y\" must be",
            "gateway.yaml:6: upstreams.demo.proxy.address: is required",
            "gateway.yaml:7: upstreams.demo.http.user: is required",
            "gateway.yaml:9: feeds.f.fields.b: must begin with one of",
            "gateway.yaml:9: feeds.f.items: must be a list of plain values",
            "gateway.yaml:10: http.hosts: must be a list of plain values",
        ]
        let mistakes = Self.mistakes { try Self.read(file: file) }
        #expect(mistakes.count == expected.count, "\(mistakes)")
        for rule in expected { #expect(mistakes.contains { $0.hasPrefix(rule) }, "\(rule): \(mistakes)") }
    }

    @Test(arguments: [
        ("cors.origins", "a.example,https://b.example,https://c/x", ["a.example", "https://c/x"]),
        ("http.hosts", "fd00::1,a.example,x/y", ["fd00::1", "x/y"]),
        ("http.trustedProxies", "x,10.0.0.0/8,y", ["x", "y"]),
        ("pool.allowUpstream", "x,127.0.0.1:1,y", ["x", "y"]),
        ("upstreams.u.controlLinks", "x,127.0.0.1:1,y", ["x", "y"]),
        ("feeds.f.items", "i{3…1},a,b{1…3", ["i{3…1}", "b{1…3"]), ("auth", "magic,keys,word", ["magic", "word"]),
        ("auth.keys.k.operations", "fly,read,swim", ["fly", "swim"]),
        ("auth.jwt.operations", "fly,read,swim", ["fly", "swim"]), ("cluster.url", "x,nats://a,y", ["x", "y"]),
    ])
    func everyElementOfAListThatBreaksARuleIsNamed(key: String, list: String, elements: [String]) {
        let mistakes = Self.mistakes { try Self.read(flags: [(key, list)]) }.filter {
            $0.hasPrefix("flags: \(key): \"")
        }
        #expect(mistakes.count == elements.count, "\(mistakes)")
        for (mistake, element) in zip(mistakes, elements) {
            #expect(mistake.hasPrefix("flags: \(key): \"\(element)\" must be "), "\(mistake)")
        }
    }

    @Test(arguments: [
        ("http:\n  prot: 1", "gateway.yaml:2: http.prot: is not a key of the configuration; did you mean http.port?"),
        ("port: 1", "gateway.yaml:1: port: is not a key of the configuration; did you mean http.port?"),
        ("http..port: 1", "gateway.yaml:1: http..port: is not a key of the configuration; did you mean http.port?"),
        (
            "upstreams:\n  demo:\n    serverAdress: http://a",
            "gateway.yaml:3: upstreams.demo.serverAdress: is not a key of the configuration; "
                + "did you mean upstreams.demo.serverAddress?"
        ),
        ("http: 3", "gateway.yaml:1: http: is a group of keys, such as http.host, and has no value itself"),
        // The list was to be one of plain values.
        (
            "upstreams: [{name: a}]",
            "gateway.yaml:1: upstreams: is a group of keys, such as upstreams.NAME.serverAddress, and has no value itself"
        ),
        (
            "feeds: {f: {fields: [a, b]}}",
            "gateway.yaml:1: feeds.f.fields: is a group of keys, such as feeds.f.fields.NAME, and has no value itself"
        ),
        (
            "upstreams:\n  a:\n  serverAddress: http://a",
            "gateway.yaml:3: upstreams.serverAddress: has no name before its last part: upstreams.NAME.serverAddress"
        ),
        ("http: {maxBody: 1MB}", "gateway.yaml:1: http.maxBody: must be a whole number of bytes from 1 to 1073741824"),
    ])
    func unknownKeysGetASuggestion(file: String, mistake: String) {
        let mistakes = Self.mistakes { try Self.read(file: file) }
        #expect(mistakes.contains(mistake), "\(mistakes)")
    }

    /// The key that was meant was reported as missing beside it, and an upstream without other keys as one that feeds do not have.
    @Test(arguments: [
        ("upstreams: {u: {serverAdress: 'http://a', adapterSet: A}}", ["upstreams.u.serverAdress"]),
        (
            "upstreams: {u: {serverAdress: 'http://a'}}\nfeeds: {f: {upstream: u, fields: {a: string}}}",
            ["upstreams.u.serverAdress"]
        ),
        (
            "upstreams: {u: {serverAdress: 'http://a'}}\nfeeds: {f: {fields: {a: string}}}",
            ["upstreams.u.serverAdress"]
        ),
        (
            "upstreams: {u: {serverAddress: 'http://a'}}\nfeeds: {f: {items: i, feilds: {a: string}}}",
            ["feeds.f.feilds.a"]
        ),
        ("auth: {keys: {a: {hsh: x}, b: {hahs: x, items: i}}}", ["auth.keys.a.hsh", "auth.keys.b.hahs"]),
        ("cluster: {engine: nats, secrt: 0123456789abcdef}", ["cluster.secrt"]),
        // The key has a mistake of its own.
        (
            "upstreams: {u: {serverAdress: 'http://a', serverAddress: 'a b'}}",
            ["upstreams.u.serverAdress", "upstreams.u.serverAddress"]
        ),
        ("cluster: {engine: nats, secrt: 1, secret: short}", ["cluster.secrt", "cluster.secret"]),
    ])
    func aMisspelledKeyIsOneMistake(file: String, keys: [String]) {
        let error = #expect(throws: ConfigurationError.self) { try Self.read(file: file) }
        #expect(error?.mistakes.map(\.key) == keys, "\(error?.mistakes ?? [])")
    }

    /// The password went to both servers.
    @Test(arguments: [("a-b", "a_b", "A_B"), ("A", "a", "A")], ["", "_FILE"])
    func aVariableOfTwoUpstreamsIsAMistake(names: (String, String, String), suffix: String) {
        let upstreams = [names.0, names.1].map { "  \($0):\n    serverAddress: http://a\n" }.joined()
        let variable = "GATEWAY_UPSTREAMS_\(names.2)_PASSWORD\(suffix)"
        let file = "upstreams:\n\(upstreams)"
        func mistakes(_ environment: [String: String]) -> [String] {
            Self.mistakes { try Self.read(environment: environment, file: file, files: ["/p": "x"]) }
        }
        #expect(mistakes([:]).isEmpty)
        let key = "upstreams.\(names.1).password"
        let rule = "has the variable of upstreams.\(names.0).password: rename one of them"
        #expect(mistakes([variable: "/p"]) == ["environment \(variable): \(key): \(rule)"])
    }

    /// They were said not to be text.
    @Test(arguments: ["a.b", "''"])
    func aNameThatNoKeyCanHaveIsAMistake(name: String) {
        let mistakes = Self.mistakes { try Self.read(file: "upstreams:\n  \(name):\n    serverAddress: http://a\n") }
        #expect(mistakes == ["gateway.yaml:2: upstreams: has a member whose name is empty, has a dot or is not text"])
    }

    @Test func aFileThatIsNotYAMLIsNamedWithTheLine() {
        let mistakes = Self.mistakes { try Self.read(file: "http:\n\tport: 1") }
        #expect(mistakes.first?.hasPrefix("gateway.yaml:2: is not valid YAML or JSON: ") == true, "\(mistakes)")
    }

    @Test(arguments: [
        ("password: @hidden", 4), ("password: \"hidden", 5), ("password: *hidden", 4), ("password: hidden: 1", 4),
        ("password: hidden\n    user: a\n    user: b", 6), ("password: hidden\u{7}", 4),
    ])
    func mistakesOfYAMLDoNotShowTheFile(secret: String, line: Int) {
        let file = "upstreams:\n  demo:\n    serverAddress: http://a\n    \(secret)\n"
        let mistakes = Self.mistakes { try Self.read(file: file) }
        #expect(mistakes.first?.hasPrefix("gateway.yaml:\(line): is not valid YAML or JSON: ") == true, "\(mistakes)")
        #expect(!mistakes.joined().contains("hidden"), "\(mistakes)")
    }

    @Test func missingKeyIsReportedWithTheLineOfItsNeighbours() {
        let file = """
            http:
              port: 0
            upstreams:
              demo:
                adapterSet: DEMO
            auth:
              keys:
                a:
                  hash: nonsense
                b:
                  operations: read
            """
        let mistakes = Self.mistakes { try Self.read(file: file) }
        #expect(
            mistakes == [
                "gateway.yaml:9: auth.keys.a.hash: must be sha256: and 64 hex digits",
                "gateway.yaml:5: upstreams.demo.serverAddress: is required",
                "gateway.yaml:11: auth.keys.b.hash: is required",
            ]
        )
    }

    @Test func keyWithoutValueIsAMistake() {
        let file = "upstreams:\n  demo:\n  other: {}\nauth:\n  keys:\n    a: {}\nhttp:\n"
        #expect(
            Self.mistakes { try Self.read(file: file) } == [
                "gateway.yaml:2: upstreams.demo.serverAddress: is required",
                "gateway.yaml:3: upstreams.other.serverAddress: is required",
                "gateway.yaml:6: auth.keys.a.hash: is required",
            ]
        )
    }

    @Test func aBadValueFromAFileIsNamedWhereTheFileIs() {
        let file = "http:\n  tls:\n    keyFile: /k\n    certificateFile: /c\n"
        let mistakes = Self.mistakes { try Self.read(file: file, files: ["/k": "k", "/c": "c"]) }
        #expect(mistakes == ["gateway.yaml:4: http.tls.certificate: must be a certificate in PEM"])
    }

    @Test func logIsConfiguredAsEverythingElse() throws {
        let log = try Self.read(environment: ["GATEWAY_LOG_FORMAT": "json"], file: "log: {level: debug}").log
        #expect(log.format == .json)
        #expect(log.level == .debug)
        let mistakes = Self.mistakes { try Self.read(environment: ["GATEWAY_LOG_FORMAT": "xml"]) }
        #expect(mistakes == ["environment GATEWAY_LOG_FORMAT: log.format: must be one of text, json"])
    }

    @Test func mistakeOfAVariableNamesTheVariable() {
        let mistakes = Self.mistakes { try Self.read(environment: ["GATEWAY_HTTP_THREADS": "many"]) }
        #expect(mistakes == ["environment GATEWAY_HTTP_THREADS: http.threads: must be a whole number from 0 to 64"])
    }

    @Test(arguments: ["0.0.0.0", "::", "192.0.2.1", "gateway.example.com"])
    func otherAddressThanLoopbackNeedsAWordAboutAccess(host: String) throws {
        #expect(Self.mistakes { try Self.read(flags: [("http.host", host)]) }.count == 1)
        #expect(try Self.read(flags: [("http.host", host), ("auth", "none")]).http.host == host)
    }

    @Test(arguments: ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
    func loopbackNeedsNone(host: String) throws {
        #expect(try Self.read(flags: [("http.host", host)]).http.host == host)
    }

    /// The values were joined by a comma.
    @Test func aValueThatIsGivenTwiceIsAMistake() {
        let flags = [("upstreams.a.serverAddress", "http://a"), ("upstreams.a.user", "u"), ("upstreams.a.user", "v")]
        #expect(Self.mistakes { try Self.read(flags: flags) } == ["flags: upstreams.a.user: is given more than once"])
        let file = Self.demo + "\n    user: u\nupstreams.demo.user: v"
        let mistakes = Self.mistakes { try Self.read(file: file) }
        #expect(mistakes == ["gateway.yaml:6: upstreams.demo.user: is given more than once"])
    }

    /// The check accepted an address that the system does not know in this form.
    @Test func anAddressInBracketsIsTheSameAddress() throws {
        #expect(try Self.read(flags: [("http.host", "[::1]")]).http.host == "::1")
        #expect(Self.mistakes { try Self.read(flags: [("http.host", "[::]")]) }.count == 1)
        let mistakes = Self.mistakes { try Self.read(flags: [("http.host", "[]"), ("auth", "none")]) }
        #expect(mistakes == ["flags: http.host: must be an address or name"])
    }

    @Test func repeatedFlagAddsToTheList() throws {
        let flags = [("pool.allowUpstream", "127.0.0.1:*"), ("pool.allowUpstream", "localhost:80")]
        let configuration = try Self.read(flags: flags)
        #expect(configuration.pool.allowedAddresses.entries.count == 2)
    }

    /// A list was split at each comma: a key for one item had the rights to two others.
    @Test func elementsOfAListInAFileMayHaveCommas() throws {
        let file =
            Self.demo + """

                    options: { httpExtraHeaders: ["X-A: a,b", "Y: c"] }
                feeds: { f: { upstream: demo, items: ["item1=Bid, ask", "a,b{1…2}"], fields: { x: string } } }
                auth: { keys: { k: { hash: 'sha256:\(String(repeating: "0", count: 64))', items: ["a,b", "c,*", d] } } }
                http: { hosts: [] }
                """
        let configuration = try Self.read(file: file)
        #expect(configuration.pool.upstreams.first?.options.httpExtraHeaders == ["X-A": "a,b", "Y": "c"])
        #expect(configuration.feeds.first?.items.map(\.names) == [["item1"], ["a,b1", "a,b2"]])
        #expect(configuration.feeds.first?.items.first?.description == "Bid, ask")
        #expect(configuration.access.keys.first?.rights.items.map(\.description) == ["a,b", "c,*", "d"])
        let flags = try Self.read(flags: [("auth.jwt.items", "a,b"), ("auth.jwt.items", "c")])
        #expect(flags.access.webTokens.rights.items.map(\.description) == ["a", "b", "c"])
    }

    @Test(arguments: [
        ("auth.jwt.issuer: [a]", "auth.jwt.issuer: must be one value, not a list"),
        ("http.port: [80]", "http.port: must be one value, not a list"),
        ("upstreams.demo.passwordFile: []", "upstreams.demo.passwordFile: must be one value, not a list"),
        (#"auth.jwt.items: "a\0b\0""#, "auth.jwt.items: must not have the character U+0000"),
        (#"auth.jwt.items: ["a\0", b]"#, "auth.jwt.items: must not have the character U+0000"),
        (
            #"cluster.url: ["nats://a,nats://b"]"#,
            #"cluster.url: "nats://a,nats://b" must be a nats:// or tls:// address"#
        ),
    ])
    func listsThatASettingDoesNotHaveAreMistakes(line: String, mistake: String) {
        #expect(Self.mistakes { try Self.read(file: Self.demo + "\n\(line)") } == ["gateway.yaml:5: \(mistake)"])
    }

    @Test func aMemberMustNotServeAloneBeforeItIsReplaced() throws {
        let cluster = [("cluster.engine", "nats"), ("cluster.secret", "0123456789abcdef"), ("cluster.patience", "1.5")]
        #expect(try Self.read(flags: cluster).cluster.onEngineLoss == .hold)
        let mistakes = Self.mistakes { try Self.read(flags: cluster + [("cluster.onEngineLoss", "local")]) }
        #expect(mistakes.count == 1 && mistakes[0].contains("cluster.patience: must be greater than cluster.suspect"))
    }

    @Test func allMistakesOfAClusterAreNamed() {
        let flags = [("cluster.engine", "nats"), ("cluster.onEngineLoss", "local"), ("cluster.patience", "1.5")]
        let mistakes = Self.mistakes { try Self.read(flags: flags) }
        #expect(mistakes.count == 2 && mistakes[0].contains("cluster.secret: is required"), "\(mistakes)")
        #expect(mistakes.last?.contains("cluster.patience: must be greater than cluster.suspect") == true)
    }

    /// The library of the engine reads these files when it connects; the check accepted any path.
    @Test(arguments: ["credentialsFile", "tls.authorities", "tls.certificate", "tls.key"])
    func aFileForTheEngineHasToBeThere(member: String) throws {
        var cluster = [("cluster.engine", "nats"), ("cluster.secret", "0123456789abcdef"), ("cluster.\(member)", "/f")]
        let other = ["tls.certificate": "tls.key", "tls.key": "tls.certificate"][member]
        if let other { cluster.append(("cluster.\(other)", "/g")) }
        #expect(throws: Never.self) { try Self.read(flags: cluster, files: ["/f": "x", "/g": "y"]) }
        let mistakes = Self.mistakes { try Self.read(flags: cluster, files: ["/g": "y"]) }
        #expect(mistakes == ["flags: cluster.\(member): names a path that does not exist"])
        #expect(throws: Never.self) { try Self.read(flags: Array(cluster.dropFirst())) }
    }

    @Test(arguments: [("certificate", "key"), ("key", "certificate")])
    func theCertificateForTheEngineNeedsItsKey(present: String, missing: String) {
        let secret = ("cluster.secret", "0123456789abcdef")
        let cluster = [("cluster.engine", "nats"), secret, ("cluster.tls.\(present)", "/f")]
        let mistakes = Self.mistakes { try Self.read(flags: cluster, files: ["/f": "x"]) }
        #expect(mistakes.count == 1, "\(mistakes)")
        let mistake = "cluster.tls.\(missing): is required where cluster.tls.\(present) is set"
        #expect(mistakes.last?.contains(mistake) == true)
    }

    /// All were called no UTF-8 text.
    @Test func theReasonWhyAFileCannotBeReadIsNamed() {
        #expect(UnreadableFile(path: "/").description == "/: must be a file, not a folder or a pipe")
        #expect(UnreadableFile(path: "/dev/null").description == "/dev/null: must be a file, not a folder or a pipe")
        #expect(UnreadableFile(path: "/nonexistent").description == "/nonexistent: does not exist")
        #expect(UnreadableFile(path: "/bin/sh").description == "/bin/sh: cannot be read as UTF-8 text")
    }

    /// A file in a folder that the user must not open was called one that does not exist. The folders of root are open to root.
    @Test(.enabled(if: NSUserName() != "root"))
    func aFolderThatMustNotBeOpenedHidesNoFile() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        let closed: [FileAttributeKey: Any] = [.posixPermissions: 0]
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false, attributes: closed)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(UnreadableFile(path: "\(folder)/a").description == "\(folder)/a: must not be read by this user")
    }

    /// A folder, a missing file and one that the user must not read were all called a file that cannot be read.
    @Test func theReasonWhyAFileOfASecretCannotBeReadIsNamed() {
        let mistakes = Self.mistakes { try Self.read(file: Self.demo + "\n    passwordFile: /dev/null\n") }
        let mistake = "upstreams.demo.passwordFile: names a path that must be a file, not a folder or a pipe"
        #expect(mistakes == ["gateway.yaml:5: \(mistake)"])
    }

    /// They were ignored: the gateway was open, or without TLS.
    @Test(
        arguments: [
            ("auth:\n  keys:\n    board:\n      hash:", "4: auth.keys.board.hash: is required"),
            ("auth:\n  jwt:\n    secret:", "3: auth.jwt.secret: has no value"),
            ("auth:\n  jwt:\n    jwksURL: ~\n    issuer: a", "3: auth.jwt.jwksURL: has no value"),
            ("http:\n  tls: {certificateFile: , keyFile: \"\"}", "2: http.tls.certificateFile: has no value"),
            ("upstreams: {push: {serverAddress: }}", "1: upstreams.push.serverAddress: is required"),
            ("feeds:\n  a:\n    fields:\n      key: string\n      b:", "5: feeds.a.fields.b: has no value"),
            ("feeds:\n  a: {fields: {}}", "2: feeds.a.fields: must have at least one field"),
            ("http:\n  prot:", "2: http.prot: is not a key of the configuration; did you mean http.port?"),
            ("xyzzyplugh:", "1: xyzzyplugh: is not a key of the configuration"),
        ]
    )
    func aKeyWithoutAValueIsAMistakeWhereItNeedsOne(text: String, mistake: String) {
        let mistakes = Self.mistakes { try Self.read(file: text) }
        #expect(mistakes.contains("gateway.yaml:\(mistake)"), "\(mistakes)")
    }

    /// The second mistake, that there are no fields, no credentials or no value, was none of the author's.
    @Test(
        arguments: [
            ("feeds: {a: {fields: {b: strin}}}\nupstreams: {d: {serverAddress: http://d}}\n", "feeds.a.fields.b"),
            ("http: {host: 0.0.0.0}\nauth: {keys: {a: {hash: x}}}\n", "auth.keys.a.hash"),
            ("http: {host: 0.0.0.0}\nauth: {jwt: {secretFile: /nonexistent}}\n", "auth.jwt.secretFile"),
            ("http: {tls: {certificate: x, keyFile: /nonexistent}}\n", "http.tls.keyFile"),
            ("http: {tls: {certificateFile: /nonexistent, key: x}}\n", "http.tls.certificateFile"),
            ("cluster: {engine: nats, secretFile: /nonexistent}\n", "cluster.secretFile"),
            (
                "upstreams: {d: {serverAddress: https://d, tls: {certificateFile: /nonexistent, key: x}}}\n",
                "upstreams.d.tls.certificateFile"
            ),
        ]
    )
    func aMistakeHasNoConsequencesOfItsOwn(text: String, key: String) {
        let mistakes = Self.mistakes { try Self.read(file: text) }
        #expect(mistakes.count == 1 && mistakes.first?.contains(key) == true, "\(mistakes)")
    }

    @Test func otherKeysWithoutAValueHaveTheirDefaults() throws {
        let groups = "http: {port: , hosts: }\nauth:\n  keys:\nfeeds: {}\n"
        let empty = groups + Self.demo + "\n    password:\n    options:\n"
        let mistakes = Self.mistakes { try Self.read(file: empty) }
        #expect(mistakes == ["gateway.yaml:9: upstreams.demo.password: has no value"])
        let environment = ["GATEWAY_UPSTREAMS_DEMO_PASSWORD": "p"]
        let configuration = try Self.read(environment: environment, file: empty)
        #expect(configuration.http.port == 8080)
        #expect(configuration.access.modes.isEmpty)
        #expect(configuration.pool.upstreams.first?.password == "p")
    }

    @Test(arguments: ["http.idleTimeout", "limits.rate", "auth.jwt.rate"], ["0x10", "0x1p3", "nan", "infinity"])
    func aNumberIsWrittenInDecimalNotation(key: String, text: String) {
        let mistakes = Self.mistakes { try Self.read(flags: [(key, text)]) }
        #expect(mistakes.first?.hasPrefix("flags: \(key): must be") == true, "\(mistakes)")
        #expect(throws: Never.self) { try Self.read(flags: [(key, "1.5e1")]) }
    }

    @Test(arguments: ["upstreams: [", "- 1\n- 2"])
    func unreadableFileIsOneMistake(text: String) {
        #expect(Self.mistakes { try Self.read(file: text) }.count == 1)
    }
}

internal import LightstreamerClient
internal import Testing

@Suite struct ConnectionOptionsTests {
    private let client: LightstreamerClient
    private var options: ConnectionOptions { client.connectionOptions }

    init() throws { client = try LightstreamerClient() }

    @Test func defaultsAreThoseOfTheNewerReference() {
        #expect(options.connectTimeout == .auto)
        #expect(options.currentConnectTimeout == 4)
        #expect(options.contentLength == 50_000_000)
        #expect(options.firstRetryMaxDelay == 0.1)
        #expect(options.forcedTransport == nil)
        #expect(options.httpExtraHeaders == nil)
        #expect(!options.httpExtraHeadersOnSessionCreationOnly)
        #expect(options.idleTimeout == 19)
        #expect(options.keepaliveInterval == 0)
        #expect(options.pollingInterval == 0)
        #expect(options.requestedMaxBandwidth == .unlimited)
        #expect(options.realMaxBandwidth == nil)
        #expect(options.reconnectTimeout == 3)
        #expect(options.retryDelay == 2)
        #expect(options.reverseHeartbeatInterval == 0)
        #expect(options.sessionRecoveryTimeout == 15)
        #expect(options.stalledTimeout == 2)
        #expect(options.isEarlyWSOpenEnabled)
        #expect(!options.isServerInstanceAddressIgnored)
        #expect(options.isSlowingEnabled)
    }

    @Test func olderEditionHasItsOwnDefaults() throws {
        var configuration = ClientConfiguration()
        configuration.edition = .old
        let options = try LightstreamerClient(configuration: configuration).connectionOptions
        #expect(options.retryDelay == 5)
        #expect(options.sessionRecoveryTimeout == 0)
    }

    private typealias Setter = @Sendable (ConnectionOptions, Double) throws(ClientError) -> Void

    private static let positive: [(String, Setter)] = [
        ("currentConnectTimeout", { o, v throws(ClientError) in try o.setCurrentConnectTimeout(v) }),
        ("firstRetryMaxDelay", { o, v throws(ClientError) in try o.setFirstRetryMaxDelay(v) }),
        ("reconnectTimeout", { o, v throws(ClientError) in try o.setReconnectTimeout(v) }),
        ("retryDelay", { o, v throws(ClientError) in try o.setRetryDelay(v) }),
        ("stalledTimeout", { o, v throws(ClientError) in try o.setStalledTimeout(v) }),
        ("connectTimeout", { o, v throws(ClientError) in try o.setConnectTimeout(.seconds(v)) }),
        ("requestedMaxBandwidth", { o, v throws(ClientError) in try o.setRequestedMaxBandwidth(.limited(v)) }),
    ]

    private static let notNegative: [(String, Setter)] = [
        ("idleTimeout", { o, v throws(ClientError) in try o.setIdleTimeout(v) }),
        ("keepaliveInterval", { o, v throws(ClientError) in try o.setKeepaliveInterval(v) }),
        ("pollingInterval", { o, v throws(ClientError) in try o.setPollingInterval(v) }),
        ("reverseHeartbeatInterval", { o, v throws(ClientError) in try o.setReverseHeartbeatInterval(v) }),
        ("sessionRecoveryTimeout", { o, v throws(ClientError) in try o.setSessionRecoveryTimeout(v) }),
    ]

    @Test func valuesThatMustBePositiveRefuseZeroAndLess() throws {
        for (name, set) in Self.positive {
            for value in [0, -1, .nan, .infinity] {
                let error = #expect(throws: ClientError.self) { try set(options, value) }
                #expect(error?.code == .invalidValue)
                #expect(error?.property == name)
                #expect(error?.value == "\(value)")
            }
            try set(options, 0.5)
        }
    }

    @Test func valuesThatMayBeZeroRefuseLess() throws {
        for (name, set) in Self.notNegative {
            for value in [-0.001, .nan, -.infinity] {
                let error = #expect(throws: ClientError.self) { try set(options, value) }
                #expect(error?.property == name)
            }
            try set(options, 0)
            try set(options, 1.5)
        }
    }

    @Test func contentLengthMustNotBeZero() throws {
        #expect(throws: ClientError.self) { try options.setContentLength(0) }
        try options.setContentLength(1)
        #expect(options.contentLength == 1)
    }

    @Test(arguments: ["Content-Type", "cookie", "Sec-WebSocket-Key", "", "a b", "a\r\n"])
    func headersOfTheLibraryAndMalformedOnesAreRefused(name: String) {
        #expect(throws: ClientError.self) { try options.setHTTPExtraHeaders([name: "x"]) }
        #expect(throws: ClientError.self) { try options.setHTTPExtraHeaders(["X": "a\r\nb: c"]) }
        #expect(options.httpExtraHeaders == nil)
    }

    @Test func extraHeadersAreBoundedInNumberAndBytes() throws {
        let many = Dictionary(uniqueKeysWithValues: (0...100).map { ("X-\($0)", "") })
        for headers in [many, ["X-A": String(repeating: "a", count: 16_384)]] {
            let error = #expect(throws: ClientError.self) { try options.setHTTPExtraHeaders(headers) }
            #expect(error?.property == "httpExtraHeaders")
        }
        try options.setHTTPExtraHeaders(["X-A": String(repeating: "a", count: 16_381)])
    }

    @Test func anotherUnicodeFormIsAnotherHeaderValue() throws {
        try options.setHTTPExtraHeaders(["X-A": "\u{E9}"])
        try options.setHTTPExtraHeaders(["X-A": "e\u{301}"])
        #expect(options.httpExtraHeaders?["X-A"]?.utf8.elementsEqual("e\u{301}".utf8) == true)
        #expect(options.requested.httpExtraHeaders?["X-A"]?.utf8.elementsEqual("e\u{301}".utf8) == true)
    }

    @Test func severalOptionsChangeTogetherOrNotAtAll() throws {
        #expect(throws: ClientError.self) {
            try options.update {
                $0.retryDelay = 7
                $0.stalledTimeout = 0
            }
        }
        #expect(options.values == ConnectionOptionValues())
        try options.update {
            $0.retryDelay = 7
            $0.stalledTimeout = 1
        }
        #expect(options.retryDelay == 7)
        #expect(options.requested.stalledTimeout == 1)
    }

    @Test func sessionLimitIsClipped() {
        let before = ConnectionOptions.maxConcurrentSessionsPerServer
        defer { ConnectionOptions.maxConcurrentSessionsPerServer = before }
        #expect(before == 3)
        ConnectionOptions.maxConcurrentSessionsPerServer = 99
        #expect(ConnectionOptions.maxConcurrentSessionsPerServer == 6)
    }

    @Test func textsOfTheReferenceAreRead() throws {
        #expect(try RequestedMaxBandwidth(text: "UNLIMITED") == .unlimited)
        #expect(try RequestedMaxBandwidth(text: "2.5") == .limited(2.5))
        #expect(try RequestedMaxFrequency(text: "Unfiltered") == .unfiltered)
        #expect(try RequestedBufferSize(text: "10") == .limited(10))
        #expect(try RequestedSnapshot(text: "yes") == .yes)
        #expect(try ConnectTimeout(text: "auto") == .auto)
        #expect(RequestedMaxFrequency.limited(3).text == "3")
        #expect(RealMaxBandwidth.limited(0.5).text == "0.5")
        for bad in ["", "0", "-1", "1e3", "+1", "0x10", "nan", "inf", " 1", "1,5"] {
            #expect(throws: ClientError.self) { try RequestedMaxBandwidth(text: bad) }
            #expect(throws: ClientError.self) { try RequestedBufferSize(text: bad) }
        }
    }
}

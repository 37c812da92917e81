internal import SessionCore
internal import TLCP
internal import Testing

/// Creations, their requests, their failures, and the control link.
@Suite struct SessionMachineCreationTests {
    @Test func allOptionsShowInACreationOnAWebSocket() {
        let harness = SessionHarness {
            $0.keepaliveInterval = 5
            $0.reverseHeartbeatInterval = 6
            $0.requestedMaxBandwidth = .limited(33.5)
            $0.slowingEnabled = true
            $0.httpExtraHeaders = ["X-A": "1"]
        } details: {
            $0.adapterSet = "SET"
            $0.user = "me"
            $0.password = "s&cret"
        }
        harness.connect()
        #expect(harness.orders[harness.stream]?.headers == ["X-A": "1"])
        #expect(harness.orders[harness.stream]?.subprotocol == "TLCP-2.5.0.lightstreamer.com")
        harness.open()
        #expect(
            harness.takeRequests().last
                == "> create_session|LS_keepalive_millis=5000&LS_inactivity_millis=6000"
                + "&LS_requested_max_bandwidth=33.5&LS_adapter_set=SET&LS_user=me&LS_cid=CID&LS_cause=api"
                + "&LS_password=s%26cret"
        )
    }

    @Test func detailsSetWhileAWebSocketOpensWaitForTheNextCreation() {
        var details = ConnectionDetailValues()
        details.serverAddress = "http://other"
        details.adapterSet = "OTHER"
        details.user = "you"
        details.password = "other"
        let harness = SessionHarness(details: {
            $0.user = "me"
            $0.password = "mine"
        })
        harness.connect()
        harness.setDetails(details)
        harness.open()
        #expect(
            harness.takeRequests() == [
                "> wsok",
                "> create_session|LS_user=me&LS_cid=CID&LS_send_sync=false&LS_cause=api&LS_password=mine",
            ]
        )
        harness.breakStream()
        #expect(
            harness.takeRequests() == [
                "POST http://other create_session LS_polling=true&LS_polling_millis=0&LS_idle_millis=0"
                    + "&LS_adapter_set=OTHER&LS_user=you&LS_cid=CID&LS_cause=ws.unavailable&LS_password=other"
            ]
        )
    }

    @Test func withoutEarlyOpenTheSessionIsCreatedOverHTTP() {
        let harness = SessionHarness.connecting { $0.earlyWSOpenEnabled = false }
        #expect(
            harness.takeRequests() == [
                "POST create_session LS_polling=true&LS_polling_millis=0&LS_idle_millis=0&LS_cid=CID&LS_cause=api"
            ]
        )
        harness.receive("CONOK,sid,70000,0,*", "LOOP,0")
        #expect(harness.orders[harness.stream]?.kind == .webSocket)
    }

    @Test(arguments: [ForcedTransport.wsPolling, .http, .httpStreaming, .httpPolling])
    func forcedTransportsThatCannotBeCreatedOnAWebSocketUseHTTP(forced: ForcedTransport) {
        let harness = SessionHarness.connecting { $0.forcedTransport = forced }
        #expect(harness.orders[harness.stream]?.kind == .httpPoll)
    }

    @Test(arguments: [ForcedTransport.ws, .wsStreaming])
    func forcedWebSocketIsCreatedOnIt(forced: ForcedTransport) {
        let harness = SessionHarness.connecting { $0.forcedTransport = forced }
        #expect(harness.orders[harness.stream]?.kind == .webSocket)
    }

    @Test func suspendedWebSocketIsNotTriedAtTheNextCreation() {
        let harness = SessionHarness.connecting()
        harness.breakStream()
        harness.breakStream(pause: 4000)
        #expect(harness.orders[harness.stream]?.kind == .httpPoll)
        harness.disconnect()
        harness.connect()
        #expect(harness.orders[harness.stream]?.kind == .webSocket)
    }

    @Test func webSocketTimeoutAfterTheGreetingIsRetriedAtOnce() {
        let harness = SessionHarness.opened()
        harness.receive("WSOK")
        harness.advance(3999)
        _ = harness.takeTrace()
        harness.advance(1)
        #expect(
            harness.takeTrace() == [
                "close", "S: DISCONNECTED:WILL-RETRY", "T: retry 0", "T: transport 4000", "open ws http://server",
                "S: CONNECTING",
            ]
        )
        harness.open()
        #expect(harness.takeRequests().last?.hasSuffix("LS_cause=ws.timeout") == true)
    }

    @Test func overloadedServerGetsAllItsTime() {
        let harness = SessionHarness.connecting()
        harness.breakStream()
        _ = harness.takeTrace()
        harness.receive("CONERR,5,busy")
        #expect(harness.orders[harness.stream]?.responseTime == .seconds(60))
        #expect(
            harness.takeTrace() == [
                "P: currentConnectTimeout(60.0)", "close", "S: DISCONNECTED:WILL-RETRY", "T: transport 60000",
                "POST create_session LS_ttl_millis=unlimited&LS_polling=true&LS_polling_millis=0&LS_idle_millis=0"
                    + "&LS_cid=CID&LS_cause=http.conerr.5",
                "S: CONNECTING",
            ]
        )
        harness.advance(59_999)
        #expect(harness.status == .connecting)
        harness.receive("CONOK,sid,70000,0,*", "LOOP,0")
        harness.open()
        #expect(harness.takeRequests().last?.hasSuffix("LS_cause=ttl.loop") == true)
    }

    @Test(arguments: ["ttl.timeout", "ttl.error", "ttl.conerr.5"])
    func patientCreationThatFailsIsRepeated(cause: String) {
        let harness = SessionHarness.connecting()
        harness.breakStream()
        harness.receive("CONERR,5,busy")
        switch cause {
        case "ttl.timeout": harness.advance(60_000)
        case "ttl.error": harness.breakStream()
        default: harness.receive("CONERR,5,still busy")
        }
        harness.advance(4000)
        let request = harness.takeRequests().last ?? ""
        #expect(request.contains("LS_ttl_millis=unlimited"))
        #expect(request.hasSuffix("LS_cause=\(cause)"))
    }

    @Test func retryDelayDoublesAfterTenRetriesUpToAMinute() {
        let harness = SessionHarness.connecting()
        harness.breakStream()
        var delays: [Int] = []
        for _ in 0..<16 {
            harness.breakStream()
            delays.append(harness.remaining(.retry) ?? -1)
            harness.advance(delays.last ?? 0)
        }
        #expect(delays == Array(repeating: 4000, count: 11) + [8000, 16_000, 32_000, 60_000, 60_000])
        // A creation alone does not show that attempts succeed from now on.
        harness.receive("CONOK,sid,70000,0,*")
        harness.receive("CONERR,20,gone")
        #expect(harness.remaining(.retry) == 60_000)
        harness.advance(60_000)
        harness.receive("CONOK,sid,70000,0,*", "LOOP,0")
        harness.open("WSOK", "CONOK,sid,70000,5000,*", "PROBE", "LOOP,0")
        harness.open("WSOK", "CONERR,20,gone")
        #expect(harness.remaining(.retry) == 4000)
    }

    @Test func tinyRetryDelayDoesNotMakeAttemptsWithoutPauses() {
        let harness = SessionHarness.connecting { $0.retryDelay = 1e-9 }
        harness.breakStream()
        harness.breakStream()
        #expect(harness.remaining(.retry) == 100)
        harness.advance(100)
        harness.setOptions { $0.retryDelay = 1e-6 }
        harness.breakStream()
        #expect(harness.remaining(.retry) == 100)
    }

    @Test func currentConnectTimeoutGrowsWithoutAnswers() {
        let harness = SessionHarness.connecting()
        harness.breakStream()
        for _ in 0..<9 { harness.advance(4000) }
        #expect(harness.remaining(.transport) == 4000)
        harness.advance(4000)
        #expect(harness.remaining(.transport) == 8000)
        #expect(harness.events.contains(.propertyChanged(.currentConnectTimeout(8))))
        harness.receive("CONOK,sid,70000,0,*", "LOOP,0")
        harness.open("WSOK", "CONOK,sid,70000,5000,*")
        #expect(harness.events.contains(.propertyChanged(.currentConnectTimeout(4))))
    }

    @Test func fixedConnectTimeoutHoldsEverywhere() {
        let harness = SessionHarness.connecting { $0.connectTimeout = .seconds(7) }
        #expect(harness.remaining(.transport) == 7000)
        harness.breakStream()
        harness.receive("CONERR,5,busy")
        harness.receive("CONOK,sid,70000,0,*", "LOOP,0")
        #expect(harness.remaining(.transport) == 7000)
        #expect(!harness.events.contains(.propertyChanged(.currentConnectTimeout(60))))
    }

    @Test func automaticTimeoutDoesNotGrowWhileAFixedOneHolds() {
        let harness = SessionHarness.connecting { $0.connectTimeout = .seconds(1) }
        harness.breakStream()
        for _ in 0..<12 { harness.advance(4000) }
        harness.receive("CONERR,5,busy")
        harness.setOptions { $0.connectTimeout = .auto }
        harness.breakStream(pause: 4000)
        harness.receive("CONOK,sid,70000,0,*")
        #expect(harness.remaining(.transport) == 4000)
    }

    @Test func currentConnectTimeoutSetByTheUserCounts() {
        let harness = SessionHarness()
        harness.setOptions { $0.currentConnectTimeout = 9 }
        harness.connect()
        #expect(harness.remaining(.transport) == 9000)
    }

    // MARK: - Versions

    @Test func olderVersionsAreTriedUntilTheServerAgrees() {
        let harness = SessionHarness.opened()
        harness.receive("WSOK", "CONERR,65,Unsupported protocol version: 2.5.0")
        #expect(harness.orders[harness.stream]?.subprotocol == "TLCP-2.4.0.lightstreamer.com")
        harness.open("WSOK", "CONERR,65,Version not supported")
        #expect(harness.orders[harness.stream]?.subprotocol == "TLCP-2.3.0.lightstreamer.com")
        #expect(harness.status == .connecting)
        harness.open()
        _ = harness.takeTrace()
        harness.receive("WSOK", "CONOK,sid,70000,0,*")
        #expect(harness.takeTrace().first == "remember 2.3.0 http://server")
        harness.receive("LOOP,0")
        #expect(harness.orders[harness.stream]?.subprotocol == "TLCP-2.3.0.lightstreamer.com")
    }

    @Test func refusalOfTheOldestVersionIsFinal() {
        let harness = SessionHarness(configuration: {
            $0.protocolVersion = ProtocolVersion(major: 2, minor: 2, subminor: 0)
        })
        harness.connect()
        harness.breakStream()
        #expect(harness.takeRequests().last?.contains("LS_protocol=TLCP-2.2.0") == true)
        harness.receive("CONERR,65,bad version")
        #expect(harness.takeRequests().last?.contains("LS_protocol=TLCP-2.1.0") == true)
        harness.receive("CONERR,65,bad version")
        #expect(harness.takeConversation().suffix(2) == ["S: DISCONNECTED", "error 65 bad version"])
    }

    @Test func anotherInvalidValueIsFinalAtOnce() {
        let harness = SessionHarness.opened()
        _ = harness.takeTrace()
        harness.receive("WSOK", "CONERR,65,Invalid value of LS_user")
        #expect(harness.takeConversation().suffix(2) == ["S: DISCONNECTED", "error 65 Invalid value of LS_user"])
    }

    @Test func serverThatForgetsAVersionGetsANewSessionInAnotherOne() {
        let harness = SessionHarness.sensing()
        harness.receive("LOOP,0")
        harness.open("WSOK", "CONERR,65,Unsupported protocol version: 2.5.0")
        #expect(harness.status == .disconnectedWillRetry)
        harness.advance(4000)
        let request = harness.takeRequests().last
        #expect(request?.contains("LS_protocol=TLCP-2.4.0") == true)
        #expect(request?.hasSuffix("&LS_cause=ws.conerr.65") == true)
        let other = SessionHarness.sensing()
        other.receive("LOOP,0")
        other.open("WSOK", "CONERR,65,syntax")
        #expect(other.status == .disconnected)
    }

    @Test func refusalOfTheVersionOfARecoveryIsTheCauseOfTheNextSession() {
        let harness = SessionHarness.streamingOnSocket()
        harness.breakStream(pause: 100)
        harness.receive("CONERR,65,Unsupported protocol version: 2.5.0")
        #expect(harness.status == .disconnectedWillRetry)
        harness.advance(4000)
        harness.open()
        #expect(harness.takeRequests().last?.hasSuffix("&LS_cause=recovery.conerr.65") == true)
    }

    // MARK: - Control link

    @Test(arguments: [
        ("foo.com", "https://base:443", "https://foo.com:443"),
        ("https://foo.com", "http://base", "https://foo.com"),
        ("foo.com:8080", "http://base:80", "http://foo.com:8080"),
        ("foo.com/bar", "http://base:80/path", "http://foo.com:80/bar"),
    ])
    func controlLinkIsCompletedAndFollowed(link: String, base: String, result: String) {
        let harness = SessionHarness(details: { $0.serverAddress = base })
        harness.connect()
        harness.breakStream()
        harness.receive("CONOK,sid,70000,0,\(link)")
        #expect(harness.events.contains(.propertyChanged(.serverInstanceAddress(result))))
        harness.receive("LOOP,0")
        #expect(harness.orders[harness.stream]?.address == result)
        harness.breakStream()
        #expect(harness.orders[harness.stream]?.address == result)
        harness.subscribe(1, item: "i")
        #expect(harness.orders[harness.control]?.address == result)
        harness.disconnect()
        harness.connect()
        #expect(harness.orders[harness.stream]?.address == base)
    }

    @Test func controlLinkOfASocketSessionCountsFromTheNextConnection() {
        let harness = SessionHarness.opened()
        harness.receive("WSOK", "CONOK,sid,70000,0,other", "PROBE")
        harness.breakStream(pause: 100)
        #expect(harness.orders[harness.stream]?.address == "http://other")
    }

    @Test func controlLinkOfARecoveryCountsForTheBindAfterIt() {
        let harness = SessionHarness.streamingOnSocket()
        harness.breakStream(pause: 100)
        harness.receive("CONOK,sid,70000,0,other", "LOOP,0")
        #expect(harness.orders[harness.stream]?.address == "http://other")
    }

    @Test func controlLinkIsIgnoredOnDemandAsItStoodAtCreation() {
        let harness = SessionHarness.connecting { $0.serverInstanceAddressIgnored = true }
        harness.setOptions { $0.serverInstanceAddressIgnored = false }
        harness.open("WSOK", "CONOK,sid,70000,0,other", "LOOP,0")
        #expect(harness.orders[harness.stream]?.address == "http://server")
    }

    @Test func controlLinkOutsideTheListIsIgnoredAndNotedOnce() {
        let harness = SessionHarness(configuration: {
            $0.allowedAddresses = AddressAllowList([.init(host: "server", port: nil), .init(host: "ok", port: 80)])
        })
        harness.connect()
        harness.breakStream()
        harness.receive("CONOK,sid,70000,0,evil:99", "LOOP,0")
        #expect(harness.orders[harness.stream]?.address == "http://server")
        harness.open("WSOK", "CONOK,sid,70000,0,evil:99")
        #expect(harness.takeTrace().filter { $0.hasPrefix("note") }.count == 1)
        harness.receive("LOOP,0")
        harness.open("WSOK", "CONOK,sid,70000,0,ok", "LOOP,0")
        #expect(harness.orders[harness.stream]?.address == "http://ok")
    }

    @Test(arguments: [true, false])
    func extraHeadersAreSentAsTheOptionRequires(creationOnly: Bool) {
        let harness = SessionHarness.connecting {
            $0.httpExtraHeaders = ["X-A": "1"]
            $0.httpExtraHeadersOnSessionCreationOnly = creationOnly
            $0.forcedTransport = .httpStreaming
        }
        #expect(harness.orders[harness.stream]?.headers == ["X-A": "1"])
        harness.receive("CONOK,sid,70000,0,*", "LOOP,0")
        harness.subscribe(1, item: "i")
        let later = creationOnly ? [:] : ["X-A": "1"]
        #expect(harness.orders[harness.stream]?.headers == later)
        #expect(harness.orders[harness.control]?.headers == later)
        harness.breakStream(pause: 100)
        #expect(harness.orders[harness.stream]?.headers == later)
    }
}

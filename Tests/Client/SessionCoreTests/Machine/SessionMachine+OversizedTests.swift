internal import SessionCore
internal import Testing

/// Single requests that exceed the request limit of the server, or that it refuses as malformed, in sessions whose requests
/// fail alone.
@Suite struct SessionMachineOversizedTests {
    private static let limit = 300
    private static let long = String(repeating: "a", count: 400)

    /// Streaming on a WebSocket whose server has a request limit.
    private static func onSocket(limit: Int = Self.limit, subscribed: (SessionHarness) -> Void = { _ in })
        -> SessionHarness
    {
        let harness = SessionHarness(configuration: {
            $0.refusesOversizedRequests = true
            $0.outlivesMalformedRequests = true
        })
        subscribed(harness)
        harness.connect()
        harness.open()
        _ = harness.takeTrace()
        harness.receive("WSOK", "CONOK,sid,\(limit),5000,*", "PROBE")
        return harness
    }

    /// Streaming over HTTP.
    private static func overHTTP() -> SessionHarness {
        let harness = SessionHarness(
            { $0.forcedTransport = .httpStreaming },
            configuration: { $0.refusesOversizedRequests = true }
        )
        harness.connect()
        harness.receive("CONOK,sid,\(limit),5000,*", "LOOP,0", "CONOK,sid,\(limit),5000,*", "PROBE")
        return harness
    }

    /// Interrupts the session, recovers it, and binds it to a new WebSocket.
    private func recover(_ harness: SessionHarness) {
        harness.breakStream(pause: 100)
        harness.receive("CONOK,sid,\(Self.limit),0,*", "LOOP,0")
        harness.open("WSOK", "CONOK,sid,\(Self.limit),0,*")
    }

    @Test func subscriptionFailsAloneAndIsNotSentAgain() {
        let harness = Self.onSocket()
        _ = harness.takeTrace()
        harness.subscribe(1, item: Self.long)
        harness.subscribe(2, item: "b")
        let trace = harness.takeTrace()
        #expect(trace.count == 2 && trace.first == "sub1 failed 67" && trace.last?.contains("LS_group=b&") == true)
        #expect(harness.status == .connectedWSStreaming)
        harness.receive("SUBOK,2,1,1")
        recover(harness)
        #expect(harness.takeRequests().filter { $0.hasPrefix("> control") } == [])
        harness.unsubscribe(1)
        #expect(harness.takeRequests() == [])
        harness.receive("END,48,refresh")
        harness.advance(harness.remaining(.retry) ?? 0)
        harness.open("WSOK", "CONOK,next,\(Self.limit),0,*")
        let again = harness.takeRequests().filter { $0.hasPrefix("> control") }
        #expect(again.count == 1 && again.first?.contains("LS_group=b&") == true)
    }

    @Test func errorNamesBothSizes() {
        let harness = Self.onSocket()
        harness.subscribe(1, item: Self.long)
        let size =
            "control".count + 2 + "LS_reqId=1&LS_op=add&LS_subId=1&LS_mode=MERGE&LS_group=".count
            + Self.long.count + "&LS_schema=f&LS_snapshot=true&LS_ack=false".count
        let message = "The request of \(size) bytes exceeds the server's limit of 300 bytes and was not sent"
        #expect(harness.events.contains(.subscription(SubscriptionToken(1), .failed(code: 67, message: message))))
    }

    @Test(arguments: [0, -1])
    func requestOfTheSizeOfTheLimitIsSent(difference: Int) throws {
        let usual = Self.onSocket(limit: 70_000)
        _ = usual.takeTrace()
        usual.subscribe(1, item: Self.long)
        let request = try #require(usual.takeRequests().first).dropFirst(2)
        let harness = Self.onSocket(limit: request.count + 1 + difference)
        _ = harness.takeTrace()
        harness.subscribe(1, item: Self.long)
        #expect(harness.takeTrace() == (difference == 0 ? ["> " + request] : ["sub1 failed 67"]))
    }

    @Test func serverWithoutALimitGetsTheRequest() {
        let harness = Self.onSocket(limit: 0)
        _ = harness.takeTrace()
        harness.subscribe(1, item: Self.long)
        #expect(harness.takeRequests().count == 1)
    }

    @Test func requestsThatWaitedAreSentWithoutTheLargeOnes() {
        let harness = Self.onSocket { harness in
            for number in 1...5 as ClosedRange<UInt64> {
                harness.subscribe(number, item: number % 2 == 1 ? Self.long : "item\(number)")
            }
        }
        let trace = harness.takeTrace().filter { $0.hasPrefix("sub") || $0.hasPrefix("> control") }
        let failures = trace.filter { $0.hasPrefix("sub") }
        #expect(failures == ["sub1 failed 67", "sub3 failed 67", "sub5 failed 67"])
        let requests = trace.filter { $0.hasPrefix("> ") }.joined()
        #expect(requests.contains("LS_group=item2&") && requests.contains("LS_group=item4&"))
        #expect(!requests.contains("LS_group=a"))
    }

    @Test func requestsOverHTTPGoOn() {
        let harness = Self.overHTTP()
        _ = harness.takeTrace()
        harness.subscribe(1, item: Self.long)
        harness.subscribe(2, item: "b")
        harness.sendMessage(1, Self.long)
        let trace = harness.takeConversation()
        #expect(trace.count == 2 && trace.first == "sub1 failed 67" && trace.last?.contains("LS_group=b&") == true)
        harness.respond("REQOK,2")
        #expect(harness.takeConversation().map { $0.prefix(11) } == ["msg1 denied"])
        harness.sendMessage(2, "m")
        #expect(harness.takeRequests().map { $0.hasSuffix("LS_message=m&LS_sequence=seq&LS_msg_prog=1") } == [true])
        #expect(harness.status == .connectedHTTPStreaming)
    }

    @Test func messageIsDeniedAndTheNextOneHasItsNumber() {
        let harness = Self.onSocket()
        _ = harness.takeTrace()
        harness.sendMessage(1, "m")
        harness.sendMessage(2, Self.long)
        harness.sendMessage(3, "n")
        let trace = harness.takeTrace()
        #expect(trace.count == 3)
        #expect(trace.first?.hasSuffix("LS_message=m&LS_sequence=seq&LS_msg_prog=1") == true)
        #expect(trace.dropFirst().first?.hasPrefix("msg2 denied(code: 67, message: \"The request of ") == true)
        #expect(trace.last?.hasSuffix("LS_message=n&LS_sequence=seq&LS_msg_prog=2") == true)
        harness.receive("MSGDONE,seq,2,")
        #expect(harness.takeTrace() == ["msg3 processed(response: \"\")"])
    }

    @Test func requestsOfTheSessionItselfAreNotSentEither() {
        let harness = Self.onSocket(limit: 50)
        _ = harness.takeTrace()
        harness.setOptions {
            $0.requestedMaxBandwidth = .limited(3)
            $0.forcedTransport = .http
        }
        harness.changeToken(Self.long)
        #expect(harness.takeRequests() == [])
        #expect(harness.legacyEvents.contains { if case .deviceRefused = $0 { true } else { false } })
        harness.receive("PROBE")
        #expect(harness.takeRequests() == [])
    }

    @Test(arguments: [65, 67])
    func requestsThatTheServerRefusesAsMalformedFailAlone(code: Int) {
        let harness = Self.onSocket()
        harness.subscribe(1, item: "a")
        harness.sendMessage(1, "m")
        _ = harness.takeTrace()
        harness.receive("REQERR,1,\(code),bad", "REQERR,2,\(code),bad", "REQERR,99,\(code),unknown")
        #expect(harness.takeTrace() == ["sub1 failed \(code)", "msg1 failed"])
        #expect(harness.status == .connectedWSStreaming)
        harness.receive("REQERR,99,11,another server")
        #expect(harness.takeConversation().contains("error 21 another server"))
        #expect(harness.status == .disconnected)
    }

    @Test func requestsAreSentByDefaultWhateverTheirSize() {
        let harness = SessionHarness.opened()
        harness.receive("WSOK", "CONOK,sid,100,5000,*")
        _ = harness.takeTrace()
        harness.subscribe(1, item: Self.long)
        harness.sendMessage(1, Self.long)
        #expect(harness.takeRequests().count == 2)
    }
}

internal import SessionCore
internal import Testing

/// `CONERR`, `END`, `ERROR`, `REQERR` and invalid data.
@Suite struct RefusalTests {
    private static let everyBond: [ForcedTransport] = [.wsStreaming, .httpStreaming, .wsPolling, .httpPolling]

    private static func prefix(_ forced: ForcedTransport) -> String {
        forced == .wsStreaming || forced == .wsPolling ? "ws" : "http"
    }

    /// A session whose bind was requested, but not answered.
    private static func binding(_ forced: ForcedTransport) -> SessionHarness {
        let harness = SessionHarness.sensing {
            $0.forcedTransport = forced
            $0.earlyWSOpenEnabled = false
        }
        harness.receive("LOOP,0")
        if prefix(forced) == "ws" {
            harness.open("WSOK")
        }
        harness.advance(1500)
        _ = harness.takeTrace()
        return harness
    }

    /// The `LS_cause` of the creation that follows.
    private static func nextCause(_ harness: SessionHarness) -> String {
        harness.advance(4000)
        if harness.orders[harness.stream]?.kind == .webSocket { harness.open() }
        let text = harness.takeRequests().last { $0.contains("create_session") } ?? ""
        return text.split(separator: "LS_cause=").last.map(String.init) ?? ""
    }

    @Test(arguments: everyBond, [4, 6, 20, 40, 41, 48])
    func bindRefusedForNowBringsANewSession(forced: ForcedTransport, code: Int) {
        let harness = Self.binding(forced)
        harness.receive("CONERR,\(code),gone")
        #expect(
            harness.takeTrace() == ["close", "S: DISCONNECTED:WILL-RETRY", "P: sessionId(nil)", "T: retry 2500"]
        )
        #expect(Self.nextCause(harness) == "\(Self.prefix(forced)).conerr.\(code)")
    }

    @Test func pauseAfterAPollOnASocketCountsFromTheOpeningOfTheSocket() {
        let harness = SessionHarness.bound(.wsPolling)
        harness.advance(3000)
        harness.receive("LOOP,0", "CONERR,20,gone")
        #expect(harness.remaining(.retry) == 1000)
    }

    @Test(arguments: everyBond, [1, 3, 5, 21, 69])
    func bindRefusedForGoodDisconnects(forced: ForcedTransport, code: Int) {
        let harness = Self.binding(forced)
        harness.receive("CONERR,\(code),no")
        #expect(harness.takeTrace().prefix(6).contains("error \(code) no"))
        #expect(harness.status == .disconnected)
    }

    @Test(arguments: everyBond, [41, 48])
    func sessionRefreshedByTheServerIsReplaced(forced: ForcedTransport, code: Int) {
        let pushing = SessionHarness.bound(forced)
        pushing.receive("END,\(code),refresh")
        #expect(
            pushing.takeTrace() == ["close", "S: DISCONNECTED:WILL-RETRY", "P: sessionId(nil)", "T: retry 100"]
        )
        #expect(Self.nextCause(pushing) == "\(Self.prefix(forced)).end.\(code)")
        let binding = Self.binding(forced)
        binding.receive("END,\(code),refresh")
        #expect(
            binding.takeTrace() == ["close", "S: DISCONNECTED:WILL-RETRY", "P: sessionId(nil)", "T: retry 2500"]
        )
    }

    @Test(arguments: [(1, 39), (29, 39), (30, 30), (35, 35), (39, 39), (40, 39), (42, 39), (0, 0), (-7, -7)])
    func closureIsReportedWithItsCode(sent: Int, reported: Int) {
        for forced in Self.everyBond {
            let harness = SessionHarness.bound(forced)
            harness.receive("END,\(sent),bye")
            #expect(
                harness.takeConversation() == [
                    "close", "S: DISCONNECTED", "error \(reported) bye", "P: sessionId(nil)",
                ]
            )
            #expect(harness.legacyEvents.last == .ended(cause: sent))
        }
    }

    @Test func closureBeforeTheSessionBeginsIsIgnored() {
        let harness = SessionHarness.opened()
        harness.receive("WSOK")
        _ = harness.takeTrace()
        harness.receive("END,31,x")
        #expect(harness.takeTrace() == [])
    }

    @Test(arguments: [ForcedTransport.wsStreaming, .wsPolling])
    func errorOnTheSocketIsFatal(forced: ForcedTransport) {
        let harness = SessionHarness.bound(forced)
        harness.receive("ERROR,68,oops")
        #expect(harness.takeConversation().prefix(3) == ["close", "S: DISCONNECTED", "error 68 oops"])
    }

    @Test(arguments: [ForcedTransport.httpStreaming, .httpPolling])
    func errorInAControlResponseIsFatal(forced: ForcedTransport) {
        let harness = SessionHarness.bound(forced)
        harness.subscribe(1, item: "i")
        harness.receive("ERROR,67,oops", on: harness.control)
        #expect(harness.takeConversation().contains("error 67 oops"))
        #expect(harness.openConnections.isEmpty)
    }

    @Test(arguments: everyBond)
    func unknownSessionInAReplyBringsANewOne(forced: ForcedTransport) {
        let harness = SessionHarness.bound(forced)
        harness.subscribe(1, item: "i")
        _ = harness.takeTrace()
        harness.receive("REQERR,1,20,gone", on: Self.prefix(forced) == "ws" ? harness.stream : harness.control)
        let trace = harness.takeTrace()
        #expect(trace.last == "T: retry 100")
        #expect(trace.contains("S: DISCONNECTED:WILL-RETRY"))
        #expect(Self.nextCause(harness) == "\(Self.prefix(forced)).reqerr.20")
    }

    @Test(arguments: [(11, 21), (65, 65), (67, 67)])
    func fatalRepliesDisconnect(sent: Int, reported: Int) {
        let harness = SessionHarness.bound(.httpPolling)
        harness.subscribe(1, item: "i")
        harness.receive("REQERR,1,\(sent),no", on: harness.control)
        #expect(harness.takeConversation().contains("error \(reported) no"))
        #expect(harness.status == .disconnected)
    }

    @Test func otherRepliesGoToTheirRequest() {
        let harness = SessionHarness.bound(.wsStreaming)
        harness.subscribe(1, item: "i")
        harness.receive("REQERR,1,21,bad group")
        #expect(harness.takeConversation().last == "sub1 failed 21")
        #expect(harness.status == .connectedWSStreaming)
    }

    @Test(arguments: ["CONOK,sid", "LOOP,x", "REQERR,1,x,y", "U,x,1,y", "MSGDONE,a"])
    func unparsableLineEndsTheSession(line: String) {
        let harness = SessionHarness.streamingOnSocket()
        harness.receive(line)
        let trace = harness.takeConversation()
        #expect(trace[0].hasPrefix("note "))
        #expect(
            trace[1...4].elementsEqual([
                "> control|LS_reqId=1&LS_op=destroy&LS_close_socket=true&LS_cause=api", "close", "S: DISCONNECTED",
                trace[4],
            ])
        )
        #expect(trace[4].hasPrefix("error 61 "))
    }

    @Test func impossibleUpdateEndsTheSession() {
        let harness = SessionHarness.streamingOnSocket()
        harness.subscribe(1, item: "i")
        harness.receive("SUBOK,1,1,1", "U,1,1,^Tb")
        #expect(harness.takeConversation().contains { $0.hasPrefix("error 61 ") })
        #expect(harness.status == .disconnected)
    }

    @Test func theReasonOfTheEndIsReportedToAllListeners() throws {
        let harness = SessionHarness.bound(.httpStreaming)
        harness.receive("LOOP,x")
        let error = try #require(harness.takeConversation().first { $0.hasPrefix("error 61 ") })
        #expect(harness.legacyEvents.last == .badData(reason: String(error.dropFirst("error 61 ".count))))
    }

    @Test func unknownAndEmptyLinesAreIgnored() {
        let harness = SessionHarness.streamingOnSocket()
        harness.receive("", "FOOBAR,1", "REQOK", "PROBE")
        #expect(harness.takeTrace() == [])
    }

    @Test func linesOfSupersededConnectionsAreIgnored() {
        let harness = SessionHarness.streamingOnSocket()
        let old = harness.stream
        harness.receive("LOOP,0")
        _ = harness.takeTrace()
        harness.receive("END,31,x", on: old)
        harness.receive("garbage,,,", on: old)
        harness.close(old, .failed(reason: "late"))
        #expect(harness.takeTrace() == [])
        #expect(harness.status == .connectedWSStreaming)
    }
}

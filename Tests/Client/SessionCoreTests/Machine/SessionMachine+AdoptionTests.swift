import SessionCore
import Testing

/// Sessions that pass from one process to another.
@Suite struct SessionMachineAdoptionTests {
    private static func table(_ mode: SubscriptionMode, _ events: [SubscriptionEvent]) -> ValueTable {
        let fields = mode == .command ? ["key", "command", "f"] : ["f", "g"]
        var table = ValueTable(
            properties: SubscriptionProperties(mode: mode, items: .list(["i"]), fields: .list(fields))
        )
        let positions = mode == .command ? (1, 2) : nil
        table.apply(
            .subscribed(
                itemCount: 1,
                fieldCount: fields.count,
                keyPosition: positions?.0,
                commandPosition: positions?.1
            )
        )
        for event in events { table.apply(event) }
        return table
    }

    private static func update(_ values: [String?], isCommand: Bool = false) -> SubscriptionEvent {
        let fields = isCommand ? ["key", "command", "f"] : ["f", "g"]
        let layout = SubscriptionLayout(
            itemNames: ["i"],
            fieldNames: fields,
            fieldCount: fields.count,
            keyPosition: isCommand ? 1 : nil,
            commandPosition: isCommand ? 2 : nil
        )
        return .update(
            ItemUpdate(
                layout: layout,
                itemPos: 1,
                isSnapshot: false,
                values: values,
                changed: FieldSet(all: values.count)
            )
            .made(from: isCommand ? values : nil)
        )
    }

    /// A machine that adopts a session with one subscription after 7 data notifications.
    private static func adopting(
        _ mode: SubscriptionMode = .raw,
        after events: [SubscriptionEvent] = [update(["a", "x"])],
        address: String = "http://server"
    ) -> SessionHarness {
        let harness = SessionHarness(configuration: { $0.numbersNotifications = true })
        harness.adopt("sid", address: address, processed: 7, number: 3, table(mode, events))
        return harness
    }

    /// The numbers come from another process.
    @Test(arguments: [(.max, 1 << 62), (.min, 0)] as [(Int, Int)])
    func extremeNumbersAreBounded(number: Int, bound: Int) {
        let harness = SessionHarness()
        harness.adopt("sid", address: "http://server", processed: number, number: number, Self.table(.raw, []))
        #expect(harness.takeConversation().last?.contains("LS_recovery_from=\(bound)&") == true)
        harness.receive("CONOK,sid,70000,0,*", "PROG,\(bound)", "U,3,1,b|", "LOOP,0")
        #expect(harness.status == .disconnectedTryingRecovery)
    }

    @Test func sessionIsRecoveredFromTheLastKnownNotification() {
        let harness = Self.adopting()
        #expect(
            harness.takeConversation() == [
                "#7", "P: sessionId(Optional(\"sid\"))", "S: DISCONNECTED:TRYING-RECOVERY",
                "POST bind_session LS_session=sid&LS_recovery_from=7&LS_polling=true&LS_polling_millis=0&LS_idle_millis=0&LS_cause=ws.error",
            ]
        )
        harness.receive("CONOK,sid,70000,0,*", "PROG,7", "U,3,1,b|", "LOOP,0")
        #expect(harness.takeConversation() == ["#8", "sub1 update b", "release", "open ws http://server"])
        harness.open("WSOK", "CONOK,sid,70000,5000,*", "U,3,1,|y")
        #expect(harness.status == .connectedWSStreaming)
        #expect(harness.takeConversation().suffix(2) == ["#9", "sub1 update b"])
    }

    @Test func notificationsBeforeThoseKnownAreSkipped() {
        let harness = Self.adopting()
        _ = harness.takeTrace()
        harness.receive("CONOK,sid,70000,0,*", "PROG,5", "U,3,1,z|z", "U,3,1,a|x", "U,3,1,c|")
        #expect(harness.takeConversation() == ["#8", "sub1 update c"])
    }

    @Test func addressOfTheSessionIsUsed() {
        let harness = Self.adopting(address: "http://other")
        #expect(harness.takeRequests()[0].hasPrefix("POST http://other bind_session"))
    }

    @Test func addressThatIsNotAllowedIsReplacedByTheServerAddress() {
        let harness = SessionHarness(configuration: {
            $0.allowedAddresses = AddressAllowList([.init(host: "server", port: nil)])
        })
        harness.adopt("sid", address: "http://other", processed: 7, number: 3, Self.table(.raw, []))
        #expect(harness.takeRequests()[0].hasPrefix("POST bind_session"))
    }

    @Test(arguments: [4, 20])
    func refusedSessionIsReplacedByANewOne(_ code: Int) {
        let harness = Self.adopting()
        _ = harness.takeTrace()
        harness.receive("CONERR,\(code),no")
        #expect(
            harness.takeConversation() == [
                "close", "S: DISCONNECTED:WILL-RETRY", "P: sessionId(nil)", "sub1 unsubscribed",
            ]
        )
        harness.advance(4000)
        harness.open("WSOK", "CONOK,new,70000,5000,*", "SUBOK,3,1,2", "U,3,1,k|l")
        #expect(harness.takeRequests().last?.contains("LS_subId=3") == true)
        #expect(harness.events.suffix(2).map { "\($0)".contains("subscribed") } == [true, false])
    }

    @Test func rowsOfKeysContinue() {
        let rows = [["k1", "ADD", "a"], ["k2", "ADD", "b"]].map { Self.update($0, isCommand: true) }
        let harness = Self.adopting(.command, after: rows + [.endOfSnapshot(itemPos: 1)])
        // The fields that are not sent are those of the last row, k2.
        harness.receive("CONOK,sid,70000,0,*", "PROG,7", "U,3,1,k1|UPDATE|", "U,3,1,k2|DELETE|", "U,3,1,k3|ADD|c")
        let updates = harness.events.compactMap { event -> [String?]? in
            if case .subscription(_, .update(let update)) = event { update.values } else { nil }
        }
        #expect(updates == [["k1", "UPDATE", "b"], ["k2", "DELETE", nil], ["k3", "ADD", "c"]])
    }

    @Test func newSubscriptionsGetNumbersThatTheOtherProcessHasNotUsed() {
        let harness = Self.adopting()
        harness.subscribe(2, item: "j")
        harness.receive("CONOK,sid,70000,0,*", "PROG,7", "LOOP,0")
        harness.open("WSOK", "CONOK,sid,70000,5000,*")
        #expect(harness.takeRequests().last?.contains("LS_subId=10004") == true)
    }

    @Test func abandonedSessionIsLeftWithoutAWord() {
        let harness = SessionHarness.streamingOnSocket()
        harness.subscribe(1, item: "i")
        harness.receive("SUBOK,1,1,1")
        _ = harness.takeTrace()
        harness.abandon()
        #expect(
            harness.takeConversation() == [
                "close", "S: DISCONNECTED", "P: sessionId(nil)", "sub1 unsubscribed",
            ]
        )
        harness.connect()
        harness.open()
        #expect(harness.takeRequests().last?.contains("LS_old_session") == false)
    }

    @Test func notificationsOfANewSessionAreNumberedFromOne() {
        let harness = SessionHarness(configuration: { $0.numbersNotifications = true })
        harness.connect()
        harness.open()
        harness.subscribe(1, item: "i")
        harness.receive("WSOK", "CONOK,sid,70000,5000,*", "SUBOK,1,1,1", "PROBE", "U,1,1,a")
        #expect(harness.takeTrace().filter { $0.hasPrefix("#") } == ["#0", "#1", "#2"])
    }
}

internal import TestSupport
internal import Testing

@testable internal import TLCP

func notification(_ line: String) throws(TLCPError) -> ServerNotification? {
    try ServerNotification(parsing: Array(line.utf8)[...])
}

struct ServerNotificationTests {
    /// Every tag, with a line in the form that both ends write.
    static let pairs: [(String, ServerNotification)] = [
        (
            "CONOK,S1,50000,5000,*",
            .conOK(sessionID: SessionID("S1"), requestLimit: 50000, keepaliveMillis: 5000, controlLink: nil)
        ),
        (
            "CONOK,S1,50000,0,node3.example.com:8080",
            .conOK(
                sessionID: SessionID("S1"),
                requestLimit: 50000,
                keepaliveMillis: 0,
                controlLink: "node3.example.com:8080"
            )
        ),
        (
            "CONERR,2,Requested Adapter Set not available",
            .conErr(code: 2, message: "Requested Adapter Set not available")
        ),
        ("CONERR,-10,Account locked%2C call support", .conErr(code: -10, message: "Account locked, call support")),
        ("REQOK,12", .reqOK(RequestID(12))),
        ("REQOK", .reqOK(nil)),
        (
            "REQERR,7,-3,Not allowed%2C retry 100%25 later",
            .reqErr(RequestID(7), code: -3, message: "Not allowed, retry 100% later")
        ),
        ("ERROR,68,Internal error", .error(code: 68, message: "Internal error")),
        ("WSOK", .wsOK),
        ("SERVNAME,Caffè server", .servName("Caffè server")),
        ("CLIENTIP,::1", .clientIP("::1")),
        ("CONS,40.0", .cons(.limited(40))),
        ("CONS,unlimited", .cons(.unlimited)),
        ("CONS,unmanaged", .cons(.unmanaged)),
        ("NOOP,sending placeholder data", .noop("sending placeholder data")),
        ("PROBE", .probe),
        ("SYNC,40", .sync(seconds: 40)),
        ("PROG,318", .prog(318)),
        ("LOOP,0", .loop(delayMillis: 0)),
        ("END,31,Destroy invoked by client", .end(code: 31, message: "Destroy invoked by client")),
        ("END,-5,shift over", .end(code: -5, message: "shift over")),
        ("U,1,2,Zeta, Inc.|7.5", .update(SubscriptionID(1), item: 2, fields: FieldList("Zeta, Inc.|7.5"))),
        ("U,1,1,", .update(SubscriptionID(1), item: 1, fields: FieldList(""))),
        ("SUBOK,7,2,5", .subOK(SubscriptionID(7), items: 2, fields: 5)),
        (
            "SUBCMD,8,1,6,1,2",
            .subCmd(SubscriptionID(8), items: 1, fields: 6, keyPosition: 1, commandPosition: 2)
        ),
        ("UNSUB,7", .unsub(SubscriptionID(7))),
        ("EOS,8,1", .eos(SubscriptionID(8), item: 1)),
        ("CS,8,1", .cs(SubscriptionID(8), item: 1)),
        ("OV,7,2,14", .ov(SubscriptionID(7), item: 2, lost: 14)),
        ("CONF,7,2.5,filtered", .conf(SubscriptionID(7), .limited(2.5), isFiltered: true)),
        ("CONF,7,unlimited,unfiltered", .conf(SubscriptionID(7), .unlimited, isFiltered: false)),
        ("MSGDONE,*,12,", .msgDone(sequence: nil, progressive: 12, response: "")),
        ("MSGDONE,chat,1,ok%2C done", .msgDone(sequence: "chat", progressive: 1, response: "ok, done")),
        ("MSGFAIL,q,3,39,2", .msgFail(sequence: "q", progressive: 3, code: 39, message: "2")),
        ("MPNREG,dev1,ADAPTER", .mpnReg(deviceID: "dev1", adapter: "ADAPTER")),
        ("MPNZERO,dev1", .mpnZero(deviceID: "dev1")),
        ("MPNOK,3,push1", .mpnOK(SubscriptionID(3), mpnSubscriptionID: "push1")),
        ("MPNCONF,push1", .mpnConf(mpnSubscriptionID: "push1")),
        ("MPNDEL,push1", .mpnDel(mpnSubscriptionID: "push1")),
    ]

    private static func tag(of line: String) -> String { String(line.prefix { $0 != "," }) }

    @Test(arguments: pairs)
    func parsesAndEncodesEveryTag(line: String, expected: ServerNotification) throws {
        #expect(try notification(line) == expected)
        #expect(String(decoding: expected.encoded, as: UTF8.self) == line + "\r\n")
    }

    @Test func everyTagIsCovered() {
        #expect(Set(Self.pairs.map { Self.tag(of: $0.0) }) == Set(Tag.allCases.map(\.rawValue)))
    }

    @Test func rawCommasBelongToTheLastArgument() throws {
        #expect(
            try notification("MSGDONE,chat,1,ok, done")
                == .msgDone(sequence: "chat", progressive: 1, response: "ok, done")
        )
        #expect(try notification("CONERR,1,a,b,,c") == .conErr(code: 1, message: "a,b,,c"))
    }

    @Test func toleratesWhatServersAreKnownToWrite() throws {
        #expect(try notification("SERVNAME,Caff%C3%A8") == .servName("Caffè"))
        #expect(try notification("SERVNAME,100% up") == .servName("100% up"))
        #expect(try notification("CLIENTIP,fe80::1%eth0") == .clientIP("fe80::1%eth0"))
        #expect(try notification("CONS,64") == .cons(.limited(64)))
        #expect(try notification("MPNCONF,push1,") == .mpnConf(mpnSubscriptionID: "push1"))
        #expect(try notification("NOOP") == .noop(""))
        #expect(try notification("END,31,1+1=2") == .end(code: 31, message: "1+1=2"))
    }

    /// Java, for instance, writes numbers so. An error would end the session.
    @Test func limitsMayHaveAnExponent() throws {
        #expect(
            try notification("CONF,7,5.0E-4,filtered") == .conf(SubscriptionID(7), .limited(0.0005), isFiltered: true)
        )
        #expect(try notification("CONF,7,1e+3,filtered") == .conf(SubscriptionID(7), .limited(1000), isFiltered: true))
        #expect(try notification("CONS,1.0E7") == .cons(.limited(10_000_000)))
    }

    @Test func longTextsForPeopleAreCutBetweenCharacters() throws {
        let long = String(repeating: "x", count: 4095)
        #expect(try notification("END,8,\(long)yz") == .end(code: 8, message: long + "y"))
        #expect(try notification("REQERR,7,17,\(long)é") == .reqErr(RequestID("7"), code: 17, message: long))
        #expect(try notification("CONERR,1,\(long)y") == .conErr(code: 1, message: long + "y"))
        #expect(try notification("SERVNAME,\(long)yz") == .servName(long + "y"))
    }

    @Test func longSessionIDsAndControlLinksAreMalformed() {
        let long = String(repeating: "x", count: 4097)
        for line in ["CONOK,\(long),50000,5000,*", "CONOK,S1,50000,5000,\(long)"] {
            let error = #expect(throws: TLCPError.self) { try notification(line) }
            guard case .malformedArgument = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test(arguments: ["", "FOOBAR,1,2", "u,1,1,a", "UX,1,1,a", "PROBEX", "conok,a", ",", "CONOKS,1"])
    func ignoresEmptyLinesAndUnknownTags(line: String) throws {
        #expect(try notification(line) == nil)
    }

    @Test(arguments: [
        "CONOK,S1,50000,5000", "CONERR", "REQERR,7", "ERROR", "SERVNAME", "CONS", "SYNC", "PROG", "LOOP", "END",
        "U,1,1", "U,1", "U", "SUBOK,1,2", "SUBCMD,1,2,3,4", "UNSUB", "EOS,1", "CS,1", "OV,1,2", "CONF,1",
        "MSGDONE,*", "MSGFAIL,*,12", "MPNREG,a", "MPNZERO", "MPNOK,1", "MPNCONF", "MPNDEL",
    ])
    func missingArgumentIsAnError(line: String) {
        let error = #expect(throws: TLCPError.self) { try notification(line) }
        guard case .missingArgument = error else {
            Issue.record("\(line): \(String(describing: error))")
            return
        }
    }

    @Test func argumentsThatOlderServersLeaveOutAreNotMissed() throws {
        #expect(try notification("MSGDONE,*,12") == .msgDone(sequence: nil, progressive: 12, response: ""))
        #expect(try notification("CONF,1,2.5") == .conf(SubscriptionID(1), .limited(2.5), isFiltered: true))
    }

    /// The code says what follows: 61 instead would end for good what may be tried again.
    @Test func codeWithoutAMessageKeepsItsMeaning() throws {
        #expect(try notification("END,48") == .end(code: 48, message: ""))
        #expect(try notification("CONERR,4") == .conErr(code: 4, message: ""))
        #expect(try notification("REQERR,7,20") == .reqErr(RequestID("7"), code: 20, message: ""))
        #expect(try notification("ERROR,68") == .error(code: 68, message: ""))
        let failure = ServerNotification.msgFail(sequence: "q", progressive: 3, code: 39, message: "")
        #expect(try notification("MSGFAIL,q,3,39") == failure)
    }

    @Test(arguments: [
        "U,x,1,a", "U,1,x,a", "U,,1,a", "U,0,1,a", "U,1,0,a", "U,-1,1,a", "U,99999999999999999999,1,a", "U,1 ,1,a",
        "SUBOK,1,x,2", "SUBOK,1,2,", "CONF,1,1e,filtered", "CONF,1,inf,filtered", "CONS,", "CONS,.5", "CONS,nan",
        "PROG,-1", "LOOP,abc", "END,x,message", "CONOK,S1,many,5000,*", "MSGFAIL,*,1,-,x", "EOS,1,0",
    ])
    func malformedNumberIsAnError(line: String) {
        let error = #expect(throws: TLCPError.self) { try notification(line) }
        guard case .malformedArgument = error else {
            Issue.record("\(line): \(String(describing: error))")
            return
        }
    }

    @Test func malformedMessageIsTakenAsItIs() throws {
        #expect(try notification("END,48,100%") == .end(code: 48, message: "100%"))
        #expect(try notification("CONERR,7,%G1%20") == .conErr(code: 7, message: "%G1%20"))
        #expect(try notification("REQERR,7,20,%C3") == .reqErr(RequestID("7"), code: 20, message: "%C3"))
    }

    @Test(arguments: ["MSGDONE,q,1,100%", "MSGDONE,q,1,%G1", "REQERR,%2,1,x", "CONOK,%%,50000,5000,*"])
    func malformedEscapeIsAnError(line: String) {
        #expect(throws: TLCPError.malformedEscape) { try notification(line) }
    }

    @Test func bytesThatAreNotUTF8AreAnError() {
        #expect(throws: TLCPError.invalidUTF8) { try notification("MSGDONE,q,1,%C3") }
        #expect(throws: TLCPError.invalidUTF8) {
            try ServerNotification(parsing: (Array("MSGDONE,q,1,".utf8) + [0xFF])[...])
        }
    }

    @Test func dataNotificationsAreThoseThatCountForRecovery() {
        let data = Self.pairs.filter(\.1.isDataNotification).map { Self.tag(of: $0.0) }
        let expected = [
            "U", "SUBOK", "SUBCMD", "UNSUB", "EOS", "CS", "OV", "CONF", "MSGDONE", "MSGFAIL", "MPNREG", "MPNZERO",
            "MPNOK", "MPNCONF", "MPNDEL",
        ]
        #expect(Set(data) == Set(expected))
    }

    @Test func argumentsAreEscapedSoThatTheyComeBack() throws {
        let message = "a,b%c\r\nd\u{1}é😀|#"
        let line = ServerNotification.end(code: 1, message: message).encoded
        #expect(String(decoding: line, as: UTF8.self) == "END,1,a%2Cb%25c%0D%0Ad%01é😀|#\r\n")
        #expect(try ServerNotification(parsing: line.dropLast(2)) == .end(code: 1, message: message))
    }

    @Test func randomLinesNeverTrap() {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<20_000 {
            let tag = Tag.allCases.randomElement(using: &generator)?.rawValue ?? ""
            let line = Array(tag.utf8) + generator.bytes(from: ",,,0123456789-%C3A8*.|", upTo: 24)
            guard let parsed = try? ServerNotification(parsing: line[...]) else { continue }
            let again = parsed.encoded
            #expect((try? ServerNotification(parsing: again.dropLast(2))) == parsed, "seed \(seed)")
        }
    }
}

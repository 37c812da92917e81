internal import DemoServer
internal import Testing

struct FaultScriptTests {
    @Test(arguments: [
        ("drop", Fault(.drop)), ("drop at=data:5 times=always", Fault(.drop, at: .data(5), times: .max)),
        (
            "refuse code=7 text=Too%20many at=create skip=2",
            Fault(.refuse(code: 7, message: "Too many"), at: .request(.create), skip: 2)
        ),
        ("mute ms=800", Fault(.mute(.milliseconds(800)))),
        ("stall ms=1 at=streaming", Fault(.stall(.milliseconds(1)), at: .request(.streaming))),
        ("half-open", Fault(.halfOpen)), ("cut-line at=data:1", Fault(.cutLine(), at: .data(1))),
        ("cut-line bytes=0", Fault(.cutLine(after: 0))),
        ("loop ms=1", Fault(.loop(delayMilliseconds: 1))), ("end code=48", Fault(.end(code: 48, message: ""))),
        ("error code=68 at=add", Fault(.error(code: 68, message: ""), at: .request(.add))),
        ("status code=503", Fault(.status(503))),
        ("ignore at=heartbeat", Fault(.ignore, at: .request(.heartbeat))), ("lose-answer", Fault(.loseAnswer)),
        ("delay ms=5 at=wsok", Fault(.delay(.milliseconds(5)), at: .request(.wsok))),
        ("duplicate-answer", Fault(.duplicateAnswer)),
        ("late-answers", Fault(.lateAnswers)), ("hold-stream", Fault(.holdStream)),
        ("wrong-counts fields=-1", Fault(.wrongCounts(items: 0, fields: -1))), ("progress by=-2", Fault(.progress(-2))),
        ("refuse-recovery times=3", Fault(.refuseRecovery, times: 3)),
        ("control-link address=h:1", Fault(.controlLink("h:1"))),
        ("content-length bytes=5000", Fault(.contentLength(5000))), ("split bytes=3", Fault(.split(maxLength: 3))),
        ("one-line-per-write", Fault(.oneLinePerWrite)), ("inject line=A,1 line=", Fault(.inject(["A,1", ""]))),
        ("repeat-data", Fault(.repeatData)), ("skip-data at=data:2", Fault(.skipData, at: .data(2))),
        ("client-address address=::1", Fault(.clientAddress("::1"))), ("raw-commas", Fault(.rawCommas)),
    ])
    func everyEffectHasAName(script: String, fault: Fault) throws {
        #expect(try FaultScript.parse(script) == [fault])
    }

    @Test func scriptsHaveLinesCommentsAndSemicolons() throws {
        let faults = try FaultScript.parse("# nothing\r\n drop ; half-open\n\nsplit bytes=1 # small\n")
        #expect(faults == [Fault(.drop), Fault(.halfOpen), Fault(.split(maxLength: 1))])
    }

    @Test(arguments: [
        "explode", "mute", "mute ms=x", "drop at=dawn", "drop at=data:0", "drop at", "status code=%zz",
        "end code=99999999999999999999",
        "mute ms=-9223372036854775808", "mute ms=-1", "drop code=5", "drop at=now ats=now", "drop times=0",
        "drop skip=-1",
        "status code=100", "cut-line bytes=-1", "split bytes=0", "inject",
    ])
    func mistakesAreNamed(script: String) {
        #expect(throws: FaultScriptError.self) { try FaultScript.parse(script) }
    }

    @Test func manualNamesEveryEffectAndEveryRequest() {
        let words = Set(
            FaultScript.manual.split { $0 == " " || $0.isNewline || $0 == ";" || $0 == "." }.map(String.init)
        )
        for request in FaultRequest.allCases { #expect(words.contains(request.rawValue)) }
        let effects = FaultScript.manual.split(separator: "\n").filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }
            .compactMap { $0.split(separator: " ").first.map(String.init) }
            .filter { !["at=", "skip=N", "times=N"].contains($0) }
        #expect(effects.count == 28)
        let arguments = "code=500 ms=1 bytes=9 by=1 items=1 fields=1 address=a line=l text=t".split(separator: " ")
        for effect in effects {
            // Each effect with some of its arguments.
            let line = FaultScript.manual.split(separator: "\n").first { $0.hasPrefix("  \(effect) ") } ?? ""
            let names = line.split { $0 == " " || $0 == "[" || $0 == "]" }.filter { $0.contains("=") }
                .compactMap { $0.split(separator: "=").first }
            let wanted = arguments.filter { names.contains($0.prefix { $0 != "=" }) }
            #expect(throws: Never.self) { try FaultScript.parse("\(effect) \(wanted.joined(separator: " "))") }
        }
    }

    @Test func faultsPassStrikeAndAreUsedUp() {
        var plan = FaultPlan()
        plan.install(Fault(.drop, at: .data(2), skip: 1, times: 2))
        plan.install(Fault(.halfOpen, at: .data(2)))
        #expect(plan.effects(at: .data(1)).isEmpty)
        #expect(plan.effects(at: .data(2)) == [.halfOpen])
        #expect(plan.effects(at: .data(2)) == [.drop])
        #expect(plan.effects(at: .data(2)) == [.drop])
        #expect(plan.isEmpty)
    }
}

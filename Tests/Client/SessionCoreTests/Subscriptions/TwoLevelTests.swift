internal import SessionCore
internal import TLCP
internal import Testing

/// Keys with a second-level subscription each.
struct TwoLevelTests {
    private let token = StoreFixture.token

    /// Key `item1` of item 1, whose second level (subscription 2) is requested, announced and has data as configured.
    private static func fixture(announced: Bool = true, data: Bool = true) throws -> StoreFixture {
        var fixture = try StoreFixture.subscribed(.twoLevel())
        _ = try fixture.receive("U,1,1,a|b|item1|ADD")
        _ = fixture.send()
        if announced { _ = try fixture.receive("SUBOK,2,1,2") }
        if data { _ = try fixture.receive("U,2,1,c|d") }
        return fixture
    }

    @Test func traceOfTwoLevelsRuns() throws {
        var fixture = StoreFixture()
        _ = fixture.store.subscribe(token, .twoLevel())
        #expect(
            fixture.send() == [
                "LS_reqId=1&LS_op=add&LS_subId=1&LS_mode=COMMAND&LS_group=i1%20i2&LS_schema=f1%20f2%20key%20command"
                    + "&LS_snapshot=false&LS_ack=false"
            ]
        )
        #expect(try fixture.receive("SUBCMD,1,2,4,3,4").brief == ["subscribed 2 4 3 4"])
        #expect(try fixture.receive("U,1,1,a|b|item1|ADD").brief == ["1 a|b|item1|ADD {1 2 3 4}", ">"])
        #expect(
            fixture.send() == [
                "LS_reqId=2&LS_op=add&LS_subId=2&LS_mode=MERGE&LS_group=item1&LS_schema=f5%20f6"
                    + "&LS_data_adapter=adapter2&LS_snapshot=true&LS_ack=false"
            ]
        )
        #expect(try fixture.receive("SUBOK,2,1,2") == [])
        let effects = try fixture.receive("U,2,1,c|d", "U,1,1,A|||UPDATE", "U,2,1,C|", "U,1,1,|||DELETE")
        #expect(
            effects.brief == [
                "1* a|b|item1|UPDATE|c|d {4 5 6}", "1 A|b|item1|UPDATE|c|d {1}", "1 A|b|item1|UPDATE|C|d {5}", ">",
                "1 #|#|item1|DELETE|#|# {1 2 4 5 6}",
            ]
        )
        #expect(fixture.send() == ["LS_reqId=3&LS_subId=2&LS_op=delete&LS_ack=false"])
    }

    @Test func differenceFromATooLargeValueEndsItsLevel() throws {
        var fixture = try Self.fixture()
        let value = String(repeating: "x", count: ItemRow.largestDiffBase + 1)
        let message = "field 1: a difference from a value that is too large for differences"
        _ = try fixture.receive("U,2,1,\(value)|d")
        #expect(try fixture.receive("U,2,1,^Ta|").brief == ["failed 61 \(message) at item1", ">"])
        #expect(fixture.send() == ["LS_reqId=3&LS_subId=2&LS_op=delete&LS_ack=false"])
        #expect(try fixture.receive("UNSUB,2", "U,1,1,\(value)|b|item2|ADD").count == 2)
        _ = fixture.send()
        _ = try fixture.receive("SUBOK,3,1,2")
        #expect(try fixture.receive("U,1,1,^Ta|||UPDATE").brief == ["failed 61 \(message)", ">"])
        #expect(
            fixture.send() == [
                "LS_reqId=5&LS_subId=1&LS_op=delete&LS_ack=false", "LS_reqId=6&LS_subId=3&LS_op=delete&LS_ack=false",
            ]
        )
    }

    /// The server causes a delete with each key that goes, and answers none of them.
    @Test func deletesWithoutAnAnswerAreBounded() throws {
        var fixture = try StoreFixture.subscribed(.twoLevel())
        for cycle in 1...SubscriptionStore.maxUnanswered + 1 {
            _ = try fixture.receive("U,1,1,a|b|item1|ADD")
            _ = fixture.send()
            _ = fixture.accept(2 * cycle)
            _ = try fixture.receive("U,1,1,|||DELETE")
            #expect(fixture.send() == ["LS_reqId=\(2 * cycle + 1)&LS_subId=\(cycle + 1)&LS_op=delete&LS_ack=false"])
        }
        let last = SubscriptionStore.maxUnanswered + 2
        #expect(try fixture.receive("U,\(last - 1),1,c|d") == [], "its delete is awaited")
        #expect(try fixture.receive("U,\(last),1,c|d").brief == [">"], "it is not known any more")
        #expect(fixture.accept(2 * last - 1) == nil)
    }

    // MARK: - First level

    @Test func earlyDeleteOpensNothing() throws {
        var fixture = try StoreFixture.subscribed(.twoLevel())
        #expect(try fixture.receive("U,1,1,a|b|item1|DELETE").brief == ["1 #|#|item1|DELETE {1 2 3 4}"])
        #expect(fixture.send() == [])
    }

    @Test(arguments: ["$", "a b", "123"])
    func keyThatIsNoItemNameLivesOnTheFirstLevel(key: String) throws {
        var fixture = try StoreFixture.subscribed(.twoLevel())
        let shown = key == "$" ? "" : key
        #expect(
            try fixture.receive("U,1,1,a|b|\(key)|ADD").brief == [
                "1 a|b|\(key)|ADD {1 2 3 4}",
                "failed 14 The received key value is not a valid name for an Item at \(shown)",
            ]
        )
        #expect(try fixture.receive("U,1,1,A|||UPDATE").brief == ["1 A|b|\(key)|UPDATE {1 4}"])
        #expect(try fixture.receive("U,1,1,|||DELETE").brief == ["1 #|#|\(key)|DELETE {1 2 4}"])
        #expect(fixture.send() == [])
    }

    @Test func rowsBeforeSecondLevelDataShowTheFirstLevelOnly() throws {
        var fixture = try Self.fixture(data: false)
        #expect(try fixture.receive("U,1,1,A|||UPDATE").brief == ["1 A|b|item1|UPDATE {1 4}"])
        #expect(try fixture.receive("U,1,1,|||DELETE").brief == [">", "1 #|#|item1|DELETE {1 2 4}"])
        #expect(fixture.send().map { $0.contains("LS_subId=2&LS_op=delete") } == [true])
    }

    @Test func deleteBeforeTheSecondLevelIsAnnouncedSendsNothingButKillsTheZombie() throws {
        var fixture = try Self.fixture(announced: false, data: false)
        #expect(try fixture.receive("U,1,1,|||DELETE").brief == ["1 #|#|item1|DELETE {1 2 4}"])
        #expect(fixture.send() == [])
        #expect(try fixture.receive("SUBOK,2,1,2").brief == [">"])
        #expect(fixture.send().map { $0.hasSuffix("LS_cause=zombie") } == [true])
    }

    @Test func keyThatIsAddedAgainHasASecondLevelOfItsOwn() throws {
        var fixture = try Self.fixture()
        #expect(
            try fixture.receive("U,1,1,|||DELETE", "U,1,1,x|y|item1|ADD").brief
                == [">", "1 #|#|item1|DELETE|#|# {1 2 4 5 6}", "1 x|y|item1|ADD {1 2 3 4}", ">"]
        )
        #expect(fixture.send().map { $0.contains("LS_subId=3&") } == [false, true])
        #expect(
            try fixture.receive("U,2,1,old|", "SUBOK,3,1,2", "U,3,1,n|m").brief == ["1* x|y|item1|UPDATE|n|m {4 5 6}"]
        )
    }

    @Test func sameKeyInTwoItemsHasTwoSecondLevels() throws {
        var fixture = try Self.fixture()
        #expect(try fixture.receive("U,1,2,p|q|item1|ADD").brief == ["2 p|q|item1|ADD {1 2 3 4}", ">"])
        #expect(fixture.send().map { $0.contains("LS_subId=3&LS_mode=MERGE&LS_group=item1&") } == [true])
        #expect(try fixture.receive("SUBOK,3,1,2", "U,3,1,5|6").brief == ["2* p|q|item1|UPDATE|5|6 {4 5 6}"])
    }

    @Test func snapshotFlagIsThatOfTheUpdatedLevel() throws {
        var fixture = try StoreFixture.subscribed(.twoLevel().with { $0.requestedSnapshot = .yes })
        _ = try fixture.receive("U,1,1,a|b|k|ADD")
        _ = fixture.send()
        let effects = try fixture.receive(
            "SUBOK,2,1,2",
            "U,2,1,c|d",
            "U,2,1,e|",
            "U,1,1,A|||UPDATE",
            "EOS,1,1",
            "U,1,1,B|||"
        )
        #expect(
            effects.brief == [
                "1* a|b|k|UPDATE|c|d {4 5 6}", "1 a|b|k|UPDATE|e|d {5}", "1* A|b|k|UPDATE|e|d {1}", "eos 1",
                "1 B|b|k|UPDATE|e|d {1}",
            ]
        )
    }

    // MARK: - Second level

    @Test(arguments: ["REQERR", "SUBOK,2,2,2", "SUBOK,2,1,3"])
    func refusedSecondLevelIsReportedAndTheKeyStays(how: String) throws {
        var fixture = try Self.fixture(announced: false, data: false)
        switch how {
        case "REQERR":
            #expect(fixture.refuse(2, 17, "bad adapter").brief == ["failed 17 bad adapter at item1"])
        case "SUBOK,2,2,2":
            #expect(try fixture.receive(how).brief == ["failed 61 Expected 1 items but got 2 at item1", ">"])
        default:
            #expect(try fixture.receive(how).brief == ["failed 61 Expected 2 fields but got 3 at item1", ">"])
        }
        #expect(fixture.send().count == (how == "REQERR" ? 0 : 1))
        #expect(
            try fixture.receive("U,1,1,A|||UPDATE", "U,1,1,|||DELETE").brief
                == ["1 A|b|item1|UPDATE {1 4}", "1 #|#|item1|DELETE {1 2 4}"]
        )
        #expect(fixture.send() == [])
    }

    @Test func removedSecondLevelKeepsItsValuesAndNeedsNoDelete() throws {
        var fixture = try Self.fixture()
        #expect(try fixture.receive("UNSUB,2") == [])
        #expect(
            try fixture.receive("U,1,1,A|||", "U,1,1,|||DELETE").brief
                == ["1 A|b|item1|UPDATE|c|d {1}", "1 #|#|item1|DELETE|#|# {1 2 4 5 6}"]
        )
        #expect(fixture.send() == [])
    }

    @Test func lostUpdatesOfBothLevelsAreReported() throws {
        var fixture = try Self.fixture()
        #expect(try fixture.receive("OV,1,1,3", "OV,2,1,5").brief == ["lost 3 of 1", "lost 5 at item1"])
    }

    @Test func snapshotEventsOfTheSecondLevelAreNotVisible() throws {
        var fixture = try Self.fixture()
        #expect(try fixture.receive("EOS,2,1", "CS,2,1", "SUBOK,2,1,2") == [])
        #expect(try fixture.receive("U,2,1,|x").brief == ["1 a|b|item1|UPDATE|c|x {6}"])
    }

    @Test func badSecondLevelDeltaClosesTheSession() throws {
        var fixture = try Self.fixture(data: false)
        #expect(try fixture.receive("U,2,1,|d").brief == ["!"])
        #expect(try fixture.receive("U,2,2,c|d").brief == ["!"])
    }

    @Test func patchesOfTheSecondLevelAreShownAtItsPositions() throws {
        var fixture = try Self.fixture(data: false)
        let effects = try fixture.receive("U,2,1,[1]|x", #"U,2,1,^P[{"op":"remove"%2C"path":"/0"}]|"#)
        guard case .notify(_, .update(let update))? = effects.last else {
            Issue.record("no update")
            return
        }
        #expect(update.patches == [5: #"[{"op":"remove","path":"/0"}]"#])
        #expect(update.value(at: 5) == "[]")
    }

    // MARK: - Ends

    @Test func clearedSnapshotUnsubscribesTheSecondLevels() throws {
        var fixture = try Self.fixture()
        #expect(try fixture.receive("CS,1,1").brief == [">", "cs 1"])
        #expect(fixture.send().map { $0.contains("LS_subId=2&LS_op=delete") } == [true])
        #expect(try fixture.receive("U,2,1,x|y") == [])
        #expect(try fixture.receive("U,1,1,^4").brief == ["1 a|b|item1|ADD {1 2 3 4}", ">"])
    }

    @Test func unsubscriptionTakesTheSecondLevelsAlong() throws {
        var fixture = try Self.fixture()
        #expect(fixture.store.unsubscribe(token).brief == ["unsubscribed", ">"])
        #expect(fixture.send().map { $0.contains("LS_op=delete") } == [true, true])
    }

    @Test func removalByTheServerTakesTheSecondLevelsAlong() throws {
        var fixture = try Self.fixture()
        #expect(try fixture.receive("UNSUB,1").brief == [">", "removed"])
        #expect(fixture.send() == ["LS_reqId=3&LS_subId=2&LS_op=delete&LS_ack=false"])
    }

    @Test func newSessionAddsTheFirstLevelAlone() throws {
        var fixture = try Self.fixture()
        #expect(fixture.store.sessionEnded().brief == ["unsubscribed"])
        #expect(fixture.send().map { $0.contains("LS_op=add&LS_subId=1&") } == [true])
        #expect(try fixture.receive("SUBCMD,1,2,4,3,4", "U,1,1,a|b|item1|ADD").brief.last == ">")
        #expect(fixture.send().map { $0.contains("LS_op=add&LS_subId=3&") } == [true])
    }

    @Test func recoveryKeepsBothLevels() throws {
        var fixture = try Self.fixture()
        fixture.store.channelLost()
        #expect(fixture.send() == [])
        #expect(try fixture.receive("U,2,1,C|").brief == ["1 a|b|item1|UPDATE|C|d {5}"])
    }
}

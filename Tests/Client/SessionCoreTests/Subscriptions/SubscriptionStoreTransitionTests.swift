internal import SessionCore
internal import Testing

/// The transitions of one subscription, event by event and state by state.
struct SubscriptionStoreTransitionTests {
    private let token = StoreFixture.token

    // MARK: - Add pending

    @Test func subscribingMakesAnAddDue() {
        var fixture = StoreFixture()
        #expect(fixture.isIdle() == true)
        #expect(fixture.store.subscribe(token, .merge()) == [.requestsWaiting])
        #expect(fixture.isIdle() == false)
        #expect(fixture.send().count == 1)
        #expect(fixture.isIdle() == true)
    }

    @Test func subscribingAnActiveTokenAgainDoesNothing() {
        var fixture = StoreFixture.added()
        #expect(fixture.store.subscribe(token, .merge()) == [])
        #expect(fixture.send() == [])
    }

    @Test func unsubscribingBeforeTheAddIsWrittenSendsNothing() throws {
        var fixture = StoreFixture()
        _ = fixture.store.subscribe(token, .merge())
        #expect(fixture.store.unsubscribe(token) == [])
        #expect(fixture.send() == [])
    }

    @Test func unsubscribingWhileTheAddIsUnansweredSendsNothingAndReportsNothing() throws {
        var fixture = StoreFixture.added()
        #expect(fixture.store.unsubscribe(token) == [])
        #expect(fixture.send() == [])
        #expect(fixture.accept(1) == nil)
    }

    @Test func lateAnnouncementOfAnEarlyUnsubscriptionIsKilledAsZombie() throws {
        var fixture = StoreFixture.added()
        _ = fixture.store.unsubscribe(token)
        #expect(try fixture.receive("SUBOK,1,2,2").brief == [">"])
        #expect(fixture.send() == ["LS_reqId=2&LS_subId=1&LS_op=delete&LS_ack=false&LS_cause=zombie"])
    }

    @Test func refusedAddFailsAndIsForgotten() throws {
        var fixture = StoreFixture.added()
        #expect(fixture.refuse(1, 24, "bad mode").brief == ["failed 24 bad mode"])
        #expect(fixture.send() == [])
        #expect(fixture.store.sessionEnded() == [])
        #expect(fixture.isIdle() == true)
        #expect(fixture.store.subscribe(token, .merge()) == [.requestsWaiting])
    }

    @Test func dataBeforeTheAnnouncementIsIgnored() throws {
        var fixture = StoreFixture.added()
        #expect(try fixture.receive("U,1,1,a|b", "EOS,1,1", "CS,1,1", "OV,1,1,3", "CONF,1,3,filtered") == [])
        _ = fixture.accept(1)
        #expect(try fixture.receive("U,1,1,a|b", "EOS,1,1", "CS,1,1", "OV,1,1,3", "CONF,1,3,filtered") == [])
        #expect(fixture.send() == [])
    }

    @Test(arguments: [false, true])
    func removalByTheServerBeforeTheAnnouncementMakesTheSubscriptionInactive(acknowledged: Bool) throws {
        var fixture = StoreFixture.added()
        if acknowledged { _ = fixture.accept(1) }
        #expect(
            try fixture.receive("UNSUB,1").brief == ["failed 61 Removed by the server before it was active"]
        )
        #expect(fixture.store.sessionEnded() == [])
        #expect(fixture.isIdle() == true)
    }

    // MARK: - Announcement

    @Test(arguments: [false, true])
    func announcementMakesItSubscribed(acknowledged: Bool) throws {
        var fixture = StoreFixture.added()
        if acknowledged { #expect(fixture.accept(1) == []) }
        #expect(try fixture.receive("SUBOK,1,2,2").brief == ["subscribed 2 2"])
        #expect(try fixture.receive("SUBOK,1,2,2") == [])
        #expect(fixture.send() == [])
    }

    @Test func lateAnswerToAnAnnouncedAddIsIgnored() throws {
        var fixture = StoreFixture.added(acknowledged: true)
        _ = try fixture.receive("SUBOK,1,2,2")
        #expect(fixture.refuse(1) == nil)
        #expect(try fixture.receive("U,1,1,a|b").brief == ["1* a|b {1 2}"])
    }

    @Test func commandAnnouncementReportsThePositions() throws {
        var fixture = StoreFixture.added(.command())
        #expect(try fixture.receive("SUBCMD,1,2,4,3,4").brief == ["subscribed 2 4 3 4"])
    }

    @Test(arguments: [false, true])
    func wrongItemCountFailsAndDeletes(acknowledged: Bool) throws {
        var fixture = StoreFixture.added(acknowledged: acknowledged)
        if acknowledged { _ = fixture.accept(1) }
        #expect(try fixture.receive("SUBOK,1,3,9").brief == ["failed 61 Expected 2 items but got 3", ">"])
        #expect(fixture.send() == ["LS_reqId=2&LS_subId=1&LS_op=delete&LS_ack=false"])
        #expect(try fixture.receive("U,1,1,a|b", "SUBOK,1,2,2") == [])
        #expect(try fixture.receive("UNSUB,1") == [])
        #expect(fixture.store.sessionEnded() == [])
    }

    @Test func wrongFieldCountFailsAndDeletes() throws {
        var fixture = StoreFixture.added()
        #expect(try fixture.receive("SUBOK,1,2,3").brief == ["failed 61 Expected 2 fields but got 3", ">"])
        #expect(fixture.refuse(2, 19) == nil)
        #expect(fixture.send().count == 1)
        #expect(fixture.refuse(2, 19) == [])
    }

    @Test func countsOfGroupAndSchemaAreTaken() throws {
        var fixture = StoreFixture.added(SubscriptionProperties(mode: .merge, items: .group("g"), fields: .group("s")))
        #expect(try fixture.receive("SUBOK,1,7,9").brief == ["subscribed 7 9"])
    }

    // MARK: - Subscribed

    @Test func unsubscribingASubscribedOneReportsAtOnceAndDeletes() throws {
        var fixture = try StoreFixture.subscribed()
        #expect(fixture.store.unsubscribe(token).brief == ["unsubscribed", ">"])
        #expect(fixture.store.unsubscribe(token) == [])
        #expect(fixture.send() == ["LS_reqId=2&LS_subId=1&LS_op=delete&LS_ack=false"])
        let ignored = try fixture.receive(
            "U,1,1,a|b",
            "EOS,1,1",
            "CS,1,1",
            "OV,1,1,1",
            "CONF,1,3,filtered",
            "SUBOK,1,2,2"
        )
        #expect(ignored == [])
        #expect(try fixture.receive("UNSUB,1") == [])
        #expect(try fixture.receive("UNSUB,1") == [])
        #expect(fixture.send() == [])
    }

    @Test func unsubscribingAnAcknowledgedOneDeletesWithoutEvent() {
        var fixture = StoreFixture.added(acknowledged: true)
        _ = fixture.accept(1)
        #expect(fixture.store.unsubscribe(token).brief == [">"])
        #expect(fixture.post() == ["LS_reqId=2&LS_subId=1&LS_op=delete"])
        #expect(fixture.accept(2) == [])
        #expect(fixture.store.sessionEnded() == [])
    }

    @Test func refusedDeleteEndsItSilently() throws {
        var fixture = try StoreFixture.subscribed()
        _ = fixture.store.unsubscribe(token)
        _ = fixture.send()
        #expect(fixture.refuse(2, 19) == [])
        #expect(try fixture.receive("U,1,1,a|b").brief == [">"], "it is unknown from now on")
    }

    @Test func removalByTheServerIsFinal() throws {
        var fixture = try StoreFixture.subscribed()
        #expect(try fixture.receive("UNSUB,1").brief == ["removed"])
        #expect(fixture.store.sessionEnded() == [])
        #expect(fixture.isIdle() == true)
    }

    @Test func sameTokenMaySubscribeAgainWhileItsDeleteIsPending() throws {
        var fixture = try StoreFixture.subscribed()
        _ = fixture.store.unsubscribe(token)
        #expect(fixture.store.subscribe(token, .merge()) == [.requestsWaiting])
        #expect(fixture.send().map { $0.contains("LS_subId=2&LS_mode=MERGE") } == [false, true])
        #expect(try fixture.receive("SUBOK,2,2,2", "U,1,1,a|b", "UNSUB,1").brief == ["subscribed 2 2"])
        #expect(try fixture.receive("U,2,1,c|d").brief == ["1* c|d {1 2}"])
    }

    @Test func otherLinesBecomeEvents() throws {
        var fixture = try StoreFixture.subscribed(.plain(.distinct))
        let effects = try fixture.receive(
            "CONF,1,2.5,filtered",
            "CONF,1,2.5,filtered",
            "EOS,1,2",
            "CS,1,1",
            "OV,1,2,14"
        )
        #expect(effects.brief == ["frequency 2.5", "frequency 2.5", "eos 2", "cs 1", "lost 14 of 2"])
        #expect(try fixture.receive("CONF,1,unlimited,unfiltered").brief == ["frequency unlimited"])
    }

    // MARK: - Replays

    @Test func sevenKindsOfLinesReportSevenEventsOnce() throws {
        var fixture = StoreFixture.added(.plain(.distinct))
        let lines = ["SUBOK,1,2,2", "U,1,1,a|b", "EOS,1,1", "CS,1,1", "OV,1,1,2", "CONF,1,3,filtered", "UNSUB,1"]
        let told = try lines.map { try fixture.receive($0).count }
        #expect(told == [1, 1, 1, 1, 1, 1, 1])
        fixture.store.channelLost()
        #expect(fixture.send() == [])
    }

    // MARK: - Ends

    @Test func sessionEndKeepsActiveSubscriptionsAndReportsInCreationOrder() throws {
        var fixture = StoreFixture()
        for number in 1...4 { _ = fixture.store.subscribe(SubscriptionToken(UInt64(number)), .merge()) }
        _ = fixture.send()
        _ = fixture.accept(4)
        _ = try fixture.receive("SUBOK,3,2,2", "SUBOK,1,2,2")
        #expect(fixture.store.sessionEnded().brief == ["unsubscribed", "#3 unsubscribed"])
        #expect(fixture.send().map { $0.prefix(50) }.allSatisfy { $0.contains("LS_op=add") })
        #expect(try fixture.receive("SUBOK,4,2,2", "SUBOK,1,2,2").brief == ["#4 subscribed 2 2", "subscribed 2 2"])
    }

    @Test func addsAfterASessionChangeKeepTheirNumbersAndOrder() throws {
        var fixture = StoreFixture()
        for number in 1...3 { _ = fixture.store.subscribe(SubscriptionToken(UInt64(number)), .merge()) }
        _ = fixture.send()
        _ = try fixture.receive("SUBOK,2,2,2")
        _ = fixture.store.sessionEnded()
        let rest = "&LS_mode=MERGE&LS_group=i1%20i2&LS_schema=f1%20f2&LS_snapshot=true&LS_ack=false"
        #expect(
            fixture.send() == [
                "LS_reqId=4&LS_op=add&LS_subId=1" + rest,
                "LS_reqId=5&LS_op=add&LS_subId=2" + rest,
                "LS_reqId=6&LS_op=add&LS_subId=3" + rest,
            ]
        )
    }

    @Test func deltasOfANewSessionDoNotReferToTheOldOne() throws {
        var fixture = try StoreFixture.subscribed()
        _ = try fixture.receive("U,1,1,a|b")
        _ = fixture.store.sessionEnded()
        _ = fixture.send()
        #expect(try fixture.receive("SUBOK,1,2,2", "U,1,1,|c").brief == ["subscribed 2 2", "!"])
    }

    @Test func deletesAreForgottenAtTheEndOfTheSession() throws {
        var fixture = try StoreFixture.subscribed()
        _ = fixture.store.unsubscribe(token)
        #expect(fixture.store.sessionEnded() == [])
        #expect(fixture.send() == [])
    }

    @Test func lossOfTheChannelChangesNothingForASubscribedOne() throws {
        var fixture = try StoreFixture.subscribed()
        _ = try fixture.receive("U,1,1,a|b")
        fixture.store.channelLost()
        #expect(fixture.send() == [])
        #expect(try fixture.receive("U,1,1,|c").brief == ["1 a|c {2}"])
    }
}

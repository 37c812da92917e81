internal import SessionCore
internal import Testing

/// The transitions of one subscription, event by event and state by state.
struct SubscriptionStoreTransitionTests {
    private let token = StoreBench.token

    // MARK: - Add pending

    @Test func subscribingMakesAnAddDue() {
        var bench = StoreBench()
        #expect(bench.isIdle() == true)
        #expect(bench.store.subscribe(token, .merge()) == [.requestsWaiting])
        #expect(bench.isIdle() == false)
        #expect(bench.send().count == 1)
        #expect(bench.isIdle() == true)
    }

    @Test func subscribingAnActiveTokenAgainDoesNothing() {
        var bench = StoreBench.added()
        #expect(bench.store.subscribe(token, .merge()) == [])
        #expect(bench.send() == [])
    }

    @Test func unsubscribingBeforeTheAddIsWrittenSendsNothing() throws {
        var bench = StoreBench()
        _ = bench.store.subscribe(token, .merge())
        #expect(bench.store.unsubscribe(token) == [])
        #expect(bench.send() == [])
    }

    @Test func unsubscribingWhileTheAddIsUnansweredSendsNothingAndTellsNothing() throws {
        var bench = StoreBench.added()
        #expect(bench.store.unsubscribe(token) == [])
        #expect(bench.send() == [])
        #expect(bench.accept(1) == nil)
    }

    @Test func lateAnnouncementOfAnEarlyUnsubscriptionIsKilledAsZombie() throws {
        var bench = StoreBench.added()
        _ = bench.store.unsubscribe(token)
        #expect(try bench.receive("SUBOK,1,2,2").brief == [">"])
        #expect(bench.send() == ["LS_reqId=2&LS_subId=1&LS_op=delete&LS_ack=false&LS_cause=zombie"])
    }

    @Test func refusedAddFailsAndIsForgotten() throws {
        var bench = StoreBench.added()
        #expect(bench.refuse(1, 24, "bad mode").brief == ["failed 24 bad mode"])
        #expect(bench.send() == [])
        #expect(bench.store.sessionEnded() == [])
        #expect(bench.isIdle() == true)
        #expect(bench.store.subscribe(token, .merge()) == [.requestsWaiting])
    }

    @Test func dataBeforeTheAnnouncementIsIgnored() throws {
        var bench = StoreBench.added()
        #expect(try bench.receive("U,1,1,a|b", "EOS,1,1", "CS,1,1", "OV,1,1,3", "CONF,1,3,filtered") == [])
        _ = bench.accept(1)
        #expect(try bench.receive("U,1,1,a|b", "EOS,1,1", "CS,1,1", "OV,1,1,3", "CONF,1,3,filtered") == [])
        #expect(bench.send() == [])
    }

    @Test(arguments: [false, true])
    func removalByTheServerBeforeTheAnnouncementMakesTheSubscriptionInactive(acknowledged: Bool) throws {
        var bench = StoreBench.added()
        if acknowledged { _ = bench.accept(1) }
        #expect(
            try bench.receive("UNSUB,1").brief == ["failed 61 Removed by the server before it was active"]
        )
        #expect(bench.store.sessionEnded() == [])
        #expect(bench.isIdle() == true)
    }

    // MARK: - Announcement

    @Test(arguments: [false, true])
    func announcementMakesItSubscribed(acknowledged: Bool) throws {
        var bench = StoreBench.added()
        if acknowledged { #expect(bench.accept(1) == []) }
        #expect(try bench.receive("SUBOK,1,2,2").brief == ["subscribed 2 2"])
        #expect(try bench.receive("SUBOK,1,2,2") == [])
        #expect(bench.send() == [])
    }

    @Test func lateAnswerToAnAnnouncedAddIsIgnored() throws {
        var bench = StoreBench.added(acknowledged: true)
        _ = try bench.receive("SUBOK,1,2,2")
        #expect(bench.refuse(1) == nil)
        #expect(try bench.receive("U,1,1,a|b").brief == ["1* a|b {1 2}"])
    }

    @Test func commandAnnouncementTellsThePositions() throws {
        var bench = StoreBench.added(.command())
        #expect(try bench.receive("SUBCMD,1,2,4,3,4").brief == ["subscribed 2 4 3 4"])
    }

    @Test(arguments: [false, true])
    func wrongItemCountFailsAndDeletes(acknowledged: Bool) throws {
        var bench = StoreBench.added(acknowledged: acknowledged)
        if acknowledged { _ = bench.accept(1) }
        #expect(try bench.receive("SUBOK,1,3,9").brief == ["failed 61 Expected 2 items but got 3", ">"])
        #expect(bench.send() == ["LS_reqId=2&LS_subId=1&LS_op=delete&LS_ack=false"])
        #expect(try bench.receive("U,1,1,a|b", "SUBOK,1,2,2") == [])
        #expect(try bench.receive("UNSUB,1") == [])
        #expect(bench.store.sessionEnded() == [])
    }

    @Test func wrongFieldCountFailsAndDeletes() throws {
        var bench = StoreBench.added()
        #expect(try bench.receive("SUBOK,1,2,3").brief == ["failed 61 Expected 2 fields but got 3", ">"])
        #expect(bench.refuse(2, 19) == nil)
        #expect(bench.send().count == 1)
        #expect(bench.refuse(2, 19) == [])
    }

    @Test func countsOfGroupAndSchemaAreTaken() throws {
        var bench = StoreBench.added(SubscriptionProperties(mode: .merge, items: .group("g"), fields: .group("s")))
        #expect(try bench.receive("SUBOK,1,7,9").brief == ["subscribed 7 9"])
    }

    // MARK: - Subscribed

    @Test func unsubscribingASubscribedOneTellsAtOnceAndDeletes() throws {
        var bench = try StoreBench.subscribed()
        #expect(bench.store.unsubscribe(token).brief == ["unsubscribed", ">"])
        #expect(bench.store.unsubscribe(token) == [])
        #expect(bench.send() == ["LS_reqId=2&LS_subId=1&LS_op=delete&LS_ack=false"])
        let ignored = try bench.receive(
            "U,1,1,a|b",
            "EOS,1,1",
            "CS,1,1",
            "OV,1,1,1",
            "CONF,1,3,filtered",
            "SUBOK,1,2,2"
        )
        #expect(ignored == [])
        #expect(try bench.receive("UNSUB,1") == [])
        #expect(try bench.receive("UNSUB,1") == [])
        #expect(bench.send() == [])
    }

    @Test func unsubscribingAnAcknowledgedOneDeletesWithoutEvent() {
        var bench = StoreBench.added(acknowledged: true)
        _ = bench.accept(1)
        #expect(bench.store.unsubscribe(token).brief == [">"])
        #expect(bench.post() == ["LS_reqId=2&LS_subId=1&LS_op=delete"])
        #expect(bench.accept(2) == [])
        #expect(bench.store.sessionEnded() == [])
    }

    @Test func refusedDeleteEndsItSilently() throws {
        var bench = try StoreBench.subscribed()
        _ = bench.store.unsubscribe(token)
        _ = bench.send()
        #expect(bench.refuse(2, 19) == [])
        #expect(try bench.receive("U,1,1,a|b").brief == [">"], "it is unknown from now on")
    }

    @Test func removalByTheServerIsFinal() throws {
        var bench = try StoreBench.subscribed()
        #expect(try bench.receive("UNSUB,1").brief == ["removed"])
        #expect(bench.store.sessionEnded() == [])
        #expect(bench.isIdle() == true)
    }

    @Test func sameTokenMaySubscribeAgainWhileItsDeleteIsPending() throws {
        var bench = try StoreBench.subscribed()
        _ = bench.store.unsubscribe(token)
        #expect(bench.store.subscribe(token, .merge()) == [.requestsWaiting])
        #expect(bench.send().map { $0.contains("LS_subId=2&LS_mode=MERGE") } == [false, true])
        #expect(try bench.receive("SUBOK,2,2,2", "U,1,1,a|b", "UNSUB,1").brief == ["subscribed 2 2"])
        #expect(try bench.receive("U,2,1,c|d").brief == ["1* c|d {1 2}"])
    }

    @Test func otherLinesBecomeEvents() throws {
        var bench = try StoreBench.subscribed(.plain(.distinct))
        let effects = try bench.receive("CONF,1,2.5,filtered", "CONF,1,2.5,filtered", "EOS,1,2", "CS,1,1", "OV,1,2,14")
        #expect(effects.brief == ["frequency 2.5", "frequency 2.5", "eos 2", "cs 1", "lost 14 of 2"])
        #expect(try bench.receive("CONF,1,unlimited,unfiltered").brief == ["frequency unlimited"])
    }

    // MARK: - Replays

    @Test func sevenKindsOfLinesTellSevenEventsOnce() throws {
        var bench = StoreBench.added(.plain(.distinct))
        let lines = ["SUBOK,1,2,2", "U,1,1,a|b", "EOS,1,1", "CS,1,1", "OV,1,1,2", "CONF,1,3,filtered", "UNSUB,1"]
        let told = try lines.map { try bench.receive($0).count }
        #expect(told == [1, 1, 1, 1, 1, 1, 1])
        bench.store.channelLost()
        #expect(bench.send() == [])
    }

    // MARK: - Ends

    @Test func sessionEndKeepsActiveSubscriptionsAndTellsInCreationOrder() throws {
        var bench = StoreBench()
        for number in 1...4 { _ = bench.store.subscribe(SubscriptionToken(UInt64(number)), .merge()) }
        _ = bench.send()
        _ = bench.accept(4)
        _ = try bench.receive("SUBOK,3,2,2", "SUBOK,1,2,2")
        #expect(bench.store.sessionEnded().brief == ["unsubscribed", "#3 unsubscribed"])
        #expect(bench.send().map { $0.prefix(50) }.allSatisfy { $0.contains("LS_op=add") })
        #expect(try bench.receive("SUBOK,4,2,2", "SUBOK,1,2,2").brief == ["#4 subscribed 2 2", "subscribed 2 2"])
    }

    @Test func addsAfterASessionChangeKeepTheirNumbersAndOrder() throws {
        var bench = StoreBench()
        for number in 1...3 { _ = bench.store.subscribe(SubscriptionToken(UInt64(number)), .merge()) }
        _ = bench.send()
        _ = try bench.receive("SUBOK,2,2,2")
        _ = bench.store.sessionEnded()
        let rest = "&LS_mode=MERGE&LS_group=i1%20i2&LS_schema=f1%20f2&LS_snapshot=true&LS_ack=false"
        #expect(
            bench.send() == [
                "LS_reqId=4&LS_op=add&LS_subId=1" + rest,
                "LS_reqId=5&LS_op=add&LS_subId=2" + rest,
                "LS_reqId=6&LS_op=add&LS_subId=3" + rest,
            ]
        )
    }

    @Test func deltasOfANewSessionDoNotReferToTheOldOne() throws {
        var bench = try StoreBench.subscribed()
        _ = try bench.receive("U,1,1,a|b")
        _ = bench.store.sessionEnded()
        _ = bench.send()
        #expect(try bench.receive("SUBOK,1,2,2", "U,1,1,|c").brief == ["subscribed 2 2", "!"])
    }

    @Test func deletesAreForgottenAtTheEndOfTheSession() throws {
        var bench = try StoreBench.subscribed()
        _ = bench.store.unsubscribe(token)
        #expect(bench.store.sessionEnded() == [])
        #expect(bench.send() == [])
    }

    @Test func lossOfTheChannelChangesNothingForASubscribedOne() throws {
        var bench = try StoreBench.subscribed()
        _ = try bench.receive("U,1,1,a|b")
        bench.store.channelLost()
        #expect(bench.send() == [])
        #expect(try bench.receive("U,1,1,|c").brief == ["1 a|c {2}"])
    }
}

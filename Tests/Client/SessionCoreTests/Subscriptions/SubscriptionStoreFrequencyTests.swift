internal import SessionCore
internal import Testing

/// `requestedMaxFrequency` of active subscriptions.
struct SubscriptionStoreFrequencyTests {
    private let token = StoreFixture.token

    @Test func changeWhileSubscribedSendsAReconf() throws {
        var fixture = try StoreFixture.subscribed()
        #expect(fixture.store.changeMaxFrequency(token, .limited(2.5)) == [.requestsWaiting])
        #expect(fixture.send() == ["LS_reqId=2&LS_subId=1&LS_op=reconf&LS_requested_max_frequency=2.5"])
        #expect(fixture.accept(2) == [])
        #expect(fixture.send() == [])
    }

    @Test func reconfThatCannotBeSentIsDroppedUntilTheNextChange() throws {
        var fixture = try StoreFixture.subscribed()
        _ = fixture.store.changeMaxFrequency(token, .limited(2.5))
        #expect(fixture.store.refuseNext(code: 67, message: "") == [])
        #expect(fixture.send() == [])
        #expect(fixture.store.changeMaxFrequency(token, .limited(3)) == [.requestsWaiting])
        #expect(fixture.send() == ["LS_reqId=2&LS_subId=1&LS_op=reconf&LS_requested_max_frequency=3.0"])
    }

    @Test func equalValueSendsNothing() throws {
        var fixture = try StoreFixture.subscribed(.merge().with { $0.requestedMaxFrequency = .limited(2) })
        #expect(fixture.store.changeMaxFrequency(token, .limited(2)) == [])
        _ = fixture.store.changeMaxFrequency(token, .unlimited)
        _ = fixture.send()
        _ = fixture.accept(2)
        #expect(fixture.store.changeMaxFrequency(token, .unlimited) == [])
    }

    @Test func changeDuringAReconfIsSentWhenItIsAnswered() throws {
        var fixture = try StoreFixture.subscribed()
        _ = fixture.store.changeMaxFrequency(token, .limited(1))
        _ = fixture.send()
        #expect(fixture.store.changeMaxFrequency(token, .limited(2)) == [])
        #expect(fixture.send() == [])
        #expect(fixture.accept(2) == [.requestsWaiting])
        #expect(fixture.send() == ["LS_reqId=3&LS_subId=1&LS_op=reconf&LS_requested_max_frequency=2.0"])
    }

    @Test func changeBackDuringAReconfIsSentAsWell() throws {
        var fixture = try StoreFixture.subscribed(.merge().with { $0.requestedMaxFrequency = .limited(1) })
        _ = fixture.store.changeMaxFrequency(token, .limited(2))
        _ = fixture.send()
        _ = fixture.store.changeMaxFrequency(token, .limited(1))
        #expect(fixture.accept(2) == [.requestsWaiting])
    }

    @Test func refusedReconfIsGivenUpSilently() throws {
        var fixture = try StoreFixture.subscribed()
        _ = fixture.store.changeMaxFrequency(token, .limited(1))
        _ = fixture.send()
        #expect(fixture.refuse(2, 13) == [])
        #expect(fixture.send() == [])
        #expect(fixture.store.changeMaxFrequency(token, .limited(1)) == [.requestsWaiting], "asking again tries again")
    }

    @Test func refusedReconfIsFollowedByAChangeMadeMeanwhile() throws {
        var fixture = try StoreFixture.subscribed()
        _ = fixture.store.changeMaxFrequency(token, .limited(1))
        _ = fixture.send()
        _ = fixture.store.changeMaxFrequency(token, .limited(2))
        #expect(fixture.refuse(2) == [.requestsWaiting])
        #expect(fixture.send() == ["LS_reqId=3&LS_subId=1&LS_op=reconf&LS_requested_max_frequency=2.0"])
        #expect(fixture.refuse(3) == [])
        #expect(fixture.send() == [])
    }

    @Test func changeBeforeTheAnnouncementFollowsIt() throws {
        var fixture = StoreFixture.added()
        #expect(fixture.store.changeMaxFrequency(token, .limited(4)) == [])
        fixture.store.channelLost()
        #expect(fixture.send().map { $0.contains("frequency") } == [false], "the add keeps the remembered value")
        #expect(try fixture.receive("SUBOK,1,2,2").brief == ["subscribed 2 2", ">"])
        #expect(fixture.send() == ["LS_reqId=3&LS_subId=1&LS_op=reconf&LS_requested_max_frequency=4.0"])
    }

    @Test func unansweredReconfIsWrittenAgainWithTheLatestValue() throws {
        var fixture = try StoreFixture.subscribed(.merge().with { $0.requestedMaxFrequency = .limited(1) })
        _ = fixture.store.changeMaxFrequency(token, .limited(2))
        _ = fixture.send()
        _ = fixture.store.changeMaxFrequency(token, .limited(1))
        fixture.store.channelLost()
        #expect(fixture.send() == ["LS_reqId=3&LS_subId=1&LS_op=reconf&LS_requested_max_frequency=1.0"])
        #expect(fixture.accept(3) == [])
    }

    @Test func changeThatIsTakenBackBeforeItIsWrittenIsNotSent() throws {
        var fixture = try StoreFixture.subscribed(.merge().with { $0.requestedMaxFrequency = .limited(1) })
        _ = fixture.store.changeMaxFrequency(token, .limited(2))
        _ = fixture.store.changeMaxFrequency(token, .limited(1))
        #expect(fixture.isIdle() == true)
    }

    @Test func endOfTheSessionPutsTheLatestValueIntoTheNextAdd() throws {
        var fixture = try StoreFixture.subscribed()
        _ = fixture.store.changeMaxFrequency(token, .limited(3))
        _ = fixture.store.sessionEnded()
        #expect(fixture.send().map { $0.contains("&LS_requested_max_frequency=3.0&") } == [true])
        #expect(try fixture.receive("SUBOK,1,2,2").brief == ["subscribed 2 2"])
    }

    @Test func unknownTokenIsIgnored() {
        var fixture = StoreFixture()
        #expect(fixture.store.changeMaxFrequency(token, .limited(3)) == [])
    }
}

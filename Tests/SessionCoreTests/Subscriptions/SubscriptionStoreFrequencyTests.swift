internal import SessionCore
internal import Testing

/// `requestedMaxFrequency` on the fly.
struct SubscriptionStoreFrequencyTests {
    private let token = StoreBench.token

    @Test func changeWhileSubscribedSendsAReconf() throws {
        var bench = try StoreBench.subscribed()
        #expect(bench.store.changeMaxFrequency(token, .limited(2.5)) == [.requestsWaiting])
        #expect(bench.send() == ["LS_reqId=2&LS_subId=1&LS_op=reconf&LS_requested_max_frequency=2.5"])
        #expect(bench.accept(2) == [])
        #expect(bench.send() == [])
    }

    @Test func equalValueSendsNothing() throws {
        var bench = try StoreBench.subscribed(.merge().with { $0.requestedMaxFrequency = .limited(2) })
        #expect(bench.store.changeMaxFrequency(token, .limited(2)) == [])
        _ = bench.store.changeMaxFrequency(token, .unlimited)
        _ = bench.send()
        _ = bench.accept(2)
        #expect(bench.store.changeMaxFrequency(token, .unlimited) == [])
    }

    @Test func changeDuringAReconfIsSentWhenItIsAnswered() throws {
        var bench = try StoreBench.subscribed()
        _ = bench.store.changeMaxFrequency(token, .limited(1))
        _ = bench.send()
        #expect(bench.store.changeMaxFrequency(token, .limited(2)) == [])
        #expect(bench.send() == [])
        #expect(bench.accept(2) == [.requestsWaiting])
        #expect(bench.send() == ["LS_reqId=3&LS_subId=1&LS_op=reconf&LS_requested_max_frequency=2.0"])
    }

    @Test func changeBackDuringAReconfIsSentAsWell() throws {
        var bench = try StoreBench.subscribed(.merge().with { $0.requestedMaxFrequency = .limited(1) })
        _ = bench.store.changeMaxFrequency(token, .limited(2))
        _ = bench.send()
        _ = bench.store.changeMaxFrequency(token, .limited(1))
        #expect(bench.accept(2) == [.requestsWaiting])
    }

    @Test func refusedReconfIsGivenUpSilently() throws {
        var bench = try StoreBench.subscribed()
        _ = bench.store.changeMaxFrequency(token, .limited(1))
        _ = bench.send()
        #expect(bench.refuse(2, 13) == [])
        #expect(bench.send() == [])
        #expect(bench.store.changeMaxFrequency(token, .limited(1)) == [.requestsWaiting], "asking again tries again")
    }

    @Test func refusedReconfIsFollowedByAChangeMadeMeanwhile() throws {
        var bench = try StoreBench.subscribed()
        _ = bench.store.changeMaxFrequency(token, .limited(1))
        _ = bench.send()
        _ = bench.store.changeMaxFrequency(token, .limited(2))
        #expect(bench.refuse(2) == [.requestsWaiting])
        #expect(bench.send() == ["LS_reqId=3&LS_subId=1&LS_op=reconf&LS_requested_max_frequency=2.0"])
        #expect(bench.refuse(3) == [])
        #expect(bench.send() == [])
    }

    @Test func changeBeforeTheAnnouncementFollowsIt() throws {
        var bench = StoreBench.added()
        #expect(bench.store.changeMaxFrequency(token, .limited(4)) == [])
        bench.store.channelLost()
        #expect(bench.send().map { $0.contains("frequency") } == [false], "the add keeps the remembered value")
        #expect(try bench.receive("SUBOK,1,2,2").brief == ["subscribed 2 2", ">"])
        #expect(bench.send() == ["LS_reqId=3&LS_subId=1&LS_op=reconf&LS_requested_max_frequency=4.0"])
    }

    @Test func unansweredReconfIsWrittenAgainWithTheLatestValue() throws {
        var bench = try StoreBench.subscribed(.merge().with { $0.requestedMaxFrequency = .limited(1) })
        _ = bench.store.changeMaxFrequency(token, .limited(2))
        _ = bench.send()
        _ = bench.store.changeMaxFrequency(token, .limited(1))
        bench.store.channelLost()
        #expect(bench.send() == ["LS_reqId=3&LS_subId=1&LS_op=reconf&LS_requested_max_frequency=1.0"])
        #expect(bench.accept(3) == [])
    }

    @Test func changeThatIsTakenBackBeforeItIsWrittenIsNotSent() throws {
        var bench = try StoreBench.subscribed(.merge().with { $0.requestedMaxFrequency = .limited(1) })
        _ = bench.store.changeMaxFrequency(token, .limited(2))
        _ = bench.store.changeMaxFrequency(token, .limited(1))
        #expect(bench.isIdle() == true)
    }

    @Test func endOfTheSessionPutsTheLatestValueIntoTheNextAdd() throws {
        var bench = try StoreBench.subscribed()
        _ = bench.store.changeMaxFrequency(token, .limited(3))
        _ = bench.store.sessionEnded()
        #expect(bench.send().map { $0.contains("&LS_requested_max_frequency=3.0&") } == [true])
        #expect(try bench.receive("SUBOK,1,2,2").brief == ["subscribed 2 2"])
    }

    @Test func unknownTokenIsIgnored() {
        var bench = StoreBench()
        #expect(bench.store.changeMaxFrequency(token, .limited(3)) == [])
    }
}

internal import SessionCore
internal import Testing

/// Frequencies asked for, and told, on two levels.
struct TwoLevelFrequencyTests {
    private let token = StoreBench.token

    private static func bench(keys: [String] = ["k"], requested: RequestedMaxFrequency? = nil) throws -> StoreBench {
        var bench = try StoreBench.subscribed(.twoLevel().with { $0.requestedMaxFrequency = requested })
        for (index, key) in keys.enumerated() {
            _ = try bench.receive("U,1,1,a|b|\(key)|ADD")
            _ = bench.send()
            _ = try bench.receive("SUBOK,\(index + 2),1,2")
        }
        return bench
    }

    // MARK: - Told

    @Test func aggregateIsToldWhenItChanges() throws {
        var bench = try Self.bench()
        let effects = try bench.receive(
            "CONF,1,2,filtered",
            "CONF,2,2,filtered",
            "CONF,2,1,filtered",
            "CONF,2,5,filtered",
            "CONF,2,unlimited,filtered"
        )
        #expect(effects.brief == ["frequency 2.0", "frequency 5.0", "frequency unlimited"])
    }

    @Test func aggregateGoesDownWithTheHighest() throws {
        var bench = try Self.bench()
        #expect(
            try bench.receive("CONF,1,2,filtered", "CONF,2,5,filtered", "CONF,2,3,filtered", "CONF,2,1,filtered").brief
                == ["frequency 2.0", "frequency 5.0", "frequency 3.0", "frequency 2.0"]
        )
    }

    @Test func deletedKeyNoLongerCounts() throws {
        var bench = try Self.bench(keys: ["k1", "k2"])
        _ = try bench.receive("CONF,1,2,filtered", "CONF,2,7,filtered", "CONF,3,5,filtered")
        #expect(
            try bench.receive("U,1,1,||k1|DELETE").brief == [">", "1 #|#|k1|DELETE {1 2 4}", "frequency 5.0"]
        )
        #expect(try bench.receive("UNSUB,3").brief == ["frequency 2.0"])
    }

    @Test func clearedKeysNoLongerCountAndTheAggregateMayBecomeUnknown() throws {
        var bench = try Self.bench(keys: ["k1", "k2"])
        #expect(try bench.receive("CONF,2,7,filtered", "CONF,3,7,filtered").brief == ["frequency 7.0"])
        #expect(try bench.receive("CS,1,1").brief == [">", "cs 1", "frequency nil"])
        #expect(try bench.receive("CONF,2,9,filtered") == [], "its delete is under way")
    }

    @Test func aggregateStartsAgainInANewSession() throws {
        var bench = try Self.bench()
        #expect(try bench.receive("CONF,1,2,filtered").brief == ["frequency 2.0"])
        _ = bench.store.sessionEnded()
        _ = bench.send()
        #expect(try bench.receive("SUBCMD,1,2,4,3,4", "CONF,1,2,filtered").brief.last == "frequency 2.0")
    }

    // MARK: - Asked for

    @Test(arguments: [
        (RequestedMaxFrequency.limited(3), "3.0"), (.unlimited, "unlimited"), (.unfiltered, "unfiltered"),
    ])
    func secondLevelAsksForTheFirstLevelsFrequency(frequency: RequestedMaxFrequency, text: String) throws {
        var bench = try StoreBench.subscribed(.twoLevel().with { $0.requestedMaxFrequency = frequency })
        _ = try bench.receive("U,1,1,a|b|k|ADD")
        #expect(bench.send().map { $0.contains("&LS_snapshot=true&LS_requested_max_frequency=\(text)&") } == [true])
    }

    @Test func changeGoesToTheSecondLevelsFirst() throws {
        var bench = try Self.bench(keys: ["k1", "k2"])
        #expect(bench.store.changeMaxFrequency(token, .limited(4)) == [.requestsWaiting])
        #expect(
            bench.send() == [
                "LS_reqId=4&LS_subId=2&LS_op=reconf&LS_requested_max_frequency=4.0",
                "LS_reqId=5&LS_subId=3&LS_op=reconf&LS_requested_max_frequency=4.0",
                "LS_reqId=6&LS_subId=1&LS_op=reconf&LS_requested_max_frequency=4.0",
            ]
        )
        _ = try bench.receive("U,1,1,||k3|ADD")
        #expect(bench.send().map { $0.contains("&LS_requested_max_frequency=4.0&") } == [true])
    }

    @Test func changeBeforeTheSecondLevelIsAnnouncedFollowsItsAnnouncement() throws {
        var bench = try StoreBench.subscribed(.twoLevel())
        _ = try bench.receive("U,1,1,a|b|k|ADD")
        _ = bench.send()
        _ = bench.store.changeMaxFrequency(token, .limited(4))
        #expect(bench.send().map { $0.contains("LS_subId=1&LS_op=reconf") } == [true])
        #expect(try bench.receive("SUBOK,2,1,2") == [.requestsWaiting])
        #expect(bench.send().map { $0.contains("LS_subId=2&LS_op=reconf") } == [true])
    }
}

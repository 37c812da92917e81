internal import SessionCore
internal import Testing

/// Requested and received frequencies on two levels.
struct TwoLevelFrequencyTests {
    private let token = StoreFixture.token

    private static func fixture(keys: [String] = ["k"], requested: RequestedMaxFrequency? = nil) throws -> StoreFixture
    {
        var fixture = try StoreFixture.subscribed(.twoLevel().with { $0.requestedMaxFrequency = requested })
        for (index, key) in keys.enumerated() {
            _ = try fixture.receive("U,1,1,a|b|\(key)|ADD")
            _ = fixture.send()
            _ = try fixture.receive("SUBOK,\(index + 2),1,2")
        }
        return fixture
    }

    // MARK: - Told

    @Test func aggregateIsReportedWhenItChanges() throws {
        var fixture = try Self.fixture()
        let effects = try fixture.receive(
            "CONF,1,2,filtered",
            "CONF,2,2,filtered",
            "CONF,2,1,filtered",
            "CONF,2,5,filtered",
            "CONF,2,unlimited,filtered"
        )
        #expect(effects.brief == ["frequency 2.0", "frequency 5.0", "frequency unlimited"])
    }

    @Test func aggregateDecreasesWithTheHighest() throws {
        var fixture = try Self.fixture()
        #expect(
            try fixture.receive("CONF,1,2,filtered", "CONF,2,5,filtered", "CONF,2,3,filtered", "CONF,2,1,filtered")
                .brief
                == ["frequency 2.0", "frequency 5.0", "frequency 3.0", "frequency 2.0"]
        )
    }

    @Test func deletedKeyNoLongerCounts() throws {
        var fixture = try Self.fixture(keys: ["k1", "k2"])
        _ = try fixture.receive("CONF,1,2,filtered", "CONF,2,7,filtered", "CONF,3,5,filtered")
        #expect(
            try fixture.receive("U,1,1,||k1|DELETE").brief == [">", "1 #|#|k1|DELETE {1 2 4}", "frequency 5.0"]
        )
        #expect(try fixture.receive("UNSUB,3").brief == ["frequency 2.0"])
    }

    @Test func clearedKeysNoLongerCountAndTheAggregateMayBecomeUnknown() throws {
        var fixture = try Self.fixture(keys: ["k1", "k2"])
        #expect(try fixture.receive("CONF,2,7,filtered", "CONF,3,7,filtered").brief == ["frequency 7.0"])
        #expect(try fixture.receive("CS,1,1").brief == [">", "frequency nil", "cs 1"])
        #expect(try fixture.receive("CONF,2,9,filtered") == [], "its delete is under way")
    }

    @Test func aggregateStartsAgainInANewSession() throws {
        var fixture = try Self.fixture()
        #expect(try fixture.receive("CONF,1,2,filtered").brief == ["frequency 2.0"])
        _ = fixture.store.sessionEnded()
        _ = fixture.send()
        #expect(try fixture.receive("SUBCMD,1,2,4,3,4", "CONF,1,2,filtered").brief.last == "frequency 2.0")
    }

    // MARK: - Asked for

    @Test(arguments: [
        (RequestedMaxFrequency.limited(3), "3.0"), (.unlimited, "unlimited"), (.unfiltered, "unfiltered"),
    ])
    func secondLevelAsksForTheFirstLevelsFrequency(frequency: RequestedMaxFrequency, text: String) throws {
        var fixture = try StoreFixture.subscribed(.twoLevel().with { $0.requestedMaxFrequency = frequency })
        _ = try fixture.receive("U,1,1,a|b|k|ADD")
        #expect(fixture.send().map { $0.contains("&LS_snapshot=true&LS_requested_max_frequency=\(text)&") } == [true])
    }

    @Test func changeGoesToTheSecondLevelsFirst() throws {
        var fixture = try Self.fixture(keys: ["k1", "k2"])
        #expect(fixture.store.changeMaxFrequency(token, .limited(4)) == [.requestsWaiting])
        #expect(
            fixture.send() == [
                "LS_reqId=4&LS_subId=2&LS_op=reconf&LS_requested_max_frequency=4.0",
                "LS_reqId=5&LS_subId=3&LS_op=reconf&LS_requested_max_frequency=4.0",
                "LS_reqId=6&LS_subId=1&LS_op=reconf&LS_requested_max_frequency=4.0",
            ]
        )
        _ = try fixture.receive("U,1,1,||k3|ADD")
        #expect(fixture.send().map { $0.contains("&LS_requested_max_frequency=4.0&") } == [true])
    }

    @Test func changeBeforeTheSecondLevelIsAnnouncedFollowsItsAnnouncement() throws {
        var fixture = try StoreFixture.subscribed(.twoLevel())
        _ = try fixture.receive("U,1,1,a|b|k|ADD")
        _ = fixture.send()
        _ = fixture.store.changeMaxFrequency(token, .limited(4))
        #expect(fixture.send().map { $0.contains("LS_subId=1&LS_op=reconf") } == [true])
        #expect(try fixture.receive("SUBOK,2,1,2") == [.requestsWaiting])
        #expect(fixture.send().map { $0.contains("LS_subId=2&LS_op=reconf") } == [true])
    }
}

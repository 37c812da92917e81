import Foundation
import Testing

@testable import Gateway

@Suite struct TimeTextTests {
    private let now = Date(timeIntervalSince1970: 1_700_000_000)

    @Test(arguments: [
        ("90", 90.0), ("90s", 90), ("1.5m", 90), ("2h", 7_200), ("1d", 86_400), ("0", 0),
        ("2023-11-14T22:13:10Z", 10), ("2023-11-14T23:13:10+01:00", 10), ("2023-11-14T23:13:10 01:00", 10),
        ("2023-11-14T22:13:19.500Z", 0.5), ("2023-11-14T22:13:30Z", 0), ("2023-11-14T22:23:20Z", 0),
        ("2023-11-14t22:13:10z", 10),
        ("2023-11-14T22:13:19.500000000000Z", 0.5), ("2016-12-31T23:59:60Z", 216_771_200),
        ("2016-12-31T23:59:60.5Z", 216_771_199.5), ("1990-12-31T15:59:60-08:00", 1_037_312_000),
    ])
    func durationsAndTimesAreRead(text: String, seconds: Double) throws {
        let age = try #require(TimeText.age(text, now: now))
        #expect(abs(age / .seconds(1) - seconds) < 0.001)
    }

    @Test(arguments: [
        "", "s", "-5", "5 m", "5w", "1e3", "5.s", ".5s", "5.", "yesterday", "2023-11-14", "1..5", "999999999999d",
        "2023-02-30T00:00:00Z", "2023-11-14T24:00:01Z", "2023-11-14T22:60:00Z", "2023-13-01T00:00:00Z",
        "2023-11-14T22:13:10", "2023-11-14T22:13:19.Z", "2016-12-31T22:59:60Z", "2016-12-30T23:59:60Z",
        "2016-12-31T23:59:61Z", "2016-12-31T23:59:60", "2023-11-14T22:23:21Z", "2099-01-01T00:00:00Z",
        "9999-12-31T23:59:59Z", "nan", "inf", "0x10", "٣",
    ])
    func otherTextsAreRefused(text: String) {
        #expect(TimeText.age(text, now: now) == nil)
    }
}

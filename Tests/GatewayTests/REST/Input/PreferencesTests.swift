import Testing

@testable import Gateway

@Suite struct PreferencesTests {
    @Test(arguments: [
        ("wait=5", 5), ("respond-async, wait=10", 10), ("Wait = 3", 3), ("wait=\"7\"", 7), ("wait=0", 0),
        ("wait=99999999999999999999", Preferences.longestWait), ("wait=2;x=y", 2),
    ])
    func theWaitIsRead(header: String, seconds: Int) {
        #expect(Preferences(header).wait == seconds)
    }

    @Test(arguments: [nil, "", "wait", "wait=", "wait=-1", "wait=1.5", "handling=lenient"])
    func whatIsNotUnderstoodIsPassedOver(header: String?) {
        #expect(Preferences(header).wait == nil)
    }
}

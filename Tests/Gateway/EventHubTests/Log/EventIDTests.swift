internal import Testing

@testable import EventHub

@Suite struct EventIDTests {
    @Test func readsEpochAndSequence() {
        #expect(EventID("f3a9-1042") == EventID(epoch: "f3a9", sequence: 1042))
        #expect(EventID("a-b-7") == EventID(epoch: "a-b", sequence: 7))
    }

    @Test(arguments: ["", "-", "x", "x-", "-1", "x-1a", "x--", "x-99999999999999999999999", "x-+1", "x- 1", "x-１"])
    func refusesWhatIsNoID(text: String) {
        #expect(EventID(text) == nil)
    }
}

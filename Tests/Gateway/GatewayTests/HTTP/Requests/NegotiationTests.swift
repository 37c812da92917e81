import Testing

@testable import Gateway

@Suite struct AcceptanceTests {
    private let offers = ["application/json", "text/plain"]

    @Test(arguments: [
        (nil, "application/json"),
        ("", "application/json"),
        ("*/*", "application/json"),
        ("text/plain", "text/plain"),
        ("text/*", "text/plain"),
        ("TEXT/PLAIN", "text/plain"),
        ("text/plain;q=0.4, application/json;q=0.5", "application/json"),
        ("application/json;q=0.1, text/plain", "text/plain"),
        ("text/html,application/xhtml+xml,*/*;q=0.8", "application/json"),
        ("application/json;q=0, */*", "text/plain"),
    ])
    func theBestOfferIsChosen(header: String?, offer: String) throws {
        #expect(try AcceptHeader(header).choose(offers) == offer)
    }

    @Test(arguments: ["image/png", "application/json;q=0", "text/html, image/*"])
    func nothingAcceptableIsARefusal(header: String) {
        #expect { try AcceptHeader(header).choose(["application/json"]) } throws: {
            ($0 as? Problem)?.code == .notAcceptable
        }
    }

    @Test func onlyATypeThatIsWrittenOutIsNamed() {
        #expect(AcceptHeader("text/event-stream").names("text/event-stream"))
        #expect(!AcceptHeader("*/*").names("text/event-stream"))
    }

    @Test(arguments: [
        ("text/event-stream", true), ("text/event-stream, application/json", true),
        ("application/json, text/event-stream", false), ("application/json, text/event-stream;q=0.1", false),
        ("text/event-stream, */*;q=0.5", true), ("*/*, text/event-stream", true),
        ("*/*, text/event-stream;q=0.9", false), ("image/png, text/event-stream;q=0.5", true),
        ("text/event-stream;q=0", false), ("text/*", false), (nil, false),
    ])
    func aTypeThatIsWrittenOutIsPreferredByItsWeightAndThenItsPlace(header: String?, isPreferred: Bool) {
        #expect(AcceptHeader(header).prefers("text/event-stream", to: offers) == isPreferred)
    }
}

@Suite struct PreferencesTests {
    @Test(arguments: [
        ("wait=5", 5), ("respond-async, wait=10", 10), ("Wait = 3", 3), ("wait=\"7\"", 7), ("wait=0", 0),
        ("wait=99999999999999999999", PreferHeader.longestWait), ("wait=2;x=y", 2),
    ])
    func theWaitIsRead(header: String, seconds: Int) {
        #expect(PreferHeader(header).wait == seconds)
    }

    @Test(arguments: [nil, "", "wait", "wait=", "wait=-1", "wait=1.5", "handling=lenient"])
    func unknownPreferencesAreIgnored(header: String?) {
        #expect(PreferHeader(header).wait == nil)
    }
}

import Testing

@testable import Gateway

@Suite struct EntityTagTests {
    @Test(arguments: ["\"a\"", "W/\"a\"", "*", "\"b\", W/\"a\"", " * "])
    func ifNoneMatchComparesWeakly(header: String) {
        #expect(EntityTag("a").matches(ifNoneMatch: header))
        #expect(EntityTag("a", isWeak: true).matches(ifNoneMatch: header))
    }

    @Test func ifMatchComparesStrongly() {
        #expect(EntityTag("a").matches(ifMatch: "\"x\", \"a\""))
        #expect(EntityTag("a").matches(ifMatch: "*"))
        #expect(EntityTag("a").matches(ifMatch: nil))
        #expect(!EntityTag("a").matches(ifMatch: "W/\"a\""))
        #expect(!EntityTag("a").matches(ifMatch: "a"))
        #expect(!EntityTag("a").matches(ifMatch: ""))
    }

    @Test func equalBytesHaveEqualTags() {
        #expect(EntityTag(of: [1, 2]) == EntityTag(of: [1, 2]))
        #expect(EntityTag(of: [1, 2]) != EntityTag(of: [2, 1]))
        #expect(EntityTag("x", isWeak: true).description == "W/\"x\"")
    }
}

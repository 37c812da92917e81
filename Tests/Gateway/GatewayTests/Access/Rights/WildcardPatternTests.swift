import SessionCore
import Testing

@testable import Gateway

@Suite struct WildcardPatternTests {
    @Test(arguments: [
        ("*", "anything", true), ("*", "", true), ("", "", true), ("", "a", false), ("item1", "item1", true),
        ("item1", "item10", false), ("item1", "xitem1", false), ("item*", "item", true), ("item*", "items", true),
        ("item*", "Item1", false), ("*1", "item1", true), ("*1", "item12", false), ("a*b*c", "axxbyyc", true),
        ("a*b*c", "acb", false), ("a**b", "ab", true), ("*a*", "bab", true), ("*a", "aab", false),
        ("a.c", "abc", false),
        ("a*", "*", false), ("**", "x", true),
    ])
    func namesMatchAsWritten(pattern: String, name: String, expected: Bool) {
        #expect(WildcardPattern(pattern).matches(name) == expected)
    }

    @Test func namesThatOnlyLookAlikeAreDifferent() {
        #expect(!WildcardPattern("caf\u{E9}").matches("cafe\u{301}"))
        #expect(WildcardPattern("caf\u{E9}") != WildcardPattern("cafe\u{301}"))
    }

    @Test func aNameMadeToTakeLongIsNotLookedAt() {
        let pattern = WildcardPattern("*a*a*a*a*b")
        #expect(!pattern.matches(String(repeating: "a", count: 1_000_000)))
    }
}

@Suite struct RightsTests {
    private let rights = Rights(operations: [], upstreams: [], items: [WildcardPattern("item*")])

    private func properties(_ items: NameSource) -> SubscriptionProperties {
        SubscriptionProperties(mode: .command, items: items, fields: .list(["f"]))
    }

    @Test func everyItemHasToBeCovered() {
        #expect(rights.covers(properties(.list(["item1", "item2"]))))
        #expect(!rights.covers(properties(.list(["item1", "secret"]))))
        #expect(rights.firstUncovered(in: properties(.list(["item1", "secret"])))?.index == 1)
        #expect(rights.firstUncovered(in: properties(.list(["item1"]))) == nil)
        #expect(Rights.all.firstUncovered(in: properties(.list(["secret"]))) == nil)
    }

    @Test(arguments: ["item1 secret", "secret item1", "item1  secret", " secret"])
    func aGroupDoesNotBypassAPattern(group: String) {
        #expect(!rights.covers(properties(.group(group))))
        #expect(!rights.covers(properties(.list([group]))))
    }

    @Test func aSecondLevelNeedsAllItems() {
        var properties = properties(.list(["item1"]))
        properties.secondLevelFields = .list(["f"])
        #expect(!rights.covers(properties))
        #expect(Rights.all.covers(properties))
    }
}

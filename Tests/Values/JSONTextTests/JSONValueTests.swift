internal import Testing

@testable internal import JSONText

struct JSONValueTests {
    @Test(arguments: [
        #"{"b":1,"a":[true,false,null],"c":{"d":""}}"#, #"["\"\\/\b\f\n\r\t\u0001\u001f","é😀 ~"]"#, "[1.0,1e400,-0]",
        "[]", "{}",
    ])
    func compactTextComesBackUnchanged(text: String) throws {
        #expect(try JSONValue(parsing: text).text == text)
    }

    @Test func whiteSpaceIsDropped() throws {
        #expect(try JSONValue(parsing: " { \"a\" : [ 1 , 2 ] } ").text == #"{"a":[1,2]}"#)
    }

    @Test func equivalenceIgnoresOrderAndTheTextOfNumbers() throws {
        let left = try JSONValue(parsing: #"{"a":1.0,"b":[10,"x"]}"#)
        let right = try JSONValue(parsing: #"{"b":[1e1,"x"],"a":1}"#)
        #expect(left != right)
        #expect(left.isEquivalent(to: right))
        #expect(!left.isEquivalent(to: ["a": 1]))
        #expect(!JSONValue.array([1, 2]).isEquivalent(to: [2, 1]))
    }

    @Test func largeObjectsAreEquivalentInAnyOrder() {
        let members = (0..<20_000).map { JSONObject.Member(name: "n\($0)", value: .number(JSONNumber($0))) }
        let object = JSONValue.object(JSONObject(members))
        var others = Array(members.reversed())
        #expect(object.isEquivalent(to: .object(JSONObject(others))))
        others[0].value = 0
        #expect(!object.isEquivalent(to: .object(JSONObject(others))))
        others[0] = JSONObject.Member(name: "other", value: 19_999)
        #expect(!object.isEquivalent(to: .object(JSONObject(others))))
        let composed = JSONObject([.init(name: "\u{E9}", value: 1), .init(name: "a", value: 2)])
        let decomposed = JSONObject([.init(name: "a", value: 2), .init(name: "e\u{301}", value: 1)])
        #expect(!JSONValue.object(composed).isEquivalent(to: .object(decomposed)))
    }

    @Test(arguments: [
        ("1", "1.0", true), ("10", "1e1", true), ("0", "-0.0", true), ("100e-2", "1", true), ("0.10", "0.1", true),
        ("1", "2", false), ("1", "-1", false), ("9007199254740993", "9007199254740992", false),
        ("1e99999999999999999999", "1", false), ("1e400", "10e399", true), ("123", "1230", false), ("5", "0.5", false),
    ])
    func numbersAreComparedExactly(left: String, right: String, same: Bool) throws {
        let left = try #require(JSONNumber(left))
        let right = try #require(JSONNumber(right))
        #expect(left.isEquivalent(to: right) == same)
        #expect(right.isEquivalent(to: left) == same)
    }

    @Test func numbersGiveTheirValues() {
        #expect(JSONNumber("12")?.intValue == 12)
        #expect(JSONNumber("1.5")?.intValue == nil)
        #expect(JSONNumber("1.5")?.doubleValue == 1.5)
        #expect(JSONNumber("1e999")?.doubleValue == nil)
    }

    @Test func membersKeepTheirPlaces() {
        var object = JSONObject()
        object["a"] = 1
        object["b"] = 2
        object["c"] = 3
        object["b"] = 4
        object["a"] = nil
        object["zz"] = nil
        #expect(object.map(\.name) == ["b", "c"])
        #expect(object["b"] == 4)
    }
}

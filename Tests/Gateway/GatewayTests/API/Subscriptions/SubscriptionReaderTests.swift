import JSONText
import SessionCore
import Testing

@testable import Gateway

@Suite struct SubscriptionReaderTests {
    @Test func everyPropertyIsRead() throws {
        let reader = try reader(
            """
            {"mode":"COMMAND","items":["i1"],"fields":["key","command"],"dataAdapter":"A","selector":"s",
             "requestedSnapshot":"NO","requestedMaxFrequency":"2.5",
             "commandSecondLevelFieldSchema":"x","commandSecondLevelDataAdapter":"B"}
            """
        )
        let properties = try #require(SubscriptionReader.properties(reader))
        #expect(properties.items == .list(["i1"]))
        #expect(properties.requestedSnapshot == .no)
        #expect(properties.requestedMaxFrequency == .limited(2.5))
        #expect(properties.secondLevelFields == .group("x"))
        #expect(properties.secondLevelDataAdapter == "B")
    }

    @Test(arguments: [(#""#, SubscriptionMode.merge), (#""mode":"raw","#, .raw), (#""mode":"Distinct","#, .distinct)])
    func modesAreReadInAnyLetterCaseAndDefaultToMerge(mode: String, read: SubscriptionMode) throws {
        let reader = try reader(#"{\#(mode)"items":["a"],"fields":["b"]}"#)
        #expect(SubscriptionReader.properties(reader)?.mode == read)
    }

    @Test func theBufferSizeIsRead() throws {
        let reader = try reader(#"{"mode":"MERGE","items":["a"],"fields":["b"],"requestedBufferSize":"Unlimited"}"#)
        #expect(SubscriptionReader.properties(reader)?.requestedBufferSize == .unlimited)
    }

    @Test(arguments: [
        (#"{"mode":"RAW","items":["a"],"fields":["b"],"requestedMaxFrequency":1}"#, ["/requestedMaxFrequency"]),
        (#"{"mode":"RAW","items":["a"],"fields":["b"],"requestedBufferSize":1}"#, ["/requestedBufferSize"]),
        (#"{"mode":"COMMAND","itemGroup":"a","fieldSchema":"b","requestedBufferSize":1}"#, ["/requestedBufferSize"]),
        (
            #"{"mode":"MERGE","itemGroup":"a","fieldSchema":"b","requestedBufferSize":1,"#
                + #""requestedMaxFrequency":"unfiltered"}"#, ["/requestedBufferSize"]
        ),
    ])
    func aPropertyWithoutEffectIsRefused(text: String, pointers: [String]) throws {
        let reader = try reader(text)
        #expect(SubscriptionReader.properties(reader) == nil)
        #expect(reader.refusals.pointers == pointers)
    }

    @Test func aPatchWithASnapshotThatTheModeDoesNotAdmitIsRefused() throws {
        let object = try #require(try JSONValue(parsing: #"{"requestedSnapshot":10}"#).object)
        let properties = SubscriptionProperties(mode: .merge, items: .group("g"), fields: .list(["f"]))
        #expect { try SubscriptionPatch(object).applied(to: properties) } throws: {
            ($0 as? Problem)?.code.status == 422
        }
    }

    @Test func theDefaultsAreThoseOfTheClassReference() throws {
        let merge = try reader(#"{"mode":"MERGE","itemGroup":"g","fieldSchema":"s"}"#)
        let raw = try reader(#"{"mode":"RAW","itemGroup":"g","fieldSchema":"s"}"#)
        let open = try reader(#"{"mode":"MERGE","itemGroup":"g","fieldSchema":"s","requestedSnapshot":null}"#)
        #expect(SubscriptionReader.properties(merge)?.requestedSnapshot == .yes)
        #expect(SubscriptionReader.properties(raw)?.requestedSnapshot == nil)
        #expect(try #require(SubscriptionReader.properties(open)).requestedSnapshot == nil)
    }

    @Test(arguments: [
        (#"{"mode":"MERG","items":["a"],"fields":["b"]}"#, ["/mode"]),
        (#"{"mode":null,"items":["a"],"fields":["b"]}"#, ["/mode"]),
        (#"{"mode":"MERGE"}"#, ["/items", "/fields"]),
        (#"{"mode":"MERGE","items":["a"],"itemGroup":"g","fields":["b"]}"#, ["/itemGroup"]),
        (#"{"mode":"MERGE","items":["a","1","x y",""],"fields":["b"]}"#, ["/items/1", "/items/2", "/items/3"]),
        (#"{"mode":"MERGE","items":[],"fields":[]}"#, ["/items", "/fields"]),
        (#"{"mode":"MERGE","items":"a","fields":[1]}"#, ["/items", "/fields/0"]),
        (#"{"mode":"MERGE","items":["a"],"fields":["1"],"requestedMaxFrequency":0}"#, ["/requestedMaxFrequency"]),
        (#"{"mode":"MERGE","items":["a"],"fields":["1"],"requestedBufferSize":1.5}"#, ["/requestedBufferSize"]),
        (#"{"mode":"MERGE","items":["a"],"fields":["1"],"requestedSnapshot":5}"#, ["/requestedSnapshot"]),
        (#"{"mode":"RAW","items":["a"],"fields":["1"],"requestedSnapshot":"yes"}"#, ["/requestedSnapshot"]),
        (#"{"mode":"COMMAND","items":["a"],"fields":["key"]}"#, ["/fields"]),
        (
            #"{"mode":"MERGE","items":["a"],"fields":["b"],"commandSecondLevelFields":["c"]}"#,
            ["/commandSecondLevelFields"]
        ),
        (
            #"{"mode":"COMMAND","items":["a"],"fields":["key","command"],"commandSecondLevelDataAdapter":"d"}"#,
            ["/commandSecondLevelDataAdapter"]
        ),
        (
            #"{"mode":"COMMAND","items":["a"],"fields":["key","command"],"commandSecondLevelFields":["c d"],"#
                + #""commandSecondLevelDataAdapter":"d"}"#, ["/commandSecondLevelFields/0"]
        ),
        (
            #"{"mode":"COMMAND","items":["a"],"fields":["key","command"],"commandSecondLevelFields":["c"],"#
                + #""commandSecondLevelFieldSchema":"s","commandSecondLevelDataAdapter":"d"}"#,
            ["/commandSecondLevelFieldSchema"]
        ),
        (#"{"mode":"MERGE","items":["a"],"fields":["b"],"dataAdapter":""}"#, ["/dataAdapter"]),
        (#"{"mode":"MERGE","items":["a"],"fields":["b"],"selector":7}"#, ["/selector"]),
    ])
    func everyRefusalPointsAtItsPlace(text: String, pointers: [String]) throws {
        let reader = try reader(text)
        #expect(SubscriptionReader.properties(reader) == nil)
        #expect(reader.refusals.pointers == pointers)
    }

    @Test(arguments: ["fields", "commandSecondLevelFields"])
    func fieldNamesAreBoundedInNumberAndLength(member: String) throws {
        func refusals(_ names: [String]) throws -> [String] {
            let list = #"["key","command","\#(names.joined(separator: #"",""#))"]"#
            let others = member == "fields" ? "" : #","fieldSchema":"s""#
            let reader = try reader(#"{"mode":"COMMAND","itemGroup":"g"\#(others),"\#(member)":\#(list)}"#)
            _ = SubscriptionReader.properties(reader)
            return reader.refusals.entries.map(\.detail)
        }
        #expect(try refusals((0..<4_094).map { "f\($0)" }) == [])
        #expect(try refusals((0..<4_095).map { "f\($0)" }) == ["A list of 1 to 4096 names is expected."])
        let long = String(repeating: "f", count: 32_762)
        #expect(try refusals([long + "1", long + "2"]) == [])
        #expect(try refusals([long + "1", long + "23"]) == ["Names of at most 65536 bytes in all are expected."])
    }

    @Test(arguments: [
        "itemGroup", "fieldSchema", "dataAdapter", "selector", "commandSecondLevelFieldSchema",
        "commandSecondLevelDataAdapter",
    ])
    func otherNamesAreBoundedInLength(member: String) throws {
        let cases: [(Int, [String])] = [(65_536, []), (65_537, ["/" + member])]
        for (length, pointers) in cases {
            var members = ["itemGroup": "g", "fieldSchema": "s", "commandSecondLevelFieldSchema": "s"]
            members[member] = String(repeating: "a", count: length)
            let pairs = members.map { #""\#($0.key)":"\#($0.value)""# }.joined(separator: ",")
            let reader = try reader(#"{"mode":"COMMAND",\#(pairs)}"#)
            _ = SubscriptionReader.properties(reader)
            #expect(reader.refusals.pointers == pointers)
        }
    }

    @Test func aLengthIsForDistinctOnly() throws {
        let reader = try reader(#"{"mode":"DISTINCT","items":["a"],"fields":["b"],"requestedSnapshot":"10"}"#)
        #expect(SubscriptionReader.properties(reader)?.requestedSnapshot == .length(10))
    }

    @Test func aPatchChangesWhatItNames() throws {
        let object = try #require(try JSONValue(parsing: #"{"items":["x"],"requestedMaxFrequency":null}"#).object)
        var properties = SubscriptionProperties(mode: .merge, items: .group("g"), fields: .list(["f"]))
        properties.requestedMaxFrequency = .unlimited
        let patched = try SubscriptionPatch(object).applied(to: properties)
        #expect(patched.items == .list(["x"]))
        #expect(patched.fields == .list(["f"]))
        #expect(patched.requestedMaxFrequency == nil)
    }

    @Test(arguments: [
        (#"{"items":null,"fieldSchema":null,"commandSecondLevelFields":null}"#, false),
        (#"{"itemGroup":null,"fields":null,"commandSecondLevelFieldSchema":null}"#, true),
        (#"{"items":null,"itemGroup":null,"fields":null,"commandSecondLevelFieldSchema":null}"#, true),
    ])
    func nullClearsOnlyTheFormThatIsPresent(text: String, isCleared: Bool) throws {
        let object = try #require(try JSONValue(parsing: text).object)
        var properties = SubscriptionProperties(mode: .command, items: .group("g"), fields: .list(["key", "command"]))
        properties.secondLevelFields = .group("s")
        let patched = try SubscriptionPatch(object).applied(to: properties)
        if isCleared {
            #expect(patched.items == .list([]) && patched.fields == .list([]) && patched.secondLevelFields == nil)
        } else {
            #expect(patched == properties)
        }
    }

    @Test(arguments: [
        (SubscriptionMode.raw, #"{"requestedMaxFrequency":2}"#), (.raw, #"{"requestedBufferSize":2}"#),
        (.command, #"{"requestedBufferSize":2}"#), (.merge, #"{"requestedMaxFrequency":"unfiltered"}"#),
    ])
    func aPatchWithoutAnEffectIsAConflict(mode: SubscriptionMode, patch: String) throws {
        let object = try #require(try JSONValue(parsing: patch).object)
        var properties = SubscriptionProperties(mode: mode, items: .group("g"), fields: .group("f"))
        if mode == .merge { properties.requestedBufferSize = .limited(2) }
        #expect { try SubscriptionPatch(object).applied(to: properties) } throws: {
            ($0 as? Problem)?.code == .lifecycle && ($0 as? Problem)?.entries.map(\.code) == [.lifecycle]
        }
    }

    @Test func aPatchAgainstTheModeIsAConflict() throws {
        let text = #"{"commandSecondLevelFields":["x"],"commandSecondLevelDataAdapter":"a"}"#
        let object = try #require(try JSONValue(parsing: text).object)
        let properties = SubscriptionProperties(mode: .merge, items: .group("g"), fields: .list(["f"]))
        #expect { try SubscriptionPatch(object).applied(to: properties) } throws: {
            let problem = $0 as? Problem
            let names = ["commandSecondLevelFields", "commandSecondLevelDataAdapter"]
            return problem?.code == .notCommandMode && problem?.entries.map(\.locationName) == names
        }
    }

    @Test(arguments: [
        #"{"mode":"RAW"}"#, #"{"items":[]}"#, #"{"fieldSchema":""}"#, #"{"items":["a"],"itemGroup":"b"}"#,
    ])
    func aBadPatchIsRefused(text: String) throws {
        let object = try #require(try JSONValue(parsing: text).object)
        #expect { try SubscriptionPatch(object) } throws: { ($0 as? Problem)?.code.status == 422 }
    }
}

internal import TestSupport
internal import Testing

@testable internal import JSONText

struct JSONPatchTests {
    private func apply(_ patch: String, to document: String) throws -> String {
        try JSONPatch(parsing: patch.utf8).applied(to: JSONValue(parsing: document)).text
    }

    private static func patch(_ operations: [JSONPatch.Operation]) -> JSONPatch {
        var patch = JSONPatch(from: nil, to: nil)
        patch.operations = operations
        return patch
    }

    @Test(arguments: [
        (#"{"a":1}"#, #"[{"op":"add","path":"/b","value":2}]"#, #"{"a":1,"b":2}"#),
        (#"{"a":1}"#, #"[{"op":"add","path":"/a","value":[]}]"#, #"{"a":[]}"#),
        ("[1,3]", #"[{"op":"add","path":"/1","value":2}]"#, "[1,2,3]"),
        ("[1]", #"[{"op":"add","path":"/1","value":2},{"op":"add","path":"/-","value":[3]}]"#, "[1,2,[3]]"),
        ("1", #"[{"op":"add","path":"","value":{"x":null}}]"#, #"{"x":null}"#),
        (#"{"a":{}}"#, #"[{"op":"add","path":"/a/b","value":null}]"#, #"{"a":{"b":null}}"#),
        (#"{"a":1,"b":2}"#, #"[{"op":"remove","path":"/a"}]"#, #"{"b":2}"#),
        ("[1,2,3]", #"[{"op":"remove","path":"/1"}]"#, "[1,3]"),
        ("[1]", #"[{"op":"remove","path":""}]"#, "null"),
        (#"{"a":1,"b":2}"#, #"[{"op":"replace","path":"/a","value":"x"}]"#, #"{"a":"x","b":2}"#),
        ("[[1]]", #"[{"op":"replace","path":"/0/0","value":2}]"#, "[[2]]"),
        ("5", #"[{"op":"replace","path":"","value":6}]"#, "6"),
        (#"{"a":{"b":1},"c":{}}"#, #"[{"op":"move","from":"/a/b","path":"/c/d"}]"#, #"{"a":{},"c":{"d":1}}"#),
        ("[1,2,3]", #"[{"op":"move","from":"/0","path":"/2"}]"#, "[2,3,1]"),
        ("[1,2,3]", #"[{"op":"move","from":"/2","path":"/0"}]"#, "[3,1,2]"),
        ("[1]", #"[{"op":"move","from":"/0","path":"/0"}]"#, "[1]"),
        (#"{"a":[1]}"#, #"[{"op":"copy","from":"/a","path":"/b"}]"#, #"{"a":[1],"b":[1]}"#),
        (#"{"a":1}"#, #"[{"op":"copy","from":"","path":"/b"}]"#, #"{"a":1,"b":{"a":1}}"#),
        (#"{"a":{"x":1,"y":2}}"#, #"[{"op":"test","path":"/a","value":{"y":2.0,"x":1e0}}]"#, #"{"a":{"x":1,"y":2}}"#),
        (#"{"a/b":1}"#, #"[{"op":"remove","path":"/a~1b","extra":true}]"#, "{}"),
        ("[]", "[]", "[]"),
    ])
    func appliesOperations(document: String, patch: String, result: String) throws {
        #expect(try apply(patch, to: document) == result)
    }

    @Test(arguments: [
        ("{}", #"[{"op":"add","path":"/a/b","value":1}]"#), ("[]", #"[{"op":"add","path":"/1","value":1}]"#),
        ("[]", #"[{"op":"add","path":"/x","value":1}]"#), ("1", #"[{"op":"add","path":"/a","value":1}]"#),
        ("{}", #"[{"op":"remove","path":"/a"}]"#), ("[]", #"[{"op":"remove","path":"/-"}]"#),
        ("{}", #"[{"op":"replace","path":"/a","value":1}]"#), ("[1]", #"[{"op":"replace","path":"/-","value":1}]"#),
        (#"{"a":{}}"#, #"[{"op":"move","from":"/a","path":"/a/b"}]"#),
        ("{}", #"[{"op":"move","from":"/a","path":"/b"}]"#),
        ("{}", #"[{"op":"copy","from":"/a","path":"/b"}]"#), ("[1]", #"[{"op":"move","from":"/0","path":"/1"}]"#),
        ("{}", #"[{"op":"test","path":"/a","value":null}]"#), ("[1]", #"[{"op":"remove","path":"/01"}]"#),
    ])
    func placesThatDoNotExistFailThePatch(document: String, patch: String) {
        #expect(throws: JSONPatch.Failure.noSuchPlace(0)) { try apply(patch, to: document) }
    }

    @Test func failedTestFailsThePatchAtItsOperation() {
        let patch = #"[{"op":"add","path":"/b","value":1},{"op":"test","path":"/a","value":"2"}]"#
        #expect(throws: JSONPatch.Failure.testFailed(1)) { try apply(patch, to: #"{"a":2}"#) }
    }

    @Test(arguments: [
        "[1]", #"[{"op":"add","path":"/a"}]"#, #"[{"op":"fly","path":""}]"#, #"[{"path":""}]"#, #"[{"op":"remove"}]"#,
        #"[{"op":"remove","path":"a"}]"#, #"[{"op":"remove","path":5}]"#, #"[{"op":"move","path":"/a"}]"#,
        #"[{"op":"copy","path":"/a","from":"b"}]"#, #"[{"op":"replace","path":"/a"}]"#, #"[{"op":"test","path":"/a"}]"#,
    ])
    func malformedOperationsAreRefused(patch: String) {
        #expect(throws: JSONPatch.Failure.malformedOperation(0)) { try JSONPatch(parsing: patch.utf8) }
    }

    @Test func otherDocumentsAreRefused() {
        #expect(throws: JSONPatch.Failure.notAnArray) { try JSONPatch(parsing: "{}".utf8) }
        #expect(throws: JSONPatch.Failure.self) { try JSONPatch(parsing: "[".utf8) }
    }

    @Test func copiesCannotGrowWithoutBound() throws {
        let copy = JSONPatch.Operation.copy(from: JSONPointer(), to: JSONPointer(tokens: ["a"]))
        let deep = Self.patch(Array(repeating: copy, count: 10_000))
        #expect(throws: JSONPatch.Failure.self) { try deep.applied(to: [:]) }
        let twice = (0..<100).map { number in
            JSONPatch.Operation.copy(from: JSONPointer(), to: JSONPointer(tokens: ["n\(number)"]))
        }
        #expect(throws: JSONPatch.Failure.tooLarge(4)) {
            try Self.patch(twice).applied(to: ["n": .string(String(repeating: "x", count: 1 << 20))])
        }
        let path = JSONPointer(tokens: Array(repeating: "a", count: 127))
        #expect(throws: JSONPatch.Failure.tooLarge(0)) { try Self.patch([.add(path, [[]])]).applied(to: [:]) }
    }

    @Test func insertionsAtTheHeadOfALargeArrayAreBounded() throws {
        let patch = Self.patch(Array(repeating: .add(JSONPointer(tokens: ["0"]), 1), count: 10_000))
        let large = JSONValue.array(Array(repeating: 1, count: 1 << 18))
        #expect(throws: JSONPatch.Failure.tooLarge(255)) { try patch.applied(to: large) }
        #expect(try patch.applied(to: [1]).array?.count == 10_001)
    }

    @Test(arguments: [
        #"{"op":"add","path":"/0","value":1}"#, #"{"op":"remove","path":"/0"}"#,
        #"{"op":"move","from":"/0","path":"/1"}"#, #"{"op":"copy","from":"/99","path":"/0"}"#,
        #"{"op":"replace","path":"/0/b","value":1}"#, #"{"op":"test","path":"/0","value":{"b":1,"a":1}}"#,
    ])
    func workOfEachOperationCountsAgainstTheBudget(operation: String) throws {
        let document = JSONValue.array(Array(repeating: ["a": 1, "b": 1], count: 100))
        let patch = try JSONPatch(parsing: "[\(operation)]".utf8)
        var budget = JSONPatch.Budget()
        budget.work = 1
        #expect(throws: JSONPatch.Failure.tooLarge(0)) { try patch.applied(to: document, within: &budget) }
        budget.work = 300
        _ = try patch.applied(to: document, within: &budget)
        #expect(budget.work < 300)
    }

    @Test func appendingAndReplacingElementsTakesNoWork() throws {
        let patch = #"[{"op":"add","path":"/-","value":4},{"op":"replace","path":"/0","value":0}]"#
        var budget = JSONPatch.Budget()
        budget.work = 0
        let result = try JSONPatch(parsing: patch.utf8).applied(to: [1, 2, 3], within: &budget)
        #expect(result.text == "[0,2,3,4]")
    }

    @Test func valuePatchedBeforeStaysAsItWas() throws {
        let document: JSONValue = ["a": [1, ["b": 2]], "c": 3]
        let patch =
            #"[{"op":"add","path":"/a/1/b","value":4},{"op":"remove","path":"/a/0"},{"op":"remove","path":"/c"}]"#
        let result = try JSONPatch(parsing: patch.utf8).applied(to: document)
        #expect(result.text == #"{"a":[{"b":4}]}"#)
        #expect(document.text == #"{"a":[1,{"b":2}],"c":3}"#)
    }

    @Test func patchRoundTripsThroughItsDocument() throws {
        let patch = Self.patch([
            .add(JSONPointer(tokens: ["a/b"]), 1), .remove(JSONPointer()), .replace(JSONPointer(tokens: ["~"]), nil),
            .move(from: JSONPointer(tokens: ["x"]), to: JSONPointer(tokens: ["y"])),
            .copy(from: JSONPointer(tokens: ["x"]), to: JSONPointer(tokens: ["y"])), .test(JSONPointer(), [:]),
        ])
        #expect(try JSONPatch(patch.document) == patch)
        #expect(try JSONPatch(parsing: patch.document.text.utf8) == patch)
    }

    @Test func differenceMakesOneValueOfAnother() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            let old = Self.randomValue(depth: 3, &generator)
            let new = Self.randomValue(depth: 3, &generator)
            let result = try JSONPatch(from: old, to: new).applied(to: old)
            #expect(result.isEquivalent(to: new), "seed \(seed)")
            #expect(JSONPatch(from: old, to: old).operations.isEmpty)
        }
    }

    @Test func differenceIsSmallForASmallChange() throws {
        let old = try JSONValue(parsing: #"{"a":[1,2,3],"b":{"c":"x"}}"#)
        let new = try JSONValue(parsing: #"{"a":[1,9,2,3],"b":{"c":"y"}}"#)
        #expect(
            JSONPatch(from: old, to: new).document.text
                == #"[{"op":"add","path":"/a/1","value":9},{"op":"replace","path":"/b/c","value":"y"}]"#
        )
    }

    private static func randomValue(depth: Int, _ generator: inout SeededGenerator) -> JSONValue {
        switch Int.random(in: 0..<(depth > 0 ? 7 : 4), using: &generator) {
        case 0: return .null
        case 1: return .bool(Bool.random(using: &generator))
        case 2: return .number(JSONNumber(Int.random(in: 0..<3, using: &generator)))
        case 3: return .string(["a", "é", "e\u{301}"].randomElement(using: &generator) ?? "")
        case 4:
            return .array(
                (0..<Int.random(in: 0..<5, using: &generator)).map { _ in randomValue(depth: depth - 1, &generator) }
            )
        default:
            var object = JSONObject()
            for name in ["a", "b/c", "~", "é", "e\u{301}"] where Bool.random(using: &generator) {
                object[name] = randomValue(depth: depth - 1, &generator)
            }
            return .object(object)
        }
    }
}

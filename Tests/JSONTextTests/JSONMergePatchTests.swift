internal import Testing

@testable internal import JSONText

struct JSONMergePatchTests {
    @Test(arguments: [
        (#"{"a":1}"#, #"{"a":2}"#, #"{"a":2}"#), (#"{"a":1}"#, #"{"b":2}"#, #"{"a":1,"b":2}"#),
        (#"{"a":1}"#, #"{"a":null}"#, "{}"), (#"{"a":1,"b":2}"#, #"{"a":null,"c":null}"#, #"{"b":2}"#),
        (#"{"a":[1,2]}"#, #"{"a":[3]}"#, #"{"a":[3]}"#), (#"{"a":"x"}"#, #"{"a":{"b":1}}"#, #"{"a":{"b":1}}"#),
        (#"{"a":{"b":1,"c":2}}"#, #"{"a":{"b":null,"d":3}}"#, #"{"a":{"c":2,"d":3}}"#),
        ("[1]", #"{"a":1,"b":null}"#, #"{"a":1}"#), (#"{"a":1}"#, "[2]", "[2]"), (#"{"a":1}"#, "null", "null"),
        ("{}", #"{"a":{"b":{"c":null}}}"#, #"{"a":{"b":{}}}"#), (#"{"n":null}"#, #"{"a":1}"#, #"{"n":null,"a":1}"#),
        ("{}", #"{"a":[null,{"b":null}]}"#, #"{"a":[null,{"b":null}]}"#),
    ])
    func mergesChanges(document: String, patch: String, result: String) throws {
        let merge = JSONMergePatch(try JSONValue(parsing: patch))
        #expect(merge.applied(to: try JSONValue(parsing: document)).text == result)
    }
}

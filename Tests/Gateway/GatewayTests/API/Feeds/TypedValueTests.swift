import Changes
import JSONText
import Testing

@Suite struct TypedValueTests {
    private func json(_ text: String, _ type: FieldType) -> String? {
        var json = JSONBytes()
        let isOfType = TypedValue.write(text, as: type, to: &json)
        let written = String(decoding: json.bytes, as: UTF8.self)
        if !isOfType { #expect(written == JSONValue.string(text).text) }
        return isOfType ? written : nil
    }

    @Test(arguments: [
        ("23.910", FieldType.number, "23.910"), ("-0.0001", .number, "-0.0001"), ("1e5", .number, "1e5"),
        ("12345678901234567890.123456789", .number, "12345678901234567890.123456789"), ("7", .integer, "7"),
        ("-7", .integer, "-7"), ("true", .boolean, "true"), ("0", .boolean, "false"), ("TRUE", .boolean, "true"),
        ("a\"b", .string, #""a\"b""#), (#"{"a":[1]}"#, .json, #"{"a":[1]}"#),
        ("[1,\r\n2]", .json, "[1,  2]"),
        ("1700000000123", .timestampMilliseconds, #""2023-11-14T22:13:20.123Z""#),
        ("1700000000123.45", .timestampMilliseconds, #""2023-11-14T22:13:20.12345Z""#),
        ("5", .timestampMilliseconds, #""1970-01-01T00:00:00.005Z""#),
        ("1700000000", .timestampSeconds, #""2023-11-14T22:13:20Z""#),
        ("1700000000.123456", .timestampSeconds, #""2023-11-14T22:13:20.123456Z""#),
        ("951782400", .timestampSeconds, #""2000-02-29T00:00:00Z""#),
        ("253402300799", .timestampSeconds, #""9999-12-31T23:59:59Z""#),
    ])
    func valuesKeepTheDigitsOfTheServer(text: String, type: FieldType, value: String) {
        #expect(json(text, type) == value)
    }

    @Test(arguments: [
        ("", FieldType.number), ("1,5", .number), (".5", .number), ("+1", .number), ("NaN", .number), ("1.5", .integer),
        ("1e3", .integer), ("yes", .boolean), ("{", .json), ("", .timestampSeconds), ("-1", .timestampSeconds),
        ("1.", .timestampSeconds), ("noon", .timestampMilliseconds), ("253402300800", .timestampSeconds),
    ])
    func textsOfAnotherTypeAreNotConverted(text: String, type: FieldType) {
        #expect(json(text, type) == nil)
    }
}

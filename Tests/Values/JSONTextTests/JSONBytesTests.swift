internal import Testing

@testable internal import JSONText

struct JSONBytesTests {
    @Test func writesCommasByItself() {
        var json = JSONBytes()
        json.beginObject()
        json.member("a", "x")
        json.key("list")
        json.beginArray()
        json.number(1)
        json.beginObject()
        json.endObject()
        json.beginArray()
        json.endArray()
        json.null()
        json.bool(true)
        json.number(-2.5)
        json.raw("{\"r\":1}")
        json.endArray()
        json.key("dyn\"amic")
        json.string(nil as String?)
        json.member("n", -7)
        json.member("t", false)
        json.endObject()
        #expect(
            String(decoding: json.bytes, as: UTF8.self)
                == #"{"a":"x","list":[1,{},[],null,true,-2.5,{"r":1}],"dyn\"amic":null,"n":-7,"t":false}"#
        )
    }

    @Test(arguments: [
        ("", #""""#), ("plain", #""plain""#), ("\"\\", #""\"\\""#), ("a\nb\u{0}c\u{1F}", #""a\nb\u0000c\u001f""#),
        ("é😀\u{2028}/", "\"é😀\u{2028}/\""), ("\u{7F}", "\"\u{7F}\""), ("x\r\ny", #""x\r\ny""#),
    ])
    func escapesOnlyWhatMustBe(text: String, json: String) throws {
        var writer = JSONBytes()
        writer.string(text)
        #expect(writer.bytes.elementsEqual(json.utf8))
        #expect(try JSONValue(parsing: writer.bytes) == .string(text))
    }

    @Test func escapesAtEveryPlaceOfAText() throws {
        for scalar in (0...0xFF).map({ Unicode.Scalar(UInt8($0)) }) {
            for place in 0..<17 {
                let text = String(repeating: "x", count: place) + String(Character(scalar)) + "yyyyyyyy"
                var writer = JSONBytes()
                writer.string(text)
                let hasEscape = writer.bytes.contains(UInt8(ascii: "\\"))
                #expect(
                    hasEscape == (scalar.value < 0x20 || scalar == "\"" || scalar == "\\"),
                    "\(scalar.value) at \(place)"
                )
                #expect(try JSONValue(parsing: writer.bytes) == .string(text), "\(scalar.value) at \(place)")
            }
        }
    }

    @Test func encodedKeysAreWrittenLikeTheirNames() {
        let names = ["a", "\"b\"", ""]
        let keys = JSONKeys(names)
        var json = JSONBytes()
        json.beginObject()
        for (index, name) in names.enumerated() {
            json.key(index, of: keys)
            json.null()
            json.key(name)
            json.null()
        }
        json.endObject()
        #expect(keys.texts.count == 3)
        #expect(
            String(decoding: json.bytes, as: UTF8.self)
                == #"{"a":null,"a":null,"\"b\"":null,"\"b\"":null,"":null,"":null}"#
        )
    }

    @Test(arguments: [
        (0, "0"), (1, "0.001"), (10, "0.01"), (100, "0.1"), (999, "0.999"), (1000, "1"), (2500, "2.5"),
        (60_040, "60.04"),
        (-1, "-0.001"), (-12_340, "-12.34"), (Int.max, "9223372036854775.807"), (Int.min, "-9223372036854775.808"),
    ])
    func writesThousandths(value: Int, text: String) {
        var json = JSONBytes()
        json.number(thousandths: value)
        #expect(json.bytes.elementsEqual(text.utf8))
        #expect(JSONBytes.length(ofThousandths: value) == text.utf8.count)
    }

    @Test(arguments: [0, 1, -1, 10, 99, 1000, Int.max, Int.min])
    func writesWholeNumbers(value: Int) {
        var json = JSONBytes()
        json.number(value)
        #expect(String(decoding: json.bytes, as: UTF8.self) == String(value))
    }

    @Test func severalTextsShareTheBytes() {
        var json = JSONBytes(Array("data: ".utf8))
        json.number(1)
        json.bytes += Array("\n".utf8)
        json.beginText()
        json.number(.infinity)
        #expect(String(decoding: json.bytes, as: UTF8.self) == "data: 1\nnull")
        json.reset()
        json.bool(false)
        #expect(String(decoding: json.bytes, as: UTF8.self) == "false")
    }
}

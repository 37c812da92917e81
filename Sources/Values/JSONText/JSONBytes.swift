/// Writes compact JSON into a byte array and places the commas.
///
/// The writer does not check that objects and arrays are closed, nor that a key is followed by a value.
package struct JSONBytes: Sendable {
    /// The bytes written so far. Callers may append to them, for example the framing around a text.
    package var bytes: [UInt8]
    private var needsComma = false

    /// A writer that appends to these bytes.
    package init(_ bytes: [UInt8] = []) { self.bytes = bytes }

    /// A writer with capacity for a number of bytes.
    package init(capacity: Int) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    /// Removes all bytes, keeps the capacity, and starts a new text.
    package mutating func reset() {
        bytes.removeAll(keepingCapacity: true)
        needsComma = false
    }

    /// Starts a new text after the present bytes: its first value has no comma before it.
    package mutating func beginText() { needsComma = false }

    /// Ends the text with a newline, and starts a new one.
    package mutating func newline() {
        bytes.append(UInt8(ascii: "\n"))
        needsComma = false
    }

    private mutating func comma() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    package mutating func beginObject() {
        comma()
        bytes.append(UInt8(ascii: "{"))
        needsComma = false
    }

    package mutating func endObject() {
        bytes.append(UInt8(ascii: "}"))
        needsComma = true
    }

    package mutating func beginArray() {
        comma()
        bytes.append(UInt8(ascii: "["))
        needsComma = false
    }

    package mutating func endArray() {
        bytes.append(UInt8(ascii: "]"))
        needsComma = true
    }

    /// Writes the name of the next member, escaped.
    package mutating func key(_ name: String) {
        JSONEscaping.append(name, afterComma: needsComma, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes a name that is encoded already; `index` is less than the number of keys.
    package mutating func key(_ index: Int, of keys: JSONKeys) {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        bytes.append(contentsOf: keys.texts[index])
        needsComma = false
    }

    /// Writes a name that needs no escape.
    package mutating func key(_ name: StaticString) {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes a string, or `null`.
    package mutating func string(_ text: String?) {
        guard let text else { return null() }
        JSONEscaping.append(text, afterComma: needsComma, to: &bytes)
        needsComma = true
    }

    package mutating func number(_ value: Int) {
        comma()
        bytes.append(decimal: value)
    }

    /// Writes thousandths as a number with up to three decimals, for example 2500 as 2.5.
    package mutating func number(thousandths value: Int) {
        comma()
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        let (whole, rest) = value.magnitude.quotientAndRemainder(dividingBy: 1000)
        bytes.append(decimal: Int(whole))
        if rest == 0 { return }
        bytes.append(UInt8(ascii: "."))
        bytes.append(UInt8(ascii: "0") + UInt8(rest / 100))
        if rest % 100 == 0 { return }
        bytes.append(UInt8(ascii: "0") + UInt8(rest / 10 % 10))
        if rest % 10 != 0 { bytes.append(UInt8(ascii: "0") + UInt8(rest % 10)) }
    }

    /// The number of bytes that `number(thousandths:)` writes, without a comma.
    package static func length(ofThousandths value: Int) -> Int {
        let (whole, rest) = value.magnitude.quotientAndRemainder(dividingBy: 1000)
        let length = whole.decimalLength + (value < 0 ? 1 : 0)
        if rest == 0 { return length }
        return length + (rest % 100 == 0 ? 2 : rest % 10 == 0 ? 3 : 4)
    }

    /// Writes a number; `null` for infinities and NaN, which JSON cannot represent.
    package mutating func number(_ value: Double) {
        if value.isFinite { raw(value.description) } else { null() }
    }

    package mutating func bool(_ value: Bool) { raw(value ? "true" : "false") }

    package mutating func null() { raw("null") }

    /// Leaves a value out, for which the caller has another one to insert at the present end.
    package mutating func gap() { comma() }

    /// Writes a text that is known to be one JSON value.
    package mutating func raw(_ text: String) {
        comma()
        bytes.append(contentsOf: text.utf8)
    }

    /// Writes bytes that are known to be JSON.
    package mutating func raw(_ text: [UInt8]) {
        comma()
        bytes.append(contentsOf: text)
    }

    /// Writes a key and a string.
    package mutating func member(_ name: StaticString, _ text: String?) {
        key(name)
        string(text)
    }

    /// Writes a key and a truth value.
    package mutating func member(_ name: StaticString, _ value: Bool) {
        key(name)
        bytes.append(contentsOf: (value ? "true" : "false").utf8)
        needsComma = true
    }

    /// Writes a number; a whole number without a fraction.
    package mutating func shortest(_ value: Double) {
        if let whole = Int(exactly: value) { number(whole) } else { number(value) }
    }

    /// Writes a key and a whole number, or `null`.
    package mutating func member(_ name: StaticString, _ value: Int?) {
        key(name)
        guard let value else { return null() }
        bytes.append(decimal: value)
        needsComma = true
    }

    /// Writes a key and a number, or `null`.
    package mutating func member(_ name: StaticString, _ value: Double?) {
        key(name)
        if let value { shortest(value) } else { null() }
    }

    /// Writes a key and a count.
    package mutating func member(_ name: StaticString, _ value: UInt64) { member(name, Int(clamping: value)) }

    /// Writes a key and an object.
    package mutating func object(_ name: StaticString, _ writeMembers: (inout JSONBytes) -> Void) {
        key(name)
        beginObject()
        writeMembers(&self)
        endObject()
    }

    /// Writes a key and an array.
    package mutating func array<Elements: Sequence>(
        _ name: StaticString,
        of elements: Elements,
        _ write: (inout JSONBytes, Elements.Element) -> Void
    ) {
        key(name)
        beginArray()
        for element in elements { write(&self, element) }
        endArray()
    }

    /// Writes a key and an array of objects.
    package mutating func objects<Elements: Sequence>(
        _ name: StaticString,
        of elements: Elements,
        _ writeMembers: (inout JSONBytes, Elements.Element) -> Void
    ) {
        array(name, of: elements) { json, element in
            json.beginObject()
            writeMembers(&json, element)
            json.endObject()
        }
    }

    /// Writes a key and a list of strings, or `null`.
    package mutating func member(_ name: StaticString, _ values: [String]?) {
        key(name)
        guard let values else { return null() }
        beginArray()
        for value in values { string(value) }
        endArray()
    }
}

/// The names of members as JSON, with quotation marks and colons, for names that are written often.
package struct JSONKeys: Sendable {
    /// The encoded names.
    package let texts: [[UInt8]]

    package init(_ names: [String]) {
        texts = names.map { name in
            var text: [UInt8] = []
            JSONEscaping.append(name, afterComma: false, to: &text)
            text.append(UInt8(ascii: ":"))
            return text
        }
    }
}

extension JSONValue {
    /// The compact text: no white space, members in order, numbers as they were written, `/` not escaped.
    package var text: String {
        var writer = JSONBytes()
        writer.value(self)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

extension JSONBytes {
    package mutating func value(_ value: JSONValue) {
        switch value {
        case .null: null()
        case .bool(let value): bool(value)
        case .number(let number): raw(number.text)
        case .string(let text): string(text)
        case .array(let elements):
            beginArray()
            for element in elements { self.value(element) }
            endArray()
        case .object(let members):
            beginObject()
            for member in members {
                key(member.name)
                self.value(member.value)
            }
            endObject()
        }
    }
}

extension [UInt8] {
    /// Appends the decimal digits of a number without an intermediate string.
    package mutating func append(decimal value: Int) {
        if value < 0 { append(UInt8(ascii: "-")) }
        var first = count
        var rest = value.magnitude
        repeat {
            let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit))
            rest = quotient
        } while rest > 0
        // The last digit comes first so far.
        var last = count - 1
        while first < last {
            swapAt(first, last)
            first += 1
            last -= 1
        }
    }
}

extension UInt {
    /// The number of decimal digits.
    fileprivate var decimalLength: Int {
        var length = 1
        var rest = self
        while rest >= 10 {
            length += 1
            rest /= 10
        }
        return length
    }
}

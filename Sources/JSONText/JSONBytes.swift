/// Writes compact JSON into bytes, commas in their places by itself; for texts that are written often.
///
/// It does not check that what is opened gets closed or that a key is followed by a value: that is the caller's.
package struct JSONBytes: Sendable {
    /// The bytes so far. May be added to freely (framing before and after a text).
    package var bytes: [UInt8]
    private var needsComma = false

    /// A writer that goes on after these bytes.
    package init(_ bytes: [UInt8] = []) { self.bytes = bytes }

    /// A writer with room for so many bytes.
    package init(capacity: Int) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    /// Forgets all bytes, keeps their memory, and starts a new text.
    package mutating func reset() {
        bytes.removeAll(keepingCapacity: true)
        needsComma = false
    }

    /// Starts a new text after the present bytes: no comma before its first value.
    package mutating func beginText() { needsComma = false }

    private mutating func comma() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    /// Opens an object.
    package mutating func beginObject() {
        comma()
        bytes.append(UInt8(ascii: "{"))
        needsComma = false
    }

    /// Closes an object.
    package mutating func endObject() {
        bytes.append(UInt8(ascii: "}"))
        needsComma = true
    }

    /// Opens an array.
    package mutating func beginArray() {
        comma()
        bytes.append(UInt8(ascii: "["))
        needsComma = false
    }

    /// Closes an array.
    package mutating func endArray() {
        bytes.append(UInt8(ascii: "]"))
        needsComma = true
    }

    /// Writes the name of the next member, escaped.
    package mutating func key(_ name: String) {
        comma()
        JSONEscaping.append(name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes a name that needs no escape.
    package mutating func key(_ name: StaticString) {
        comma()
        bytes.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes a string.
    package mutating func string(_ text: String) {
        comma()
        JSONEscaping.append(text, to: &bytes)
    }

    /// Writes a string, or `null`.
    package mutating func string(_ text: String?) {
        if let text { string(text) } else { null() }
    }

    /// Writes a whole number.
    package mutating func number(_ value: Int) {
        comma()
        bytes.append(decimal: value)
    }

    /// Writes a number; `null` for infinities and NaN, which JSON cannot tell.
    package mutating func number(_ value: Double) {
        if value.isFinite { raw(value.description) } else { null() }
    }

    /// Writes `true` or `false`.
    package mutating func bool(_ value: Bool) {
        raw(value ? "true" : "false")
    }

    /// Writes `null`.
    package mutating func null() { raw("null") }

    /// Writes a text that is known to be one JSON value.
    package mutating func raw(_ text: String) {
        comma()
        bytes.append(contentsOf: text.utf8)
    }

    /// Writes bytes that are known to be one JSON value.
    package mutating func raw(_ value: some Collection<UInt8>) {
        comma()
        bytes.append(contentsOf: value)
    }

    /// Writes a key and a string.
    package mutating func member(_ name: StaticString, _ text: String?) {
        key(name)
        string(text)
    }

    /// Writes a key and a whole number.
    package mutating func member(_ name: StaticString, _ value: Int) {
        key(name)
        number(value)
    }

    /// Writes a key and a truth value.
    package mutating func member(_ name: StaticString, _ value: Bool) {
        key(name)
        bool(value)
    }
}

/// Writes compact JSON into a byte array and places the commas.
///
/// It does not check that objects and arrays are closed, nor that a key is followed by a value.
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
        JSONEscaping.append(name, afterComma: needsComma, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes a name that is encoded already; `index` is less than the number of keys.
    package mutating func key(_ index: Int, of keys: JSONKeys) {
        keys.append(index, afterComma: needsComma, to: &bytes)
        needsComma = false
    }

    /// Writes a name that needs no escape.
    package mutating func key(_ name: StaticString) {
        name.withUTF8Buffer { name in
            bytes.append(addingCapacity: name.count + 4) { span in
                if needsComma { span.append(UInt8(ascii: ",")) }
                span.append(UInt8(ascii: "\""))
                span.append(contentsOf: name)
                span.append(UInt8(ascii: "\""))
                span.append(UInt8(ascii: ":"))
            }
        }
        needsComma = false
    }

    /// Writes a string.
    package mutating func string(_ text: String) {
        JSONEscaping.append(text, afterComma: needsComma, to: &bytes)
        needsComma = true
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

    /// Writes bytes that are known to be JSON.
    package mutating func raw(_ text: [UInt8]) {
        comma()
        bytes.append(contentsOf: text)
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

/// The names of members as JSON, with quotation marks and colons, for names that are written often.
package struct JSONKeys: Sendable {
    /// All names, one after the other.
    private var bytes: [UInt8] = []
    /// Where each name ends, after a 0 for the start of the first.
    private var ends = [0]

    /// Encodes names.
    package init(_ names: [String]) {
        ends.reserveCapacity(names.count + 1)
        for name in names {
            JSONEscaping.append(name, afterComma: false, to: &bytes)
            bytes.append(UInt8(ascii: ":"))
            ends.append(bytes.count)
        }
    }

    /// The number of names.
    package var count: Int { ends.count - 1 }

    fileprivate func append(_ index: Int, afterComma needsComma: Bool, to other: inout [UInt8]) {
        let range = ends[index]..<ends[index + 1]
        bytes.withUnsafeBufferPointer { bytes in
            other.append(addingCapacity: range.count + 1) { span in
                if needsComma { span.append(UInt8(ascii: ",")) }
                span.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[range]))
            }
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
    /// Writes any value.
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

/// Writes JSON strings: quotation marks, and escapes only where JSON requires them.
enum JSONEscaping {
    /// Appends a string with its quotation marks.
    static func append(_ text: String, afterComma needsComma: Bool, to bytes: inout [UInt8]) {
        let done: Void? = text.utf8.withContiguousStorageIfAvailable { append($0, afterComma: needsComma, to: &bytes) }
        if done == nil {
            Array(text.utf8).withUnsafeBufferPointer { append($0, afterComma: needsComma, to: &bytes) }
        }
    }

    /// Appends runs of bytes that need no escape, with the escapes between them. Most texts are one run.
    private static func append(
        _ text: UnsafeBufferPointer<UInt8>,
        afterComma needsComma: Bool,
        to bytes: inout [UInt8]
    ) {
        var runEnd = endOfRun(in: text, from: 0)
        bytes.append(addingCapacity: text.count + 3) { span in
            if needsComma { span.append(UInt8(ascii: ",")) }
            span.append(UInt8(ascii: "\""))
            span.append(contentsOf: UnsafeBufferPointer(rebasing: text[..<runEnd]))
            if runEnd == text.count { span.append(UInt8(ascii: "\"")) }
        }
        if runEnd == text.count { return }
        while runEnd < text.count {
            escape(text[runEnd], to: &bytes)
            let runStart = runEnd + 1
            runEnd = endOfRun(in: text, from: runStart)
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[runStart..<runEnd]))
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// The index of the first byte that needs an escape, or the end.
    private static func endOfRun(in text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        let bytes = UnsafeRawBufferPointer(text)
        let end = bytes.count
        var index = start
        while index + 8 <= end, !needsEscape(bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)) { index += 8 }
        // The last few bytes are compared at once too, together with bytes before them.
        if end - start >= 8 {
            if !needsEscape(bytes.loadUnaligned(fromByteOffset: end - 8, as: UInt64.self)), end - index < 8 {
                return end
            }
        } else if end - start >= 4 {
            let first = bytes.loadUnaligned(fromByteOffset: start, as: UInt32.self)
            let last = bytes.loadUnaligned(fromByteOffset: end - 4, as: UInt32.self)
            if !needsEscape(UInt64(first) << 32 | UInt64(last)) { return end }
        }
        while index < end {
            let byte = bytes[index]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return index }
            index += 1
        }
        return index
    }

    /// Whether one of eight bytes is a control character, a quotation mark or a backslash; all are compared at once.
    private static func needsEscape(_ bytes: UInt64) -> Bool {
        let each: UInt64 = 0x0101_0101_0101_0101
        let quotes = bytes ^ (each &* UInt64(UInt8(ascii: "\"")))
        let backslashes = bytes ^ (each &* UInt64(UInt8(ascii: "\\")))
        // Below a limit, the subtraction borrows from the top bit of a byte, which was 0.
        let isControl = (bytes &- each &* 0x20) & ~bytes
        let isQuote = (quotes &- each) & ~quotes
        let isBackslash = (backslashes &- each) & ~backslashes
        return (isControl | isQuote | isBackslash) & (each &* 0x80) != 0
    }

    private static func escape(_ byte: UInt8, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0C: bytes.append(UInt8(ascii: "f"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        case 0..<0x20:
            bytes.append(contentsOf: "u00".utf8)
            bytes.append(UInt8(ascii: "0") + (byte >> 4))
            let low = byte & 0x0F
            bytes.append(low < 10 ? UInt8(ascii: "0") + low : UInt8(ascii: "a") + low - 10)
        default: bytes.append(byte)
        }
    }
}

extension OutputSpan<UInt8> {
    /// Appends bytes, for which there is room.
    @inline(__always)
    fileprivate mutating func append(contentsOf bytes: UnsafeBufferPointer<UInt8>) {
        withUnsafeMutableBufferPointer { buffer, count in
            let room = UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: buffer[count...]))
            room.copyMemory(from: UnsafeRawBufferPointer(bytes))
            count += bytes.count
        }
    }
}

extension [UInt8] {
    /// Appends the decimal digits of a number without an intermediate string.
    package mutating func append(decimal value: Int) {
        if value < 0 { append(UInt8(ascii: "-")) }
        var rest = value.magnitude
        let length = rest.decimalLength
        append(addingCapacity: length) { span in
            span.withUnsafeMutableBufferPointer { buffer, count in
                for index in stride(from: count + length - 1, through: count, by: -1) {
                    let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
                    buffer[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit)
                    rest = quotient
                }
                count += length
            }
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

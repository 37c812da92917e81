/// The reason and position of a JSON syntax error.
package struct JSONParseError: Error, Hashable, Sendable {
    /// The fault of the text.
    package enum Reason: Hashable, Sendable {
        /// The text ends inside a value.
        case unexpectedEnd
        /// A byte that cannot stand here.
        case unexpectedByte(UInt8)
        /// Bytes other than white space follow the value.
        case trailingBytes
        /// Not a number of JSON: a leading zero, a missing digit.
        case malformedNumber
        /// An escape that JSON does not define, or `\u` without four hexadecimal digits.
        case malformedEscape
        /// Half of a surrogate pair.
        case loneSurrogate
        /// A control character that is not escaped.
        case controlCharacter
        /// Bytes that are not UTF-8.
        case invalidUTF8
        /// The text begins with U+FEFF, as some editors write it (RFC 8259 section 8.1).
        case byteOrderMark
        /// Arrays or objects nested deeper than the limit.
        case tooDeep(limit: Int)
        /// Two members of one object have the same name.
        case duplicateName(String)
    }

    /// The fault of the text.
    package let reason: Reason
    /// The line, from 1.
    package let line: Int
    /// The column in bytes, from 1.
    package let column: Int

    /// An error at an offset of a text, line and column counted.
    init(_ reason: Reason, at offset: Int, in bytes: UnsafeBufferPointer<UInt8>) {
        let isMarked = offset == 0 && bytes.starts(with: [0xEF, 0xBB, 0xBF])
        self.reason = isMarked ? .byteOrderMark : reason
        var line = 1
        var lineStart = 0
        for index in 0..<Swift.min(offset, bytes.count) where bytes[index] == UInt8(ascii: "\n") {
            line += 1
            lineStart = index + 1
        }
        self.line = line
        column = offset - lineStart + 1
    }
}

extension JSONParseError: CustomStringConvertible {
    package var description: String { "\(reason.explanation) at line \(line), column \(column)" }
}

extension JSONParseError.Reason {
    /// A short explanation in English.
    package var explanation: String {
        switch self {
        case .unexpectedEnd: "unexpected end of text"
        case .unexpectedByte(let byte) where byte > 0x20 && byte < 0x7F:
            "unexpected character '\(Character(Unicode.Scalar(byte)))'"
        case .unexpectedByte(let byte): "unexpected byte \(byte)"
        case .trailingBytes: "unexpected text after the value"
        case .malformedNumber: "malformed number"
        case .malformedEscape: "malformed escape sequence"
        case .loneSurrogate: "half of a surrogate pair"
        case .controlCharacter: "control character that is not escaped"
        case .invalidUTF8: "invalid UTF-8"
        case .byteOrderMark: "byte order mark"
        case .tooDeep(let limit): "nesting deeper than \(limit)"
        case .duplicateName(let name): "duplicate member \"\(name)\""
        }
    }
}

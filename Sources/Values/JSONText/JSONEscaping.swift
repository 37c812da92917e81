/// Writes JSON strings: quotation marks, and escapes only where JSON requires them.
enum JSONEscaping {
    /// Appends a string with its quotation marks: runs of bytes that need no escape, with the escapes between them. Most
    /// texts are one run.
    static func append(_ text: String, afterComma needsComma: Bool, to bytes: inout [UInt8]) {
        var text = text
        text.withUTF8 { text in
            var runEnd = endOfRun(in: text, from: 0)
            if needsComma { bytes.append(UInt8(ascii: ",")) }
            bytes.append(UInt8(ascii: "\""))
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[..<runEnd]))
            while runEnd < text.count {
                escape(text[runEnd], to: &bytes)
                let runStart = runEnd + 1
                runEnd = endOfRun(in: text, from: runStart)
                bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[runStart..<runEnd]))
            }
            bytes.append(UInt8(ascii: "\""))
        }
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
            switch bytes[index] {
            case 0..<0x20, UInt8(ascii: "\""), UInt8(ascii: "\\"): return index
            default: index += 1
            }
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

extension String {
    /// Whether both strings have the same UTF-8 bytes, whereas `==` also equates canonically equivalent texts.
    package func hasSameBytes(as other: String) -> Bool {
        let left = utf8
        let right = other.utf8
        guard left.count == right.count else { return false }
        let fast = left.withContiguousStorageIfAvailable { left in
            right.withContiguousStorageIfAvailable { right in left.hasSameBytes(as: right) }
        }
        return (fast ?? nil) ?? left.elementsEqual(right)
    }

    /// Whether the UTF-8 bytes of the string are these bytes.
    package func hasSameBytes(as bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard utf8.count == bytes.count else { return false }
        return utf8.withContiguousStorageIfAvailable { $0.hasSameBytes(as: bytes) } ?? utf8.elementsEqual(bytes)
    }

    /// Feeds the UTF-8 bytes to a hasher, consistently with `hasSameBytes(as:)`.
    package func hashBytes(into hasher: inout Hasher) {
        var text = self
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // A terminator that UTF-8 never contains keeps neighbouring strings apart.
        hasher.combine(0xFF as UInt8)
    }
}

/// A text that is equal to texts of the same UTF-8 bytes only, whereas the `==` of `String` also equates canonically equivalent
/// texts.
package struct ExactText: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    package let text: String

    package init(_ text: String) { self.text = text }

    package init(stringLiteral text: String) { self.text = text }

    package var description: String { text }

    package static func == (left: ExactText, right: ExactText) -> Bool { left.text.hasSameBytes(as: right.text) }

    package func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
}

extension String? {
    /// Whether both are nil, or strings with the same UTF-8 bytes.
    package func hasSameBytes(as other: String?) -> Bool {
        switch (self, other) {
        case (let left?, let right?): left.hasSameBytes(as: right)
        case (nil, nil): true
        case (_?, nil), (nil, _?): false
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Equal bytes, compared word by word.
    fileprivate func hasSameBytes(as other: UnsafeBufferPointer<UInt8>) -> Bool {
        guard count == other.count else { return false }
        let left = UnsafeRawBufferPointer(self)
        let right = UnsafeRawBufferPointer(other)
        var index = 0
        while index + 8 <= count {
            let word = left.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            if word != right.loadUnaligned(fromByteOffset: index, as: UInt64.self) { return false }
            index += 8
        }
        while index < count {
            if left[index] != right[index] { return false }
            index += 1
        }
        return true
    }
}

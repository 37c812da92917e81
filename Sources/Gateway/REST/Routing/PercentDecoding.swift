/// Percent-decoding of URLs (RFC 3986 section 2.1), strict: what cannot be decoded is refused, never guessed.
enum PercentDecoding {
    /// Decodes once. Nil for a `%` without two hex digits, and for bytes that are not UTF-8 afterwards.
    ///
    /// - Parameter plusIsSpace: As in queries written by forms; in paths a plus is a plus.
    static func decode(_ text: Substring.UTF8View, plusIsSpace: Bool) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var position = text.startIndex
        while position != text.endIndex {
            let byte = text[position]
            position = text.index(after: position)
            switch byte {
            case UInt8(ascii: "%"):
                guard position != text.endIndex, let high = hexDigit(text[position]) else { return nil }
                position = text.index(after: position)
                guard position != text.endIndex, let low = hexDigit(text[position]) else { return nil }
                position = text.index(after: position)
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace:
                bytes.append(UInt8(ascii: " "))
            default:
                bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Encodes a path segment or query value: everything but unreserved characters.
    static func encode(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                bytes.append(byte)
            default:
                let digits = Array("0123456789ABCDEF".utf8)
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}

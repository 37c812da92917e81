/// The classes of the characters of ASCII.
extension UInt8 {
    @inlinable package var isASCIIDigit: Bool { self &- 0x30 < 10 }

    /// Whether this is a letter or a digit.
    @inlinable package var isASCIIAlphanumeric: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }

    /// Whether this is a control character, a tab included.
    @inlinable package var isASCIIControl: Bool { self < 0x20 || self == 0x7F }
}

extension StringProtocol {
    /// Whether the text has digits and nothing else, or is empty.
    @inlinable package var hasASCIIDigitsOnly: Bool {
        for byte in utf8 where !byte.isASCIIDigit { return false }
        return true
    }

    @inlinable package var hasASCIIControls: Bool { utf8.contains(where: \.isASCIIControl) }
}

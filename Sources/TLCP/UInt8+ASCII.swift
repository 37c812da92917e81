extension UInt8 {
    /// Whether this is an ASCII digit.
    var isASCIIDigit: Bool { self &- 0x30 < 10 }

    /// Whether this is an ASCII letter.
    var isASCIILetter: Bool { (self | 0x20) &- 0x61 < 26 }

    /// Whether this is an ASCII letter or digit.
    var isASCIIAlphanumeric: Bool { isASCIIDigit || isASCIILetter }

    /// The value as a hexadecimal digit of either case.
    var hexadecimalValue: UInt8? {
        if isASCIIDigit { return self & 0x0F }
        let letter = (self | 0x20) &- 0x61
        return letter < 6 ? letter + 10 : nil
    }
}

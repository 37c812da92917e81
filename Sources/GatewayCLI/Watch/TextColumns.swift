/// The columns of a terminal that texts occupy.

extension String {
    var columns: Int { reduce(0) { $0 + $1.columns } }
}

extension Character {
    /// 2 for a character of East Asian scripts and for an emoji, as in Unicode Standard Annex 11 and in terminals;
    /// otherwise 1.
    var columns: Int {
        guard let first = unicodeScalars.first else { return 0 }
        if first.properties.isEmojiPresentation { return 2 }
        if unicodeScalars.dropFirst().contains("\u{FE0F}") { return 2 }
        return Self.wide.contains { $0.contains(first.value) } ? 2 : 1
    }

    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
        0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1B000...0x1B2FF, 0x20000...0x3FFFD,
    ]
}

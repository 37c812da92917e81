internal import JSONText

extension JSONBytes {
    /// Writes a number, without a fraction where it has none.
    mutating func shortest(_ value: Double) {
        if let whole = Int(exactly: value) { number(whole) } else { number(value) }
    }
}

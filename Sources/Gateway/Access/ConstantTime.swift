/// Comparison of secrets.
enum ConstantTime {
    /// Whether two rows of bytes are equal; looks at all of them, wherever the first difference is. Rows of different
    /// lengths are told apart at once: lengths are no secret here.
    static func areEqual(_ one: some Collection<UInt8>, _ other: some Collection<UInt8>) -> Bool {
        guard one.count == other.count else { return false }
        var difference: UInt8 = 0
        for (left, right) in zip(one, other) { difference |= left ^ right }
        return difference == 0
    }
}

/// Decimal numbers of the class reference: digits with at most one point, no sign, no exponent.
enum NumberText {
    static func positive(_ text: String, _ property: String, _ rule: String) throws(ClientError) -> Double {
        let isPlain = text.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
        guard isPlain, text.utf8.count <= 64, let number = Double(text), number.isFinite, number > 0 else {
            throw ClientError(.invalidValue, property: property, value: text, rule: rule)
        }
        return number
    }

    static func positiveInteger(_ text: String, _ property: String, _ rule: String) throws(ClientError) -> Int {
        let isPlain = text.utf8.allSatisfy { (0x30...0x39).contains($0) }
        guard isPlain, let number = Int(text), number > 0 else {
            throw ClientError(.invalidValue, property: property, value: text, rule: rule)
        }
        return number
    }

    /// The number without a useless fraction.
    static func of(_ number: Double) -> String {
        let text = "\(number)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}

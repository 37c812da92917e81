/// A JSON number, kept as the text it was written with: `1.0`, `1e400` and integers of any size survive unchanged.
package struct JSONNumber: Sendable, Hashable, CustomStringConvertible {
    /// The text, in the grammar of RFC 8259 section 6; ASCII.
    package let text: String

    /// A number with this text; nil if it is not in the grammar of JSON.
    package init?(_ text: String) {
        guard JSONNumber.isNumber(text.utf8) else { return nil }
        self.text = text
    }

    /// A number whose text is known to be in the grammar.
    init(trusted text: String) { self.text = text }

    /// A whole number.
    package init(_ value: some BinaryInteger) { text = String(value) }

    /// The value as an integer; nil if the text has a fraction or exponent, or the value is out of range.
    package var intValue: Int? { Int(text) }

    /// The nearest double; nil if the value is too large for one.
    package var doubleValue: Double? {
        guard let value = Double(text), value.isFinite else { return nil }
        return value
    }

    package var description: String { text }

    /// Whether both texts stand for exactly the same number, as `1`, `1.0` and `10e-1` do.
    package func isEquivalent(to other: JSONNumber) -> Bool {
        if text == other.text { return true }
        guard let left = JSONDecimal(text), let right = JSONDecimal(other.text) else { return false }
        return left == right
    }

    /// Whether the bytes, all of them, are a JSON number.
    static func isNumber(_ bytes: String.UTF8View) -> Bool {
        var scan = bytes[...]
        if scan.first == UInt8(ascii: "-") { scan.removeFirst() }
        guard let first = scan.popFirst(), isDigit(first) else { return false }
        if first != UInt8(ascii: "0") { scan = scan.drop(while: isDigit) }
        if scan.first == UInt8(ascii: ".") {
            scan.removeFirst()
            guard let digit = scan.popFirst(), isDigit(digit) else { return false }
            scan = scan.drop(while: isDigit)
        }
        if scan.first == UInt8(ascii: "e") || scan.first == UInt8(ascii: "E") {
            scan.removeFirst()
            if scan.first == UInt8(ascii: "+") || scan.first == UInt8(ascii: "-") { scan.removeFirst() }
            guard let digit = scan.popFirst(), isDigit(digit) else { return false }
            scan = scan.drop(while: isDigit)
        }
        return scan.isEmpty
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }
}

/// The exact value of a JSON number in normal form: sign, digits without leading and trailing zeros, power of ten.
struct JSONDecimal: Equatable {
    private var isNegative = false
    private var digits: [UInt8] = []
    private var exponent = 0

    /// The value of a text in the grammar of JSON; nil if its exponent overflows.
    init?(_ text: String) {
        var pastPoint = false
        var exponentText: Substring.UTF8View?
        let bytes = text.utf8
        for index in bytes.indices {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: "-"): isNegative = true
            case UInt8(ascii: "."): pastPoint = true
            case UInt8(ascii: "e"), UInt8(ascii: "E"): exponentText = text[bytes.index(after: index)...].utf8
            default:
                if !(digits.isEmpty && byte == UInt8(ascii: "0")) { digits.append(byte) }
                if pastPoint { exponent -= 1 }
            }
            if exponentText != nil { break }
        }
        if let exponentText {
            guard let written = Int(Substring(exponentText)) else { return nil }
            let (sum, overflow) = exponent.addingReportingOverflow(written)
            if overflow { return nil }
            exponent = sum
        }
        normalize()
    }

    private mutating func normalize() {
        while digits.last == UInt8(ascii: "0") {
            digits.removeLast()
            let (sum, overflow) = exponent.addingReportingOverflow(1)
            exponent = overflow ? exponent : sum
        }
        if digits.isEmpty {
            isNegative = false
            exponent = 0
        }
    }
}

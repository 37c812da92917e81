/// The exact value of a JSON number in normal form: sign, digits without outer zeros, power of ten.
struct JSONDecimal: Equatable {
    private var isNegative = false
    private var digits: [UInt8] = []
    private var exponent = 0

    /// The value of a text in the grammar of JSON; nil if its exponent is out of all measure.
    init?(_ text: String) {
        var pastPoint = false
        var exponentText: Substring.UTF8View?
        let bytes = text.utf8
        for index in bytes.indices {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: "-"): isNegative = true
            case UInt8(ascii: "."): pastPoint = true
            case UInt8(ascii: "e"), UInt8(ascii: "E"):
                exponentText = text[bytes.index(after: index)...].utf8
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

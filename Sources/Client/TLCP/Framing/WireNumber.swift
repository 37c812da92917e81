/// The number format of TLCP: ASCII decimal, a dot before fractions, no exponent.
enum WireNumber {
    /// Parses all of the bytes as a whole number, 0 or greater; nil if they are not one, or if it is out of range.
    static func count<Bytes>(_ bytes: Bytes) -> Int?
    where Bytes: RandomAccessCollection, Bytes.Element == UInt8, Bytes.Index == Int {
        var index = bytes.startIndex
        guard let value = count(in: bytes, from: &index), index == bytes.endIndex else { return nil }
        return value
    }

    /// Parses a whole number, 0 or greater, that ends at the next comma or at the end of the bytes, and moves `index`
    /// to that end; nil if there is no number, or if it is out of range.
    static func count<Bytes>(in bytes: Bytes, from index: inout Int) -> Int?
    where Bytes: RandomAccessCollection, Bytes.Element == UInt8, Bytes.Index == Int {
        let start = index
        var value = 0
        while index < bytes.endIndex, bytes[index] != UInt8(ascii: ",") {
            let digit = bytes[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            let (product, tooBig) = value.multipliedReportingOverflow(by: 10)
            let (sum, tooBigStill) = product.addingReportingOverflow(Int(digit))
            guard !tooBig, !tooBigStill else { return nil }
            value = sum
            index += 1
        }
        return index > start ? value : nil
    }

    /// A whole number of either sign.
    static func integer(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard bytes.first == UInt8(ascii: "-") else { return count(bytes) }
        return count(bytes.dropFirst()).map { -$0 }
    }

    /// A decimal number from 0 (`5`, `0.5`); nil for anything else, exponents included.
    static func decimal(_ text: String) -> Double? {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(\.isASCIIDigit) }),
            let value = Double(text), value.isFinite
        else { return nil }
        return value
    }

    /// The text of a decimal number, with at least one digit after the dot and without an exponent.
    static func text(_ value: Double) -> String {
        let shortest = value.description
        guard let mark = shortest.utf8.firstIndex(of: UInt8(ascii: "e")) else { return shortest }
        let exponent = Int(shortest[shortest.utf8.index(after: mark)...]) ?? 0
        let mantissa = shortest[..<mark].utf8.drop { $0 == UInt8(ascii: "-") }
        let whole = mantissa.prefix { $0 != UInt8(ascii: ".") }
        return (value < 0 ? "-" : "") + place(whole.count + exponent, in: mantissa.filter(\.isASCIIDigit))
    }

    private static func place(_ point: Int, in digits: [UInt8]) -> String {
        var bytes = [UInt8](repeating: UInt8(ascii: "0"), count: max(0, 1 - point)) + digits
        let position = max(point, 1)
        while bytes.count <= position { bytes.append(UInt8(ascii: "0")) }
        bytes.insert(UInt8(ascii: "."), at: position)
        return String(decoding: bytes, as: UTF8.self)
    }
}

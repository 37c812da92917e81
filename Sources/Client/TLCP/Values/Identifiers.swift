package import JSONText
internal import Primitives

/// The identifier that the server assigns to a session; opaque.
package struct SessionID: Sendable, Hashable, CustomStringConvertible {
    package let rawValue: String

    package init(_ rawValue: String) { self.rawValue = rawValue }

    package var description: String { rawValue }
}

/// The number that the client assigns to a subscription, unique within a session; positive.
package struct SubscriptionID: Sendable, Hashable, Comparable, CustomStringConvertible {
    package let rawValue: Int

    package init(_ rawValue: Int) { self.rawValue = rawValue }

    package var description: String { String(rawValue) }

    package static func < (left: SubscriptionID, right: SubscriptionID) -> Bool { left.rawValue < right.rawValue }
}

/// The identifier that the client assigns to a control or message request and the response echoes; ASCII letters and
/// digits.
package struct RequestID: Sendable, Hashable, CustomStringConvertible {
    package let rawValue: String

    package init(_ rawValue: String) { self.rawValue = rawValue }

    /// The identifier with the digits of a number.
    package init(_ number: Int) { rawValue = String(number) }

    package var description: String { rawValue }

    /// Whether the text is one or more ASCII letters and digits.
    package var isWellFormed: Bool { !rawValue.isEmpty && rawValue.utf8.allSatisfy(\.isASCIIAlphanumeric) }
}

/// A name whose identity is its UTF-8 bytes, as for the server: an item, field, key, group, schema, adapter or user.
package typealias UpstreamName = ExactText

extension UpstreamName {
    /// The names of a group or schema, which the server splits at the byte 0x20; empty names are kept.
    package static func split(_ list: String) -> [String] {
        list.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false).map { String(Substring($0)) }
    }
}

extension [String] {
    /// The index of the first name with the same bytes.
    package func firstIndex(ofName name: String) -> Int? { firstIndex { $0.hasSameBytes(as: name) } }

    /// Whether both lists hold the same names in the same order, compared by bytes.
    package func hasSameNames(as other: [String]) -> Bool {
        guard count == other.count else { return false }
        for (name, otherName) in zip(self, other) where !name.hasSameBytes(as: otherName) { return false }
        return true
    }
}

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

    /// A decimal number as the other end may have written it. Some languages write very small and very large numbers with an
    /// exponent: `5.0E-4`, `1e+21`.
    static func receivedDecimal(_ text: String) -> Double? {
        let parts = text.utf8.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 | 0x20 == UInt8(ascii: "e") }
        guard decimal(String(decoding: parts[0], as: UTF8.self)) != nil else { return nil }
        if parts.count == 2, integer(Array(parts[1].drop { $0 == UInt8(ascii: "+") })[...]) == nil { return nil }
        return Double(text).flatMap { $0.isFinite ? $0 : nil }
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

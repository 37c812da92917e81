internal import JSONText
internal import Primitives
internal import SessionCore

extension NumberOrWord {
    /// The JSON form, as requests have it.
    var json: JSONValue {
        // A small number has an exponent, which a decimal in a string must not have.
        word.map(JSONValue.string) ?? number.flatMap { JSONNumber($0.description) }.map(JSONValue.number) ?? .null
    }
}

/// A property that requests set. They may write the word in any case, and the number as a decimal in a string.
protocol LimitValue: NumberOrWord {
    /// The expected values, each as the part of a sentence.
    static var choices: [String] { get }
    /// Reads a number; nil if it is not allowed.
    static func limit(_ value: JSONValue) -> Self?
    /// Reads a value; nil if it is not allowed.
    init?(json: JSONValue)
}

extension LimitValue {
    init?(json value: JSONValue) {
        guard let read = value.string.flatMap({ Self.words[$0.lowercased()] }) ?? Self.limit(value) else { return nil }
        self = read
    }

    /// The expected values, as a sentence. Only a body can have null.
    static func expectation(in origin: Refusals.Origin) -> String {
        let choices = origin == .body ? Self.choices + ["null"] : Self.choices
        return "\(choices.dropLast().joined(separator: ", ")) or \(choices[choices.count - 1]) is expected."
    }
}

extension RequestedMaxFrequency: LimitValue {
    static let choices = ["A number greater than 0, \(Decimals.most) at most", "unlimited", "unfiltered"]
    static func limit(_ value: JSONValue) -> Self? { Decimals.positive(value).map { .limited($0) } }
}

extension RequestedBufferSize: LimitValue {
    static let choices = ["A whole number from 1 to \(Decimals.most)", "unlimited"]
    static func limit(_ value: JSONValue) -> Self? { Decimals.count(value).map { .limited($0) } }
}

extension RequestedSnapshot: LimitValue {
    static let choices = ["yes", "no", "a whole number from 1 to \(Decimals.most)"]
    static func limit(_ value: JSONValue) -> Self? { Decimals.count(value).map { .length($0) } }
}

extension RequestedMaxBandwidth: LimitValue {
    static let choices = ["A number of kbit/s greater than 0, \(Decimals.most) at most", "unlimited"]
    static func limit(_ value: JSONValue) -> Self? { Decimals.positive(value).map { .limited($0) } }
}

extension ConnectTimeout: LimitValue {
    static let choices = ["A number of seconds greater than 0, \(Decimals.most) at most", "auto"]
    static func limit(_ value: JSONValue) -> Self? { Decimals.positive(value).map { .seconds($0) } }

    init?(json value: JSONValue) {
        // Its word must be in lower case.
        guard let read = value.string == "auto" ? .auto : Self.limit(value) else { return nil }
        self = read
    }
}

/// Numbers as JSON numbers or as decimals in strings.
enum Decimals {
    /// The largest accepted number.
    static let bound = 1e9
    /// That number, for errors.
    static let most = Int(bound)

    /// A number greater than 0.
    static func positive(_ value: JSONValue) -> Double? {
        number(value).flatMap { $0 > 0 && $0 <= bound ? $0 : nil }
    }

    /// A whole number greater than 0.
    static func count(_ value: JSONValue) -> Int? {
        if let text = value.string {
            guard (1...9).contains(text.utf8.count), text.utf8.first != UInt8(ascii: "0"),
                text.hasASCIIDigitsOnly
            else { return nil }
            return Int(text)
        }
        guard let count = value.number?.wholeNumber, (1...most).contains(count) else { return nil }
        return count
    }

    private static func number(_ value: JSONValue) -> Double? {
        if let number = value.number { return number.doubleValue }
        return value.string.flatMap { plain($0) ? JSONNumber($0)?.doubleValue : nil }
    }

    /// Whether a text has up to nine digits, and up to seventeen after a decimal point, without sign and exponent.
    private static func plain(_ text: String) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count <= 2 && (1...9).contains(parts[0].utf8.count) && (parts.last?.utf8.count ?? 0) <= 17
            && parts.allSatisfy(\.hasASCIIDigitsOnly)
    }
}

extension JSONNumber {
    /// The number as an `Int`, if it is whole: `10`, `1e1` and `10.0` alike.
    var wholeNumber: Int? {
        if let value = intValue { return value }
        guard let value = doubleValue, value.rounded() == value, abs(value) < 9_007_199_254_740_992 else { return nil }
        return Int(value)
    }
}

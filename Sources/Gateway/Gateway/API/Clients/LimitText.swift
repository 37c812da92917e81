internal import JSONText
internal import SessionCore

/// Reads a limit of the class reference from a JSON number, a word in any case, or a decimal in a string.
struct LimitText<Value> {
    /// Reads a value; nil if it is not allowed.
    let read: (JSONValue) -> Value?
    /// The expected values, as a sentence.
    let sentence: String

    /// A rule.
    init(_ sentence: String, _ read: @escaping (JSONValue) -> Value?) {
        self.sentence = sentence
        self.read = read
    }
}

extension LimitText where Value == RequestedMaxFrequency {
    /// `requestedMaxFrequency`.
    static var frequency: LimitText {
        LimitText("A number greater than 0, unlimited, unfiltered or null is expected.") { value in
            switch value.string?.lowercased() {
            case "unlimited": .unlimited
            case "unfiltered": .unfiltered
            default: Decimals.positive(value).map { .limited($0) }
            }
        }
    }
}

extension LimitText where Value == RequestedBufferSize {
    /// `requestedBufferSize`.
    static var buffer: LimitText {
        LimitText("A whole number greater than 0, unlimited or null is expected.") { value in
            if value.string?.lowercased() == "unlimited" { return .unlimited }
            return Decimals.count(value).map { .limited($0) }
        }
    }
}

extension LimitText where Value == RequestedSnapshot {
    /// `requestedSnapshot`.
    static var snapshot: LimitText {
        LimitText("yes, no, a whole number greater than 0 or null is expected.") { value in
            switch value.string?.lowercased() {
            case "yes": .yes
            case "no": .no
            default: Decimals.count(value).map { .length($0) }
            }
        }
    }
}

extension LimitText where Value == RequestedMaxBandwidth {
    /// `requestedMaxBandwidth`.
    static var bandwidth: LimitText {
        LimitText("A number of kbit/s greater than 0, unlimited or null is expected.") { value in
            if value.string?.lowercased() == "unlimited" { return .unlimited }
            return Decimals.positive(value).map { .limited($0) }
        }
    }
}

extension LimitText where Value == ConnectTimeout {
    /// `connectTimeout`.
    static var connectTimeout: LimitText {
        LimitText("A number of seconds greater than 0, auto or null is expected.") { value in
            if value.string == "auto" { return .auto }
            return Decimals.positive(value).map { .seconds($0) }
        }
    }
}

/// Numbers as JSON numbers or as decimals in strings.
enum Decimals {
    /// The largest accepted number.
    static let bound = 1e9

    /// A number greater than 0.
    static func positive(_ value: JSONValue) -> Double? {
        number(value).flatMap { $0 > 0 && $0 <= bound ? $0 : nil }
    }

    /// A whole number greater than 0.
    static func count(_ value: JSONValue) -> Int? {
        if let text = value.string {
            guard (1...9).contains(text.utf8.count), text.utf8.first != UInt8(ascii: "0"),
                text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
            else { return nil }
            return Int(text)
        }
        return value.number?.wholeNumber.flatMap { $0 > 0 && $0 <= Int(bound) ? $0 : nil }
    }

    private static func number(_ value: JSONValue) -> Double? {
        if let number = value.number { return number.doubleValue }
        return value.string.flatMap { plain($0) ? JSONNumber($0)?.doubleValue : nil }
    }

    /// Whether a text has up to nine digits, and up to seventeen after a decimal point, without sign and exponent.
    private static func plain(_ text: String) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count <= 2 && (1...9).contains(parts[0].utf8.count) && (parts.last?.utf8.count ?? 0) <= 17
            && parts.allSatisfy { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
    }
}

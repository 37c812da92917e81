internal import JSONText
internal import SessionCore

/// A property of the class reference whose JSON form is a number or a word. Requests may write the word in any case, and
/// the number as a decimal in a string.
protocol LimitValue {
    /// The expected values, each as the part of a sentence.
    static var choices: [String] { get }
    /// Reads a value; nil if it is not allowed.
    init?(json: JSONValue)
}

extension LimitValue {
    /// The expected values, as a sentence. Only a body can have null.
    static func expectation(in origin: Refusals.Origin) -> String {
        let choices = origin == .body ? Self.choices + ["null"] : Self.choices
        return "\(choices.dropLast().joined(separator: ", ")) or \(choices[choices.count - 1]) is expected."
    }
}

extension RequestedMaxFrequency: LimitValue {
    static let choices = ["A number greater than 0, \(Decimals.most) at most", "unlimited", "unfiltered"]

    init?(json value: JSONValue) {
        switch value.string?.lowercased() {
        case "unlimited": self = .unlimited
        case "unfiltered": self = .unfiltered
        default:
            guard let limit = Decimals.positive(value) else { return nil }
            self = .limited(limit)
        }
    }
}

extension RequestedBufferSize: LimitValue {
    static let choices = ["A whole number from 1 to \(Decimals.most)", "unlimited"]

    init?(json value: JSONValue) {
        if value.string?.lowercased() == "unlimited" {
            self = .unlimited
        } else if let size = Decimals.count(value) {
            self = .limited(size)
        } else {
            return nil
        }
    }
}

extension RequestedSnapshot: LimitValue {
    static let choices = ["yes", "no", "a whole number from 1 to \(Decimals.most)"]

    init?(json value: JSONValue) {
        switch value.string?.lowercased() {
        case "yes": self = .yes
        case "no": self = .no
        default:
            guard let length = Decimals.count(value) else { return nil }
            self = .length(length)
        }
    }
}

extension RequestedMaxBandwidth: LimitValue {
    static let choices = ["A number of kbit/s greater than 0, \(Decimals.most) at most", "unlimited"]

    init?(json value: JSONValue) {
        if value.string?.lowercased() == "unlimited" {
            self = .unlimited
        } else if let limit = Decimals.positive(value) {
            self = .limited(limit)
        } else {
            return nil
        }
    }
}

extension ConnectTimeout: LimitValue {
    static let choices = ["A number of seconds greater than 0, \(Decimals.most) at most", "auto"]

    init?(json value: JSONValue) {
        if value.string == "auto" {
            self = .auto
        } else if let seconds = Decimals.positive(value) {
            self = .seconds(seconds)
        } else {
            return nil
        }
    }
}

/// The JSON forms in responses.
extension JSONBytes {
    /// `requestedSnapshot`.
    mutating func write(_ snapshot: RequestedSnapshot?) {
        switch snapshot {
        case .yes: string("yes")
        case .no: string("no")
        case .length(let length): number(length)
        case nil: null()
        }
    }

    /// `requestedMaxFrequency`.
    mutating func write(_ frequency: RequestedMaxFrequency?) {
        switch frequency {
        case .limited(let limit): shortest(limit)
        case .unlimited: string("unlimited")
        case .unfiltered: string("unfiltered")
        case nil: null()
        }
    }

    /// `requestedBufferSize`.
    mutating func write(_ size: RequestedBufferSize?) {
        switch size {
        case .limited(let limit): number(limit)
        case .unlimited: string("unlimited")
        case nil: null()
        }
    }

    /// `realMaxBandwidth`.
    mutating func write(_ bandwidth: RealMaxBandwidth?) {
        switch bandwidth {
        case .limited(let limit): shortest(limit)
        case .unlimited: string("unlimited")
        case .unmanaged: string("unmanaged")
        case nil: null()
        }
    }

    /// `requestedMaxBandwidth`.
    mutating func write(_ bandwidth: RequestedMaxBandwidth) {
        switch bandwidth {
        case .limited(let limit): shortest(limit)
        case .unlimited: string("unlimited")
        }
    }

    /// `connectTimeout`.
    mutating func write(_ timeout: ConnectTimeout) {
        switch timeout {
        case .auto: string("auto")
        case .seconds(let seconds): shortest(seconds)
        }
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
                text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
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
            && parts.allSatisfy { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
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

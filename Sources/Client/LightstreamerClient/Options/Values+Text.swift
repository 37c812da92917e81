internal import Primitives
public import SessionCore

/// The limits and sizes in the text form of the class reference. The keywords are read in any
/// case; reading throws `invalidValue`.
extension RequestedMaxBandwidth {
    /// Reads `unlimited` or a number of kbit/s greater than 0.
    public init(text: String) throws(ClientError) {
        let rule = "must be unlimited or a number of kbit/s greater than 0"
        try self.init(text, of: "requestedMaxBandwidth", rule, NumberText.positive)
    }

    /// `unlimited` or the number.
    public var text: String { writtenText }
}

extension RealMaxBandwidth {
    /// `unlimited`, `unmanaged` or the number.
    public var text: String { writtenText }
}

extension RequestedMaxFrequency {
    /// Reads `unlimited`, `unfiltered` or a number of updates per second greater than 0.
    public init(text: String) throws(ClientError) {
        let rule = "must be unlimited, unfiltered or a number greater than 0"
        try self.init(text, of: "requestedMaxFrequency", rule, NumberText.positive)
    }

    /// `unlimited`, `unfiltered` or the number.
    public var text: String { writtenText }
}

extension RealMaxFrequency {
    /// `unlimited` or the number.
    public var text: String { writtenText }
}

extension RequestedBufferSize {
    /// Reads `unlimited` or an integer greater than 0.
    public init(text: String) throws(ClientError) {
        let rule = "must be unlimited or an integer greater than 0"
        try self.init(text, of: "requestedBufferSize", rule, NumberText.positiveInteger)
    }

    /// `unlimited` or the number.
    public var text: String { writtenText }
}

extension RequestedSnapshot {
    /// Reads `yes`, `no` or an integer greater than 0.
    public init(text: String) throws(ClientError) {
        let rule = "must be yes, no or an integer greater than 0"
        try self.init(text, of: "requestedSnapshot", rule, NumberText.positiveInteger)
    }

    /// `yes`, `no` or the number.
    public var text: String { writtenText }
}

extension ConnectTimeout {
    /// Reads `auto` or a number of seconds greater than 0.
    public init(text: String) throws(ClientError) {
        let rule = "must be auto or a number of seconds greater than 0"
        try self.init(text, of: "connectTimeout", rule, NumberText.positive)
    }

    /// `auto` or the number.
    public var text: String { writtenText }
}

extension NumberOrWord {
    /// Reads a word, in any case, or a number that a function reads.
    fileprivate init(
        _ text: String,
        of property: String,
        _ rule: String,
        _ number: (_ text: String) -> Number?
    ) throws(ClientError) {
        guard let value = Self.words[text.lowercased()] ?? number(text).map(Self.limited) else {
            throw .invalid(property, text, rule)
        }
        self = value
    }

    /// The word, or the number without a useless fraction.
    fileprivate var writtenText: String { word ?? number.map { NumberText.of($0) } ?? "" }
}

/// Decimal numbers of the class reference: digits with at most one point, no sign, no exponent. Nil for other text.
enum NumberText {
    static func positive(_ text: String) -> Double? { plain(text).flatMap { $0 > 0 ? $0 : nil } }

    /// A number, 0 or greater.
    static func plain(_ text: String) -> Double? {
        let isPlain = text.utf8.allSatisfy { $0.isASCIIDigit || $0 == UInt8(ascii: ".") }
        guard isPlain, text.utf8.count <= 64, let number = Double(text), number.isFinite else { return nil }
        return number
    }

    static func positiveInteger(_ text: String) -> Int? {
        guard text.hasASCIIDigitsOnly, let number = Int(text), number > 0 else { return nil }
        return number
    }

    /// The number without a useless fraction.
    static func of(_ number: some LosslessStringConvertible) -> String {
        let text = "\(number)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}

public import SessionCore

/// The limits and sizes in the text form of the class reference. The keywords are read in any
/// case; reading throws `invalidValue`.
extension RequestedMaxBandwidth {
    /// Reads `unlimited` or a number of kbit/s greater than 0.
    public init(text: String) throws(ClientError) {
        let rule = "must be unlimited or a number of kbit/s greater than 0"
        self =
            text.lowercased() == "unlimited"
            ? .unlimited : .limited(try NumberText.positive(text, "requestedMaxBandwidth", rule))
    }

    /// `unlimited` or the number.
    public var text: String {
        switch self {
        case .limited(let limit): NumberText.of(limit)
        case .unlimited: "unlimited"
        }
    }
}

extension RealMaxBandwidth {
    /// `unlimited`, `unmanaged` or the number.
    public var text: String {
        switch self {
        case .limited(let limit): NumberText.of(limit)
        case .unlimited: "unlimited"
        case .unmanaged: "unmanaged"
        }
    }
}

extension RequestedMaxFrequency {
    /// Reads `unlimited`, `unfiltered` or a number of updates per second greater than 0.
    public init(text: String) throws(ClientError) {
        switch text.lowercased() {
        case "unlimited": self = .unlimited
        case "unfiltered": self = .unfiltered
        default:
            let rule = "must be unlimited, unfiltered or a number greater than 0"
            self = .limited(try NumberText.positive(text, "requestedMaxFrequency", rule))
        }
    }

    /// `unlimited`, `unfiltered` or the number.
    public var text: String {
        switch self {
        case .limited(let limit): NumberText.of(limit)
        case .unlimited: "unlimited"
        case .unfiltered: "unfiltered"
        }
    }
}

extension RealMaxFrequency {
    /// `unlimited` or the number.
    public var text: String {
        switch self {
        case .limited(let limit): NumberText.of(limit)
        case .unlimited: "unlimited"
        }
    }
}

extension RequestedBufferSize {
    /// Reads `unlimited` or an integer greater than 0.
    public init(text: String) throws(ClientError) {
        let rule = "must be unlimited or an integer greater than 0"
        self =
            text.lowercased() == "unlimited"
            ? .unlimited : .limited(try NumberText.positiveInteger(text, "requestedBufferSize", rule))
    }

    /// `unlimited` or the number.
    public var text: String {
        switch self {
        case .limited(let size): "\(size)"
        case .unlimited: "unlimited"
        }
    }
}

extension RequestedSnapshot {
    /// Reads `yes`, `no` or an integer greater than 0.
    public init(text: String) throws(ClientError) {
        switch text.lowercased() {
        case "yes": self = .yes
        case "no": self = .no
        default:
            let rule = "must be yes, no or an integer greater than 0"
            self = .length(try NumberText.positiveInteger(text, "requestedSnapshot", rule))
        }
    }

    /// `yes`, `no` or the number.
    public var text: String {
        switch self {
        case .yes: "yes"
        case .no: "no"
        case .length(let length): "\(length)"
        }
    }
}

extension ConnectTimeout {
    /// Reads `auto` or a number of seconds greater than 0.
    public init(text: String) throws(ClientError) {
        let rule = "must be auto or a number of seconds greater than 0"
        self = text.lowercased() == "auto" ? .auto : .seconds(try NumberText.positive(text, "connectTimeout", rule))
    }

    /// `auto` or the number.
    public var text: String {
        switch self {
        case .auto: "auto"
        case .seconds(let seconds): NumberText.of(seconds)
        }
    }
}

/// Decimal numbers of the class reference: digits with at most one point, no sign, no exponent.
enum NumberText {
    /// A number greater than 0.
    static func positive(_ text: String, _ property: String, _ rule: String) throws(ClientError) -> Double {
        guard let number = plain(text), number > 0 else {
            throw ClientError(.invalidValue, property: property, value: text, rule: rule)
        }
        return number
    }

    /// A number, 0 or greater; nil for other text.
    static func plain(_ text: String) -> Double? {
        let isPlain = text.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
        guard isPlain, text.utf8.count <= 64, let number = Double(text), number.isFinite else { return nil }
        return number
    }

    /// A whole number greater than 0.
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

internal import Primitives

/// Readers of values. Each returns the value, or throws the rule that the text breaks.
enum SettingValue {
    /// The longest time that a setting can have, in seconds: about three years.
    static let longestTime = 1e8

    static func integer<Number: FixedWidthInteger>(
        _ text: String,
        _ range: ClosedRange<Int>,
        unit: String? = nil
    ) throws(SettingError) -> Number {
        guard let number = Int(text), range.contains(number), let number = Number(exactly: number) else {
            let kind = "a whole number" + (unit.map { " of \($0)" } ?? "")
            throw SettingError(rule: "must be \(kind) from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    static func duration(
        _ text: String,
        zeroAllowed: Bool,
        most: Double = longestTime
    ) throws(SettingError) -> Duration {
        guard let number = decimal(text), number > 0 || (zeroAllowed && number == 0) else {
            throw SettingError(
                rule: "must be a decimal number of seconds, \(zeroAllowed ? "0 or more" : "more than 0")"
            )
        }
        guard number <= most else { throw SettingError(rule: "must be \(SettingValue.text(most)) or less") }
        return .seconds(number)
    }

    /// A finite number in decimal notation; nil if the text is none, such as one in hexadecimal notation.
    static func decimal(_ text: String) -> Double? {
        guard text.utf8.allSatisfy({ $0.isASCIIDigit || "+-.eE".utf8.contains($0) }) else { return nil }
        return Double(text).flatMap { $0.isFinite ? $0 : nil }
    }

    static func flag(_ text: String) throws(SettingError) -> Bool {
        switch text {
        case "true": true
        case "false": false
        default: throw SettingError(rule: "must be true or false")
        }
    }

    static func choice<Choice: RawRepresentable & CaseIterable>(_ text: String) throws(SettingError) -> Choice
    where Choice.RawValue == String {
        guard let choice: Choice = choice(named: text) else {
            throw SettingError(rule: "must be \(oneOf(Choice.self))")
        }
        return choice
    }

    /// A list of words.
    static func choices<Choice: RawRepresentable & CaseIterable & SendableMetatype>(
        _ text: String
    ) throws(SettingError) -> [Choice] where Choice.RawValue == String {
        try elements(text, oneOf(Choice.self), choice(named:))
    }

    private static func choice<Choice: RawRepresentable & CaseIterable>(named text: String) -> Choice?
    where Choice.RawValue == String {
        let word = text.lowercased()
        return Choice.allCases.first { $0.rawValue.lowercased() == word }
    }

    private static func oneOf<Choice: RawRepresentable & CaseIterable>(_ type: Choice.Type) -> String
    where Choice.RawValue == String {
        "one of \(Choice.allCases.map(\.rawValue).joined(separator: ", "))"
    }

    /// The values of the elements of a list; throws a mistake for each element without a value.
    ///
    /// - Parameter expectation: The rule for an element, as the part of a sentence behind "must be".
    static func elements<Element>(
        _ text: String,
        _ expectation: String,
        _ read: (String) -> Element?
    ) throws(SettingError) -> [Element] {
        let values = list(text).map { (text: $0, value: read($0)) }
        let mistakes = values.filter { $0.value == nil }.map { "\"\($0.text)\" must be \(expectation)" }
        guard mistakes.isEmpty else { throw SettingError(rules: mistakes) }
        return values.compactMap(\.value)
    }

    /// The end of an element in the text of a sequence, whose elements may have commas. No other text has the character.
    static let end = "\0"

    /// The elements of a list: those of a sequence, or the parts between commas without the spaces around them.
    static func list(_ text: String) -> [String] {
        if text.hasSuffix(end) { return text.split(separator: end).map(String.init) }
        return text.split(separator: ",").map { part in
            String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
    }

    /// The rule for the names of a cluster, of upstreams, feeds and API keys.
    static let nameRule = "1 to 64 letters, digits, dashes and underscores"

    static func isName(_ text: String) -> Bool { text.isLettersDigits(and: "-_", length: 1...64) }

    /// A number as text; a whole number is written without a fraction.
    static func text(_ number: Double) -> String { Int(exactly: number).map { "\($0)" } ?? "\(number)" }

    /// A list as text; `none` if it is empty.
    static func text(_ elements: [String]) -> String {
        elements.isEmpty ? "none" : elements.joined(separator: ", ")
    }
}

extension String {
    /// Whether the text consists of ASCII letters, digits and the given marks, and has a length of the range.
    func isLettersDigits(and marks: String, length: ClosedRange<Int>) -> Bool {
        length.contains(utf8.count)
            && utf8.allSatisfy { $0.isASCIIAlphanumeric || marks.utf8.contains($0) }
    }
}

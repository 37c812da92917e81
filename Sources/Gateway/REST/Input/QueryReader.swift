internal import JSONText

/// Reads typed values out of a query and gathers every refusal.
struct QueryReader {
    /// The query.
    let query: Query
    /// What was refused so far.
    private(set) var refusals: [ProblemEntry] = []

    /// A reader.
    init(_ query: Query) { self.query = query }

    /// Notes a refusal.
    mutating func refuse(_ name: String, _ rule: String) {
        refusals.append(ProblemEntry(.parameter(name), .invalidValue, rule))
    }

    /// The one value of a name; nil if it does not occur, or more than once.
    mutating func text(_ name: String) -> String? {
        let values = query.values(name)
        if values.count > 1 { refuse(name, "It may be given once only.") }
        return values.count == 1 ? values[0] : nil
    }

    /// A text that is not empty.
    mutating func name(_ name: String) -> String? {
        guard let text = text(name) else { return nil }
        if text.isEmpty { refuse(name, "It must not be empty.") }
        return text.isEmpty ? nil : text
    }

    /// `true` or `false`.
    mutating func bool(_ name: String, default standard: Bool) -> Bool {
        guard let text = text(name) else { return standard }
        switch text {
        case "true": return true
        case "false": return false
        default:
            refuse(name, "true or false is expected.")
            return standard
        }
    }

    /// A whole number within bounds.
    mutating func integer(_ name: String, in range: ClosedRange<Int>) -> Int? {
        guard let text = text(name) else { return nil }
        guard let number = Int(text), String(number) == text, range.contains(number) else {
            refuse(name, "A whole number from \(range.lowerBound) to \(range.upperBound) is expected.")
            return nil
        }
        return number
    }

    /// A number greater than 0 and not above a bound.
    mutating func positive(_ name: String, upTo bound: Double) -> Double? {
        guard let text = text(name) else { return nil }
        guard let number = JSONNumber(text)?.doubleValue, number > 0, number <= bound else {
            refuse(name, "A number greater than 0 is expected, \(Int(bound)) at most.")
            return nil
        }
        return number
    }

    /// One of some words.
    mutating func word(_ name: String, of words: [String]) -> String? {
        guard let text = text(name) else { return nil }
        if words.contains(text) { return text }
        refuse(name, "One of \(words.joined(separator: ", ")) is expected.")
        return nil
    }

    /// Throws what was refused, if anything was.
    func finish() throws(Problem) {
        if !refusals.isEmpty { throw Problem(refusing: refusals) }
    }
}

extension JSONNumber {
    /// The number as an `Int`, where it is whole: `10`, `1e1` and `10.0` alike.
    var wholeNumber: Int? {
        if let value = intValue { return value }
        guard let value = doubleValue, value.rounded() == value, abs(value) < 9_007_199_254_740_992 else { return nil }
        return Int(value)
    }
}

/// A property whose value is a number or one of a few words, as many limits of the class reference are.
package protocol NumberOrWord: Equatable, Sendable {
    associatedtype Number: LosslessStringConvertible
    /// The words of the class reference, in lower case, with their values.
    static var words: [String: Self] { get }
    /// The value that is a number.
    static func limited(_ number: Number) -> Self
    /// The number; nil for a word.
    var number: Number? { get }
}

extension NumberOrWord {
    /// The word; nil for a number.
    package var word: String? {
        for (word, value) in Self.words where value == self { return word }
        return nil
    }

    /// The number in any case as a `Double`; nil for a word.
    package var amount: Double? {
        guard let number else { return nil }
        return Double(number.description)
    }
}

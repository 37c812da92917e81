internal import TLCP

/// The `name=value` pairs of one line of a `FaultScript`.
struct FaultArguments: Sendable {
    /// The effect that they belong to.
    let effect: String
    private var pairs: [(name: String, value: String)] = []

    /// Reads the words after the effect's name.
    init(_ words: some Sequence<String>, of effect: String) throws(FaultScriptError) {
        self.effect = effect
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let value = PercentCoding.decode(parameter: Array(parts[1].utf8)[...]) else {
                throw FaultScriptError(effect: effect, argument: word)
            }
            pairs.append((String(parts[0]), value))
        }
    }

    /// All values of a name, in order.
    func all(_ name: String) -> [String] {
        pairs.filter { $0.name == name }.map(\.value)
    }

    /// The first value of a name.
    func first(_ name: String) -> String? {
        pairs.first { $0.name == name }?.value
    }

    /// A value that must be there.
    func required(_ name: String) throws(FaultScriptError) -> String {
        guard let value = first(name) else { throw FaultScriptError(effect: effect, argument: name) }
        return value
    }

    /// A whole number; must be there unless there is a default.
    func number(_ name: String, default standard: Int? = nil) throws(FaultScriptError) -> Int {
        guard let text = first(name) else {
            if let standard { return standard }
            throw FaultScriptError(effect: effect, argument: name)
        }
        guard let number = Int(text), (-1_000_000_000...1_000_000_000).contains(number) else {
            throw FaultScriptError(effect: effect, argument: name)
        }
        return number
    }
}

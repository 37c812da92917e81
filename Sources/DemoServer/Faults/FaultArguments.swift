internal import TLCP

/// The `name=value` pairs of one line of a `FaultScript`; each is asked for once, and none may be left over.
struct FaultArguments: Sendable {
    /// The effect that they belong to.
    let effect: String
    private var pairs: [(name: String, value: String)] = []
    private var known: Set<String> = []

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

    /// All arguments were asked for; throws if there is another one.
    func end() throws(FaultScriptError) {
        if let stranger = pairs.first(where: { !known.contains($0.name) }) {
            throw FaultScriptError(effect: effect, argument: stranger.name)
        }
    }

    /// All values of a name, in order, each good for a line.
    mutating func lines(_ name: String) throws(FaultScriptError) -> [String] {
        known.insert(name)
        let lines = pairs.filter { $0.name == name }.map(\.value)
        guard !lines.isEmpty else { throw FaultScriptError(effect: effect, argument: name) }
        return lines
    }

    /// The first value of a name.
    mutating func first(_ name: String) -> String? {
        known.insert(name)
        return pairs.first { $0.name == name }?.value
    }

    /// A value that must be there.
    mutating func required(_ name: String) throws(FaultScriptError) -> String {
        guard let value = first(name) else { throw FaultScriptError(effect: effect, argument: name) }
        return value
    }

    /// A whole number; must be there unless there is a default.
    mutating func number(
        _ name: String,
        in bounds: ClosedRange<Int> = -1_000_000_000...1_000_000_000,
        default standard: Int? = nil
    ) throws(FaultScriptError) -> Int {
        guard let number = try optionalNumber(name, in: bounds) ?? standard else {
            throw FaultScriptError(effect: effect, argument: name)
        }
        return number
    }

    /// A whole number; nil if it is not there.
    mutating func optionalNumber(_ name: String, in bounds: ClosedRange<Int>) throws(FaultScriptError) -> Int? {
        guard let text = first(name) else { return nil }
        guard let number = Int(text), bounds.contains(number) else {
            throw FaultScriptError(effect: effect, argument: name)
        }
        return number
    }
}

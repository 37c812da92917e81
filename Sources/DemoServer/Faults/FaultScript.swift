internal import TLCP

/// Faults as text, for tests that run in another process; `manual` describes the syntax.
package enum FaultScript {
    /// Parses a script.
    package static func parse(_ text: String) throws(FaultScriptError) -> [Fault] {
        var faults: [Fault] = []
        for line in text.split(whereSeparator: { $0 == ";" || $0.isNewline }) {
            let words = line.prefix { $0 != "#" }.split(separator: " ").map(String.init)
            guard let name = words.first else { continue }
            var arguments = try FaultArguments(words.dropFirst(), of: name)
            let fault = try Fault(
                effect(name, &arguments),
                at: moment(&arguments),
                skip: arguments.number("skip", in: 0...1_000_000_000, default: 0),
                times: times(&arguments)
            )
            try arguments.end()
            faults.append(fault)
        }
        return faults
    }

    private static func times(_ arguments: inout FaultArguments) throws(FaultScriptError) -> Int {
        if arguments.first("times") == "always" { return .max }
        return try arguments.number("times", in: 1...1_000_000_000, default: 1)
    }

    private static func moment(_ arguments: inout FaultArguments) throws(FaultScriptError) -> FaultMoment? {
        guard let text = arguments.first("at") else { return nil }
        if text == "now" { return .now }
        if text.hasPrefix("data:"), let count = Int(text.dropFirst(5)), count > 0 { return .data(count) }
        guard let request = FaultRequest(rawValue: text) else {
            throw FaultScriptError(effect: arguments.effect, argument: "at")
        }
        return .request(request)
    }

    private static func effect(_ name: String, _ arguments: inout FaultArguments) throws(FaultScriptError)
        -> FaultEffect
    {
        switch name {
        case "drop": .drop
        case "half-open": .halfOpen
        case "ignore": .ignore
        case "lose-answer": .loseAnswer
        case "duplicate-answer": .duplicateAnswer
        case "late-answers": .lateAnswers
        case "hold-stream": .holdStream
        case "refuse-recovery": .refuseRecovery
        case "one-line-per-write": .oneLinePerWrite
        case "repeat-data": .repeatData
        case "skip-data": .skipData
        case "raw-commas": .rawCommas
        default: try effectWithArguments(name, &arguments)
        }
    }

    private static func effectWithArguments(
        _ name: String,
        _ arguments: inout FaultArguments
    ) throws(FaultScriptError) -> FaultEffect {
        switch name {
        case "cut-line": .cutLine(after: try arguments.optionalNumber("bytes", in: 0...1_000_000_000))
        case "mute": .mute(.boundedMilliseconds(try arguments.number("ms", in: 0...1_000_000_000)))
        case "stall": .stall(.boundedMilliseconds(try arguments.number("ms", in: 0...1_000_000_000)))
        case "delay": .delay(.boundedMilliseconds(try arguments.number("ms", in: 0...1_000_000_000)))
        case "loop": .loop(delayMilliseconds: try arguments.number("ms", in: 0...1_000_000_000, default: 0))
        case "end": .end(code: try arguments.number("code"), message: arguments.first("text") ?? "")
        case "refuse": .refuse(code: try arguments.number("code"), message: arguments.first("text") ?? "")
        case "error": .error(code: try arguments.number("code"), message: arguments.first("text") ?? "")
        case "status": .status(try arguments.number("code", in: 200...599))
        case "wrong-counts":
            .wrongCounts(
                items: try arguments.number("items", default: 0),
                fields: try arguments.number("fields", default: 0)
            )
        case "progress": .progress(try arguments.number("by"))
        case "control-link": .controlLink(try arguments.required("address"))
        case "content-length": .contentLength(try arguments.number("bytes", in: 0...1_000_000_000))
        case "split": .split(maxLength: try arguments.number("bytes", in: 1...1_000_000_000))
        case "client-address": .clientAddress(try arguments.required("address"))
        case "inject": .inject(try arguments.lines("line"))
        default: throw FaultScriptError(effect: name, argument: nil)
        }
    }
}

/// An error in a fault script.
package struct FaultScriptError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The name of the effect in the script.
    package let effect: String
    /// The argument that is missing or invalid; nil if there is no such effect.
    package let argument: String?

    /// The error in words.
    package var description: String {
        argument.map { "\(effect): missing or invalid \($0)" } ?? "no such effect: \(effect)"
    }
}

/// The `name=value` pairs of one line of a `FaultScript`; an argument that the effect does not have is an error.
struct FaultArguments: Sendable {
    /// The effect of the line.
    let effect: String
    private var pairs: [(name: String, value: String)] = []
    private var known: Set<String> = []

    /// Parses the words after the name of the effect.
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

    /// Throws if there is an argument that was not read.
    func end() throws(FaultScriptError) {
        if let unknown = pairs.first(where: { !known.contains($0.name) }) {
            throw FaultScriptError(effect: effect, argument: unknown.name)
        }
    }

    /// All values of a name, in order; at least one.
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

    /// A required value.
    mutating func required(_ name: String) throws(FaultScriptError) -> String {
        guard let value = first(name) else { throw FaultScriptError(effect: effect, argument: name) }
        return value
    }

    /// An integer; required unless there is a default.
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

    /// An integer; nil if it is absent.
    mutating func optionalNumber(_ name: String, in bounds: ClosedRange<Int>) throws(FaultScriptError) -> Int? {
        guard let text = first(name) else { return nil }
        guard let number = Int(text), bounds.contains(number) else {
            throw FaultScriptError(effect: effect, argument: name)
        }
        return number
    }
}

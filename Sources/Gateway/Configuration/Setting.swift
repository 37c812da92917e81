/// One key of the configuration: its name, its documentation, and what a value of it does.
package struct Setting: Sendable {
    /// The key, with `*` where a name chosen by the operator stands (`upstreams.*.serverAddress`).
    package let key: String
    /// What values look like, for the documentation.
    package let values: String
    /// The default, for the documentation.
    package let defaultValue: String
    /// What it is for, in one sentence.
    package let meaning: String
    /// Whether the value may also come from a file named by `<key>File` or `…_FILE`, and is never shown.
    package let isSecret: Bool
    /// Takes a value over; `name` is what stands for `*`.
    let apply: @Sendable (inout GatewayConfiguration, _ name: String, _ value: String) throws(SettingError) -> Void

    init(
        _ key: String,
        _ values: String,
        default defaultValue: String,
        _ meaning: String,
        isSecret: Bool = false,
        apply: @escaping @Sendable (inout GatewayConfiguration, String, String) throws(SettingError) -> Void
    ) {
        self.key = key
        self.values = values
        self.defaultValue = defaultValue
        self.meaning = meaning
        self.isSecret = isSecret
        self.apply = apply
    }
}

/// The rule that a value breaks.
struct SettingError: Error, Equatable {
    let rule: String
}

/// Readers of values: each gives the value or the rule that the text breaks.
enum SettingValue {
    static func integer(_ text: String, _ range: ClosedRange<Int>) throws(SettingError) -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw SettingError(rule: "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    static func seconds(_ text: String, zeroAllowed: Bool = false) throws(SettingError) -> Double {
        guard let number = Double(text), number.isFinite, number > 0 || (zeroAllowed && number == 0), number <= 1e8
        else {
            throw SettingError(
                rule: "must be a decimal number of seconds, \(zeroAllowed ? "0 or more" : "more than 0")"
            )
        }
        return number
    }

    static func duration(_ text: String, zeroAllowed: Bool = false) throws(SettingError) -> Duration {
        .seconds(try seconds(text, zeroAllowed: zeroAllowed))
    }

    static func boolean(_ text: String) throws(SettingError) -> Bool {
        switch text {
        case "true": true
        case "false": false
        default: throw SettingError(rule: "must be true or false")
        }
    }

    static func choice<Choice: RawRepresentable & CaseIterable>(_ text: String) throws(SettingError) -> Choice
    where Choice.RawValue == String {
        guard let choice = Choice(rawValue: text) else {
            let names = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw SettingError(rule: "must be one of \(names)")
        }
        return choice
    }

    static func list(_ text: String) -> [String] {
        text.split(separator: ",").map { part in
            String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
    }
}

/// One thing that is wrong with a configuration.
package struct ConfigurationMistake: Error, Sendable, Equatable, CustomStringConvertible {
    /// Where: a file with its line, an environment variable or a flag.
    package let place: String
    /// The key, or what stands in its place.
    package let key: String
    /// The rule that is broken.
    package let rule: String

    /// `place: key: rule`.
    package var description: String { "\(place): \(key): \(rule)" }
}

/// All that is wrong with a configuration; never empty.
package struct ConfigurationError: Error, Sendable, CustomStringConvertible {
    /// The mistakes, in the order of the sources.
    package let mistakes: [ConfigurationMistake]

    /// One mistake a line.
    package var description: String { mistakes.map(\.description).joined(separator: "\n") }
}

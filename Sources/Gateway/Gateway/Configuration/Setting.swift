/// The description of one setting: key, type, default, meaning, when a change takes effect, and how its value is read.
///
/// The reader of the configuration, `check --keys` and the reload are made from these descriptions.
package struct Setting: Sendable {
    package enum ValueType: Sendable, Equatable {
        /// A whole number in a range, with its unit where it has one.
        case integer(ClosedRange<Int>, unit: String?)
        /// A decimal number of seconds, at most `most`; 0 only where it is allowed.
        case seconds(zeroAllowed: Bool, most: Double)
        /// Another decimal number, with the text that describes it.
        case number(String)
        case flag
        case choice([String])
        /// A list of texts, with the description of an element.
        case list(of: String)
        /// A list of texts, one a line, with the description of an element.
        case lines(of: String)
        /// Text, with its description.
        case text(String)

        /// The type as the documentation shows it.
        package var description: String {
            switch self {
            case .integer(let range, let unit):
                "\(range.lowerBound) … \(range.upperBound)" + (unit.map { " \($0)" } ?? "")
            case .seconds: "seconds"
            case .number(let text), .text(let text): text
            case .flag: "true, false"
            case .choice(let words): words.joined(separator: ", ")
            case .list(let element): "a list of \(element)"
            case .lines(let element): "\(element), one a line"
            }
        }
    }

    /// When a changed value takes effect.
    package enum Effect: String, Sendable {
        /// When the running gateway reads its configuration again.
        case reload
        /// When the gateway starts again.
        case restart
    }

    /// The key; `*` stands for a name that the operator chooses (`upstreams.*.serverAddress`).
    package let key: String
    package let type: ValueType
    package private(set) var meaning = ""
    /// When a changed value takes effect.
    package let effect: Effect
    /// Whether the value is a secret: never shown, and also read from a file that `<key>File` or `…_FILE` names.
    package let isSecret: Bool
    /// The value without a configuration, as text.
    package let defaultValue: String
    /// The value in a configuration, as text; the default for keys with a `*`.
    let text: @Sendable (GatewayConfiguration) -> String
    /// The value by which configurations are compared: the text, or the secret that the text does not show.
    let compared: @Sendable (GatewayConfiguration) -> String?
    /// Reads a value into a configuration; `name` stands for `*`.
    let apply: @Sendable (inout GatewayConfiguration, _ name: String, _ value: String) throws(SettingError) -> Void

    init(
        _ key: String,
        _ type: ValueType,
        effect: Effect,
        isSecret: Bool = false,
        text: @escaping @Sendable (GatewayConfiguration) -> String,
        compared: (@Sendable (GatewayConfiguration) -> String?)? = nil,
        apply: @escaping @Sendable (inout GatewayConfiguration, String, String) throws(SettingError) -> Void
    ) {
        self.key = key
        self.type = type
        self.effect = effect
        self.isSecret = isSecret
        self.text = text
        self.compared = compared ?? text
        self.apply = apply
        defaultValue = text(GatewayConfiguration())
    }

    /// The setting with its meaning, a sentence.
    consuming func means(_ meaning: String) -> Setting {
        self.meaning = meaning
        return self
    }
}

/// The rules that a value breaks, each as the end of a sentence that begins with the key.
struct SettingError: Error, Equatable { let rules: [String] }

extension SettingError {
    init(rule: String) { self.init(rules: [rule]) }
}

/// One mistake of a configuration.
package struct ConfigurationMistake: Error, Sendable, Equatable, CustomStringConvertible {
    /// The place: a file with its line, an environment variable or a flag.
    package let place: String
    /// The key; `file` for a file that cannot be read.
    package let key: String
    /// The rule that it breaks.
    package let rule: String

    /// `place: key: rule`.
    package var description: String { "\(place): \(key): \(rule)" }
}

/// All mistakes of a configuration; never empty.
package struct ConfigurationError: Error, Sendable, CustomStringConvertible {
    /// The mistakes, in the order of the sources.
    package let mistakes: [ConfigurationMistake]

    /// One mistake a line.
    package var description: String { mistakes.map(\.description).joined(separator: "\n") }
}

package import Logging

/// How much is logged, and in which shape.
package struct LogConfiguration: Sendable, Equatable {
    /// The shapes of a log line.
    package enum Format: String, Sendable, CaseIterable {
        /// For people.
        case text
        /// One JSON object a line.
        case json
    }

    /// The least level that is logged. Default `info`.
    package var level = Logger.Level.info
    /// The shape. Default `text`.
    package var format = Format.text

    /// The defaults.
    package init() {}
}

/// One family of figures: its name, its kind, what its labels are called, and what it tells.
package struct Metric: Sendable, Hashable {
    /// The kinds of the Prometheus text format.
    package enum Kind: String, Sendable {
        /// Only grows, until the process ends.
        case counter
        /// Goes up and down.
        case gauge
        /// Counts measurements in buckets.
        case histogram
    }

    /// The name; units and `_total` are part of it.
    package let name: String
    /// The kind.
    package let kind: Kind
    /// The names of its labels, in the order of their values.
    package let labels: [String]
    /// What it tells, in one sentence.
    package let help: String

    init(_ kind: Kind, _ name: String, labels: [String] = [], _ help: String) {
        self.name = name
        self.kind = kind
        self.labels = labels
        self.help = help
    }
}

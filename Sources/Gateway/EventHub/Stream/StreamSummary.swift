package import Changes
package import Primitives

/// The outcome of the opening of a stream.
package enum ResumeOutcome: String, Sendable, CaseIterable {
    /// The request had no id of a last event, or a malformed one.
    case fresh
    /// All events after the last one are delivered, none twice.
    case resumed
    /// Events were missed; a fresh snapshot follows.
    case gap
}

/// The state of a stream at a moment.
package struct StreamSummary: Sendable {
    /// The stream's id.
    package let id: String
    /// Its request; `sources` are the present ones.
    package let request: StreamRequest
    /// When it was opened.
    package let openedAt: Moment
    /// The outcome of its opening; nil until it is open.
    package let outcome: ResumeOutcome?
    /// The reason for which it is being closed; nil while it is not.
    package let closeReason: String?
    /// Its totals.
    package let figures: StreamFigures
}

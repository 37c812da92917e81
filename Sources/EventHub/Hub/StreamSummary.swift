package import SessionCore

/// What is true of a stream at a moment.
package struct StreamSummary: Sendable {
    /// The stream's id.
    package let id: String
    /// What it was opened with; `sources` are the present ones.
    package let request: StreamRequest
    /// When it was opened.
    package let openedAt: Moment
    /// How it began; nil until it has.
    package let outcome: ResumeOutcome?
    /// What it did so far.
    package let figures: StreamFigures
}

package import Changes
package import Primitives

package enum ResumeOutcome: String, Sendable, CaseIterable {
    /// The request had no id of a last event, or a malformed one.
    case fresh
    /// All events after the last one are delivered, none twice.
    case resumed
    /// Events were missed; a fresh snapshot follows.
    case gap
}

package struct StreamSummary: Sendable {
    package let id: String
    /// The request, with the present sources.
    package let request: StreamRequest
    package let openedAt: Moment
    package let figures: StreamFigures
}

package import EventHub

/// One entry of the list of streams.
package struct StreamListing: Sendable {
    /// Sources, format, figures.
    package let summary: StreamSummary
    /// Who has it open.
    package let owner: StreamOwner
}

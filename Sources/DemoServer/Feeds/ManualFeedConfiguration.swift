package import TLCP

/// A data adapter whose items change only when a test says so.
package struct ManualFeedConfiguration: Sendable, Hashable {
    /// Item names; empty accepts any name.
    package var items: [String]

    /// Field names, in the order of the rows that are published.
    package var fields: [String]

    /// The one mode that the items allow.
    package var mode: WireMode

    /// Diff formats that the feed asks for.
    package var diffs: DiffFormats

    /// Formats for single fields in place of those, by name.
    package var fieldDiffs: [String: DiffFormats]

    /// Greatest frequency of an item, in updates per second; nil sets no limit.
    package var maxFrequency: Double?

    /// Selectors that subscriptions may name; any other is refused with code 25.
    package var selectors: Set<String>

    /// Whether snapshots stay open until `FeedRequest.endSnapshot`.
    package var holdsSnapshot: Bool

    /// Describes a feed.
    package init(
        items: [String] = [],
        fields: [String],
        mode: WireMode = .merge,
        diffs: DiffFormats = [],
        fieldDiffs: [String: DiffFormats] = [:],
        maxFrequency: Double? = nil,
        selectors: Set<String> = [],
        holdsSnapshot: Bool = false
    ) {
        self.items = items
        self.fields = fields
        self.mode = mode
        self.diffs = diffs
        self.fieldDiffs = fieldDiffs
        self.maxFrequency = maxFrequency
        self.selectors = selectors
        self.holdsSnapshot = holdsSnapshot
    }
}

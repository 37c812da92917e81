internal import TLCP

/// What can be known of an item before its first event.
struct FeedItem: Sendable, Hashable {
    /// The one mode that it allows.
    var mode: WireMode
    /// Greatest frequency in updates per second; nil sets no limit.
    var maxFrequency: Double?
    /// Diff formats that the feed asks for.
    var diffs: DiffFormats = []
    /// Formats for single fields in place of those, by the field's place in the feed's rows.
    var fieldDiffs: [Int: DiffFormats] = [:]
    /// Selectors that may be named.
    var selectors: Set<String> = []
    /// Whether events that change no subscribed field are dropped in MERGE mode.
    var dropsUnchanged = false
}

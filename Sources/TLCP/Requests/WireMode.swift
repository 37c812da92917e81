/// How the items of a subscription behave (`LS_mode`).
package enum WireMode: String, Sendable, Hashable, CaseIterable {
    /// Every event as it is produced.
    case raw = "RAW"
    /// One row, of which updates change fields.
    case merge = "MERGE"
    /// A list, to which updates append.
    case distinct = "DISTINCT"
    /// A table with rows by key.
    case command = "COMMAND"
}

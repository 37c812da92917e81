internal import SessionCore

/// What becomes of the events that a conflating reader has not read yet.
enum OverflowPolicy: Sendable, Equatable {
    /// Updates of an item become one.
    case conflateByItem
    /// Updates of a key of an item become one; rows that came and went meanwhile are not told.
    case conflateByKey
    /// The newest updates are kept, the others counted.
    case keepNewest
    /// Nothing is left out.
    case keepEverything

    /// The policy of a subscription's mode.
    init(_ mode: SubscriptionMode) {
        self =
            switch mode {
            case .merge: .conflateByItem
            case .command: .conflateByKey
            case .distinct, .raw: .keepNewest
            }
    }
}

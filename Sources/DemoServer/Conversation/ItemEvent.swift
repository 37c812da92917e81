/// Something that goes out about one item, apart from its number.
enum ItemEvent: Sendable, Hashable {
    /// `U`.
    case row(FeedRow)
    /// `EOS`.
    case endOfSnapshot
    /// `CS`.
    case cleared
    /// `OV`.
    case lost(Int)
}

extension ItemEvent {
    /// Whether this is a `U`.
    var isRow: Bool {
        if case .row = self { true } else { false }
    }
}

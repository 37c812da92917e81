/// Bounds on what a server may announce, so that a single line cannot make the client reserve memory at will.
enum SubscriptionLimits {
    /// The most items that one subscription may have.
    static let maxItemCount = 1 << 20
    /// The most fields that one level of a subscription may have.
    static let maxFieldCount = 1 << 16
}

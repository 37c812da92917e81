internal import TLCP

/// One channel of one subscription.
struct ChannelReference: Sendable, Hashable {
    /// The subscription.
    let subscription: SubscriptionID
    /// The channel's place in it, from 0.
    let index: Int
}

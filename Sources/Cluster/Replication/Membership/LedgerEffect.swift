package import Changes

/// An effect of a frame beyond the change of the ledger. A later record of the frame can take from a new owner what an earlier one
/// has given, as when two members are removed at once: the effect for the owner that the ledger has in the end counts.
package enum LedgerEffect: Sendable, Equatable {
    /// A change of the hub.
    case hub(Change)
    /// A member joined.
    case joined(UInt64)
    /// A member was removed.
    case removed(UInt64)
    /// A shared subscription has a new owner.
    case assigned(String, to: UInt64)
    /// The session of a client has a new owner, with the shared subscriptions that the client carries.
    case adopted(client: String, by: UInt64)
    /// A member has readers of a shared subscription.
    case interestAdded(String, by: UInt64)
    /// A member no longer has readers of a shared subscription.
    case interestRemoved(String)
    /// A shared subscription ended, and is removed from the hubs of members whose streams do not read it.
    case retired(String, wasSubscribed: Bool)
    /// A specified resource has a new owner.
    case inherited(String, by: UInt64)
    /// A removed member had streams that tickets have opened.
    case ticketsOrphaned(of: UInt64)
    /// A member has lost a prepared stream to another member, has never owned the stream, or has removed the stream.
    case streamLost(String, by: UInt64)
    /// A prepared stream has sources that it did not have before.
    case sourcesAdded(String)
    /// The claim at a position waits for the members to release the credits of an upstream that they do not use.
    case creditsSought(upstream: String, claim: UInt64)
    /// An action of one member.
    indirect case order(MemberAction, to: UInt64)
}

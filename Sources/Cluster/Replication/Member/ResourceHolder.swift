/// The owner of a client or subscription, as this process sees it.
package enum ResourceHolder: Sendable, Equatable {
    /// This member.
    case own
    /// The member in this process.
    case process(UInt64)
    /// No member at the moment: its owner was removed, and another one will be assigned.
    case none
    /// There is no such client or subscription.
    case unknown
}

extension ClusterLedger {
    /// The owner of a client or subscription. Outer nil: it does not exist; inner nil: it has no owner at the moment.
    func owner(of id: String) -> UInt64?? {
        if let topic = topics[id] { return .some(topic.owner) }
        if let resource = specified[id] { return .some(resource.owner) }
        if let client = clients[id] { return .some(client.owner) }
        return subscriptions[id].map(\.owner)
    }
}

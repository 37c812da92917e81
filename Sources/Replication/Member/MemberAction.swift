package import EventHub

/// An order of a member's machine.
package enum MemberAction: Sendable, Equatable {
    /// Append a frame to the log.
    case append([UInt8])
    /// Read frames that did not arrive.
    case fetch(ClosedRange<UInt64>)
    /// Find out the log's generation and extent; the answer is `looked`.
    case inspectLog
    /// Send a heartbeat to all members.
    case broadcast(Heartbeat)
    /// Ask the members for their state; the answers are `stateArrived`.
    case askForState
    /// Bring the hub to a position.
    case apply([HubChange], at: UInt64)
    /// Empty the hub but for the shared subscriptions with local readers, and go on from a position of an epoch, with
    /// the state of a snapshot if there is one.
    case restart(epoch: UInt64, at: UInt64, keeping: Set<String>, loading: ClusterSnapshot?)
    /// Make a resource that another member had, and own it.
    case inherit(String, ResourceSpecification)
    /// Let go of a resource, which another member owns, without reports.
    case surrender(String)
    /// The log has a use of a ticket by this member.
    case reportTicket(RecordKey, isFirst: Bool)
    /// The member's own reports are written from now on; all that its pool holds is to be reported.
    case openOutbox
    /// The member's own reports are not written any more.
    case closeOutbox
    /// Hold the upstream subscription of a shared topic, in a tenure.
    case carry(String, SharedTopicKey, tenure: UInt64)
    /// Subscribe again what the server had refused or ended.
    case reactivate(String)
    /// Let go of the upstream subscription.
    case drop(String)
    /// Let go of all of them.
    case dropAll
    /// A member has another configuration than this one: log it.
    case reportOtherConfiguration(MemberInfo)
    /// The member has left the cluster, as it was ordered to.
    case left
}

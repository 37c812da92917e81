package import Changes
package import SessionCore

/// An action that `MemberMachine` orders.
package enum MemberAction: Sendable, Equatable {
    /// Append a frame to the log.
    case append([UInt8])
    /// Fetch frames that are missing.
    case fetch(ClosedRange<UInt64>)
    /// Close the connection and open another one: the engine has no log, or nothing has arrived over it for too long.
    case reconnect(isLogMissing: Bool)
    /// Read the log's generation and extent; the result is passed to `logInspected`, or its absence to `inspectionFailed`.
    case inspectLog
    /// Send a heartbeat to all members.
    case broadcast(Heartbeat)
    /// Request the state of the other members in one of these formats; each reply is passed to `stateArrived`.
    case requestState(Formats)
    /// Apply changes to the hub, up to a position.
    case apply([Change], at: UInt64)
    /// Begin to rebuild the windows of recent events, from the state at an earlier position on, with the last events up to there.
    case beginWindows(ClusterLedger, lastEvents: [String: [UInt64]])
    /// Apply changes up to a position to the windows that are being rebuilt.
    case extendWindows([Change], at: UInt64)
    /// Empty the hub, except for the shared subscriptions with local readers, and continue at a position of an epoch,
    /// with the state of a snapshot if there is one. `withWindows`: the windows were rebuilt up to this position.
    case restart(epoch: UInt64, at: UInt64, keeping: Set<String>, loading: ClusterSnapshot?, withWindows: Bool)
    /// Create a resource that another member owned, and own it from now on.
    case inherit(String, ResourceSpecification)
    /// Release a resource that another member owns now. Its release is not reported to the log.
    case releaseResource(String)
    /// This member may have more open on an upstream.
    case credit(upstream: String, UpstreamCredits)
    /// Release the credits of an upstream that this member does not use, and answer the claim at a position.
    case releaseUnusedCredits(upstream: String, claim: UInt64)
    /// Keep only the credits that are in use: other members may have the rest.
    case keepUsedCredits
    /// The log decided what a request of this member waits for.
    case report(RecordSubject, RecordOutcome)
    /// Create a prepared stream that another member owned, and own it from now on.
    case inheritStream(String, ResourceSpecification)
    /// Another member has opened the stream of a ticket again: the stream of this member ends.
    case closeTicketStream(RecordKey)
    /// Report that the streams which tickets have opened on a removed member have closed.
    case closeTickets(of: UInt64)
    /// Release a prepared stream that another member owns now.
    case releaseStream(String)
    /// The member's own reports are written from now on; all that its pool holds is to be reported.
    case openOutbox
    /// Stop writing the reports of this member's pool. The records that were not read from the log are void, except that
    /// those up to the number `uncertain` may be in the log.
    case closeOutbox(uncertain: UInt64)
    /// The log has the records of the outbox up to this number.
    case written(UInt64)
    /// Open the upstream subscription of a shared topic, in a term.
    case carry(String, SharedTopicKey, term: UInt64)
    /// Continue a session of a removed member, with the shared subscriptions that it carries.
    case adopt(InheritedSession)
    /// Subscribe again after the server refused or ended the subscription.
    case reactivate(String)
    /// The owner of a shared subscription with local readers subscribes again: streams that begin now are not told the refusal.
    case reopened(String)
    /// Release the upstream subscription.
    case drop(String)
    /// Remove a shared subscription from the hub unless this member `needs` it: its readers left before the log had it.
    case forget(String)
    /// Release all upstream subscriptions. Another member may have adopted their sessions already.
    case dropAll
    /// Log that the configuration of a member differs from that of this one.
    case reportOtherConfiguration(MemberInfo)
    /// Log that this member does not join, because it shares no format with members.
    case reportRefusal(own: Formats, members: Formats)
    /// Log that another process cannot join, because it shares no format with the members.
    case reportOtherFormats(Formats)
    /// Log that two logs exist. The member begins another epoch.
    case reportDivergence(LogDivergence)
    /// The member has left the cluster, as ordered by `leave`.
    case left
}

/// A session of a removed member, for its new owner.
package struct InheritedSession: Sendable, Equatable {
    /// A shared subscription that the session carries.
    package struct Topic: Sendable, Equatable {
        package let id: String
        /// The upstream and the properties of the subscription.
        package let key: SharedTopicKey
        /// The term of the new owner.
        package let term: UInt64
        /// The `LS_subId` of the subscription in the session.
        package let number: UInt64
    }

    /// The client that has the session.
    package let client: String
    package let session: OfferedUpstreamSession
    /// The shared subscriptions of the session, at least one.
    package let topics: [Topic]
}

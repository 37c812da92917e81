/// The places of locks in the order in which one thread may take them: a thread that holds a lock takes only locks of higher
/// ranks. ARCHITECTURE.md has the table, with what each lock protects.
public enum LockRank: UInt, Sendable, CaseIterable {
    /// The streams of a loop, whose thread has the lock during a pass.
    case loopTurn
    /// The start and the end of the HTTP server.
    case daemon
    /// A prepared stream that a request changes or opens.
    case streamChange
    /// A client or subscription that a request changes.
    case resourceChange
    /// The clients and subscriptions of the pool.
    case sessionPool
    /// The resources of a shared subscription.
    case sharedSubscription
    /// The state of a subscription resource.
    case subscriptionResource
    /// The state of a client of the pool.
    case pooledClient
    /// The subscriptions and items that callers use, against their quotas.
    case usage
    /// The machine of a member of a cluster, and its connection.
    case clusterState
    /// The records of a member that wait for the log, and the requests that wait for them.
    case clusterReports
    /// The topics and streams of the hub.
    case hub
    /// The configuration of the pool.
    case poolSettings
    /// The options, the status and the subscriptions of a client of the library.
    case clientCore
    /// The properties and values of a subscription of the library.
    case subscription
    /// A lock under which only locks of the following ranks are taken.
    case leaf
    /// The inputs of the task of a member; streams, calls, credits and rates that requests and the task share. The end of a
    /// call may use them under any lock.
    case clusterShared
    /// The inputs of a task or of a loop, the answer to a request, and the memory of its body: the end of an object may use them
    /// under any lock.
    case mailbox
}

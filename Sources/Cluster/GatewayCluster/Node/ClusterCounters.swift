internal import Gateway
internal import Replication
internal import SessionCore

/// The counters of a node since the start of its process, besides those of its `MemberMachine`.
struct ClusterCounters: Sendable {
    /// The outcomes of calls to other members.
    enum CallOutcome: String, Sendable, CaseIterable {
        /// The member responded.
        case answered
        /// The member did not respond in time.
        case timedOut = "timed-out"
        /// No process received the call.
        case unreachable
        /// The client left, and the member stopped.
        case abandoned
        /// There was no connection, the call was too large, or its reply cannot be read.
        case failed
    }

    /// The outcomes of adoptions.
    enum AdoptionOutcome: String, Sendable, CaseIterable {
        /// The client is connected in the same session.
        case resumed
        /// The server did not accept the recovery, or did not respond: a new session follows.
        case refused
        /// The client was removed before, for instance because this member was removed as well.
        case abandoned
        /// The session could not be taken over: its subscriptions were opened on another one.
        case failed
    }

    /// The calls to other members.
    private(set) var calls: [CallOutcome: UInt64] = [:]
    /// The adoptions of sessions that are over.
    private(set) var adoptions: [AdoptionOutcome: UInt64] = [:]
    /// The adopted clients whose recovery is under way.
    private var recovering: Set<String> = []

    // MARK: - Calls

    /// A call has ended.
    mutating func called(_ outcome: CallOutcome) { calls[outcome, default: 0] &+= 1 }

    // MARK: - Adoptions

    /// The adoption of a client's session begins.
    mutating func adopting(_ client: String) { recovering.insert(client) }

    /// The adoption has failed: there is no recovery.
    mutating func adoptionFailed(_ client: String) { end(client, .failed) }

    /// The status of a client has changed. The recovery of an adopted one is over when it is connected, or when a new
    /// session follows. After `DISCONNECTED` it is either connected again or removed.
    mutating func changed(_ status: ClientStatus, of client: String) {
        switch status {
        case .disconnectedTryingRecovery, .disconnected, .stalled: break
        case .connecting, .disconnectedWillRetry: end(client, .refused)
        case .connectedStreamSensing, .connectedWSStreaming, .connectedHTTPStreaming, .connectedWSPolling,
            .connectedHTTPPolling:
            end(client, .resumed)
        }
    }

    /// A client was removed.
    mutating func removed(_ client: String) { end(client, .abandoned) }

    private mutating func end(_ client: String, _ outcome: AdoptionOutcome) {
        if recovering.remove(client) != nil { adoptions[outcome, default: 0] &+= 1 }
    }
}

extension ClusterCounters.CallOutcome {
    /// The outcome of a call that has ended with an error.
    init(_ error: any Error, isAbandoned: Bool) {
        self =
            switch error as? EngineError {
            case _ where isAbandoned: .abandoned
            case .timeout: .timedOut
            case .noResponder: .unreachable
            default: .failed
            }
    }
}

/// The figures of a node at a moment, for operators.
struct ClusterFigures: Sendable {
    /// Those of the member and of its cluster.
    let member: MemberFigures
    /// The bytes that wait for the engine.
    let outboxBytes: Int
    /// The counters of the node.
    var counters = ClusterCounters()
    /// The credits of this member, by upstream.
    var credits: [(upstream: String, held: UpstreamCredits)] = []
}

internal import Gateway
internal import JSONText
internal import Replication
internal import SessionCore

/// The counters of a node since the start of its process, besides those of its `MemberMachine`.
struct ClusterCounters: Sendable {
    enum CallOutcome: String, Sendable, CaseIterable {
        case answered
        case timedOut = "timed-out"
        /// No process received the call, or its member was removed.
        case unreachable
        /// The client left, and the member stopped.
        case abandoned
        /// There was no connection, the call was too large, or its reply cannot be read.
        case failed
    }

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

    private(set) var calls: [CallOutcome: UInt64] = [:]
    /// The adoptions of sessions that are over.
    private(set) var adoptions: [AdoptionOutcome: UInt64] = [:]
    /// The adopted clients whose recovery is under way.
    private var recovering: Set<String> = []

    mutating func called(_ outcome: CallOutcome) { calls[outcome, default: 0] &+= 1 }

    mutating func adopting(_ client: String) { recovering.insert(client) }

    /// The status of a client has changed. The recovery of an adopted one is over when it is connected, or when a new
    /// session follows. After `DISCONNECTED` it is either connected again or removed.
    mutating func changed(_ status: ClientStatus, of client: String) {
        switch status {
        case .disconnectedTryingRecovery, .disconnected, .stalled: break
        case .connecting, .disconnectedWillRetry: adoptionEnded(client, .refused)
        case .connectedStreamSensing, .connectedWSStreaming, .connectedHTTPStreaming, .connectedWSPolling,
            .connectedHTTPPolling:
            adoptionEnded(client, .resumed)
        }
    }

    /// The adoption of a client's session is over, if it is under way.
    mutating func adoptionEnded(_ client: String, _ outcome: AdoptionOutcome) {
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
            case .noResponder, .removed: .unreachable
            default: .failed
            }
    }
}

/// The figures of a node at a moment, for operators.
struct ClusterFigures: Sendable {
    let member: MemberFigures
    let outboxBytes: Int
    var counters = ClusterCounters()
    var credits: [(upstream: String, held: UpstreamCredits)] = []
    /// What the engine refuses or does not do (see `EngineFailures.reasons`).
    var failures: [String] = []
}

extension ClusterFigures: CoordinationFigures {
    func write(to text: inout MetricsText) {
        text.write(MetricNames.clusterConnected, member.isConnected ? 1 : 0)
        text.write(MetricNames.clusterDegraded, member.isDegraded ? 1 : 0)
        text.write(MetricNames.clusterServing, member.isServing && member.member != nil ? 1 : 0)
        text.write(MetricNames.clusterMembers, member.members.count)
        let own = member.members.first { $0.id == member.member }
        text.write(MetricNames.clusterOwned, own?.subscriptions ?? 0)
        text.write(MetricNames.clusterPosition, member.position)
        text.write(MetricNames.clusterLag, member.known - min(member.position, member.known))
        text.write(MetricNames.clusterLagSeconds, member.lag.roundedSeconds)
        text.write(MetricNames.clusterOutbox, outboxBytes)
        text.write(MetricNames.clusterDiffers, member.members.count { $0.hasOtherConfiguration })
        let log = member.counters
        text.write(MetricNames.clusterFrames, "appended", log.framesAppended)
        text.write(MetricNames.clusterFrames, "applied", log.framesApplied)
        text.write(MetricNames.clusterFrames, "repeated", log.framesRepeated)
        text.write(MetricNames.clusterFramesIgnored, "repeated", log.framesIgnoredRepeated)
        text.write(MetricNames.clusterFramesIgnored, "stale", log.framesIgnoredStale)
        text.write(MetricNames.clusterFramesFetched, log.framesFetched)
        text.write(MetricNames.clusterFrameEvents, log.frameEvents)
        text.write(MetricNames.clusterAppendSeconds, log.appendSeconds)
        text.write(MetricNames.clusterEpochs, "started", log.epochsStarted)
        text.write(MetricNames.clusterEpochs, "loaded", log.epochsLoaded)
        text.write(MetricNames.clusterDivergences, log.divergences)
        text.write(MetricNames.clusterTakeovers, log.takeovers)
        text.write(MetricNames.clusterRemovals, "left", log.membersLeft)
        text.write(MetricNames.clusterRemovals, "silent", log.membersSilent)
        text.write(MetricNames.clusterFailoverSeconds, log.failoverSeconds)
        for outcome in ClusterCounters.AdoptionOutcome.allCases {
            text.write(MetricNames.clusterAdoptions, outcome.rawValue, counters.adoptions[outcome, default: 0])
        }
        for outcome in ClusterCounters.CallOutcome.allCases {
            text.write(MetricNames.clusterCalls, outcome.rawValue, counters.calls[outcome, default: 0])
        }
        text.open(MetricNames.clusterCredits)
        for (upstream, held) in credits {
            text.write(MetricNames.clusterCredits, labels: [upstream, "sessions"], held.sessions)
            text.write(MetricNames.clusterCredits, labels: [upstream, "subscriptions"], held.subscriptions)
            text.write(MetricNames.clusterCredits, labels: [upstream, "items"], held.items)
        }
    }

    func write(to json: inout JSONBytes) {
        json.key("cluster")
        json.beginObject()
        json.member("connected", member.isConnected)
        json.member("degraded", member.isDegraded)
        json.member("serving", member.isServing && member.member != nil)
        json.member("member", member.member.map(Self.name))
        json.member("epoch", member.epoch.map(ClusterApplier.name))
        json.member("position", member.position)
        json.member("lag", member.lag.roundedSeconds)
        json.member("outboxBytes", outboxBytes)
        json.member("epochs", member.counters.epochs)
        json.member("takeovers", member.counters.takeovers)
        json.member("adoptions", member.counters.adoptions)
        json.member("engineErrors", failures)
        json.key("members")
        json.beginArray()
        for other in member.members {
            json.beginObject()
            json.member("id", Self.name(other.id))
            json.member("name", other.info.name)
            json.member("version", other.info.version)
            json.member("subscriptions", other.subscriptions)
            json.member("configurationDiffers", other.hasOtherConfiguration)
            json.endObject()
        }
        json.endArray()
        json.endObject()
    }

    private static func name(_ member: UInt64) -> String { String(member, radix: 16) }
}

extension MetricsText {
    fileprivate mutating func write(_ metric: Metric, _ label: String, _ count: UInt64) {
        write(metric, labels: [label], count)
    }

    fileprivate mutating func write(_ metric: Metric, _ histogram: Histogram) {
        write(metric, bounds: histogram.bounds, counts: histogram.counts, sum: histogram.sum)
    }
}

internal import Gateway
internal import JSONText
internal import Replication
internal import SessionCore

extension ClusterFigures: CoordinationFigures {
    /// Writes the metrics of a cluster.
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
        writeLog(member.counters, to: &text)
        writeMembers(member.counters, to: &text)
        text.open(MetricNames.clusterCredits)
        for (upstream, held) in credits {
            for (kind, count) in [
                ("sessions", held.sessions), ("subscriptions", held.subscriptions), ("items", held.items),
            ] {
                text.write(MetricNames.clusterCredits, labels: [upstream, kind], count)
            }
        }
    }

    private func writeLog(_ counters: MemberCounters, to text: inout MetricsText) {
        text.write(
            MetricNames.clusterFrames,
            byLabel: [
                ("appended", counters.framesAppended), ("applied", counters.framesApplied),
                ("repeated", counters.framesRepeated),
            ]
        )
        text.write(
            MetricNames.clusterFramesIgnored,
            byLabel: [("repeated", counters.framesIgnoredRepeated), ("stale", counters.framesIgnoredStale)]
        )
        text.write(MetricNames.clusterFramesFetched, counters.framesFetched)
        text.write(MetricNames.clusterFrameEvents, counters.frameEvents)
        text.write(MetricNames.clusterAppendSeconds, counters.appendSeconds)
    }

    private func writeMembers(_ counters: MemberCounters, to text: inout MetricsText) {
        text.write(
            MetricNames.clusterEpochs,
            byLabel: [("started", counters.epochsStarted), ("loaded", counters.epochsLoaded)]
        )
        text.write(MetricNames.clusterDivergences, counters.divergences)
        text.write(MetricNames.clusterTakeovers, counters.takeovers)
        text.write(
            MetricNames.clusterRemovals,
            byLabel: [("left", counters.membersLeft), ("silent", counters.membersSilent)]
        )
        text.write(MetricNames.clusterFailoverSeconds, counters.failoverSeconds)
        text.write(
            MetricNames.clusterAdoptions,
            byLabel: ClusterCounters.AdoptionOutcome.allCases.map {
                ($0.rawValue, self.counters.adoptions[$0, default: 0])
            }
        )
        text.write(
            MetricNames.clusterCalls,
            byLabel: ClusterCounters.CallOutcome.allCases.map { ($0.rawValue, self.counters.calls[$0, default: 0]) }
        )
    }

    /// Writes the member `cluster`.
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
    fileprivate mutating func write(_ metric: Metric, byLabel counts: [(label: String, count: UInt64)]) {
        for (label, count) in counts { write(metric, labels: [label], count) }
    }

    fileprivate mutating func write(_ metric: Metric, _ histogram: Histogram) {
        write(metric, bounds: histogram.bounds, counts: histogram.counts, sum: histogram.sum)
    }
}

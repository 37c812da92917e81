internal import Gateway
internal import Primitives
internal import Replication

/// Rates of requests that are limited on all members together: heartbeats carry what each member has admitted.
extension ClusterNode {
    func take(_ name: String, rate: Double, burst: Double) -> TokenBucket.Decision {
        let now = clock()
        let decision = shared.withLock { $0.rates.take(name, rate: rate, burst: burst, at: now) }
        return TokenBucket.Decision(isAdmitted: decision.isAdmitted, remaining: decision.remaining, wait: decision.wait)
    }

    /// A heartbeat of this member with the requests since the last report. A heartbeat soon after a report has no requests: those
    /// of so short a time say nothing about the demand.
    func reporting(_ heartbeat: Heartbeat) -> Heartbeat {
        let now = clock()
        let (members, isReachable) = state.withLock {
            ($0.machine.ledger?.members.count, $0.machine.isServing(at: now))
        }
        var heartbeat = heartbeat
        heartbeat.rates = shared.withLock { shared in
            guard now - shared.ratesReportedAt >= ClusterTimings().heartbeat / 2 else { return [] }
            shared.ratesReportedAt = now
            return shared.rates.report(members: members, isReachable: isReachable, at: now)
        }
        return heartbeat
    }

    /// Counts the requests that another member has reported.
    func count(_ uses: [RateUse], of process: UInt64, at now: Moment) {
        guard !uses.isEmpty, process != self.process else { return }
        shared.withLock { $0.rates.heard(uses, from: process, at: now) }
    }
}

import Primitives
import Testing

@testable import Replication

/// What the first of two members concludes from its own heartbeats and those of the second one.
struct HeartbeatMonitorTests {
    private static let members: [UInt64] = [1, 2]

    /// The time after which the second member is suspected; nil: not within 20 seconds.
    ///
    /// - Parameters:
    ///   - arrival: The time at which the engine delivers a heartbeat that is sent at a time.
    ///   - isSilent: Whether the second member sends no heartbeats. Otherwise each of them arrives 20 ms after one of the first.
    private func suspicion(isSilent: Bool, _ arrival: (Duration) -> Duration) -> Duration? {
        var monitor = HeartbeatMonitor(timings: ClusterTimings(), formats: .supported)
        let start = Moment.zero + .seconds(1)
        monitor.connected(at: start)
        monitor.joined(2, at: start)
        var sent: [Moment] = []
        for step in 1...2000 {
            let now = start + .milliseconds(10) * step
            if let sentAt = monitor.beats(at: now) { sent.append(sentAt) }
            for sentAt in sent {
                let arrived = start + arrival(sentAt - start)
                if arrived == now { monitor.echoed(sentAt: sentAt, at: now) }
                if arrived + .milliseconds(20) == now, !isSilent {
                    _ = monitor.accept(Heartbeat(process: 2, member: 2, sentAt: sentAt), at: now)
                }
            }
            monitor.timePassed(at: now)
            if !monitor.suspects(among: Self.members, me: 1, at: now).isEmpty { return now - start }
        }
        return nil
    }

    @Test(arguments: [10, 300, 500, 700, 900])
    func silentMemberIsSuspectedThoughTheEngineIsSlow(milliseconds: Int) {
        let suspicion = suspicion(isSilent: true) { $0 + .milliseconds(milliseconds) }
        #expect(suspicion.map { $0 < .seconds(4) } ?? false)
    }

    /// After the pause, the member's own heartbeats arrive before those of the other one.
    @Test(arguments: [10, 300, 700], [1000, 2000, 3000])
    func pauseOfTheEngineIsNoReasonForSuspicion(milliseconds: Int, pause: Int) {
        let end = Duration.milliseconds(8000 + pause)
        let suspicion = suspicion(isSilent: false) { sent in
            let arrival = sent + .milliseconds(milliseconds)
            return arrival < .seconds(8) ? arrival : max(arrival, end)
        }
        #expect(suspicion == nil)
    }
}

internal import Logging
internal import Primitives
internal import Replication

/// What the engine refuses or does not do. The log of the gateway has each reason once, or once in a while.
struct EngineFailures: Sendable {
    /// How long a reason of unstored frames holds.
    private static let lifetime = Duration.seconds(3)

    /// What the engine refuses, and the number of the last connection on which it did.
    private var refusals: [String: Int] = [:]
    /// Why the last attempt to connect to the engine has failed; nil: it has not.
    private var unconnected: String?
    /// Why the engine does not store frames, which it tells once a second while a frame waits.
    private var unstored: (reason: String, at: Moment)?
    private var logged = LoggedReason()

    mutating func connected() { unconnected = nil }

    /// An attempt to connect has failed; returns whether the reason is another one than before.
    mutating func notConnected(_ reason: String) -> Bool {
        defer { unconnected = reason }
        return unconnected != reason
    }

    /// The engine refuses a subject; returns whether for the first time.
    mutating func refused(_ reason: String, on number: Int) -> Bool {
        refusals.updateValue(number, forKey: reason) == nil
    }

    /// The engine does not store frames, or another client of NATS says so; returns whether to log the reason.
    mutating func notStored(_ reason: String, at now: Moment) -> Bool {
        unstored = (reason, now)
        return logged.isDue(reason, at: now)
    }

    /// What the engine refuses since a connection, why there is no connection, and why frames are not stored.
    func reasons(since number: Int, at now: Moment) -> [String] {
        let present = unstored.flatMap { now - $0.at < Self.lifetime ? $0.reason : nil }
        return refusals.filter { $0.value >= number }.keys.sorted() + [unconnected, present].compactMap(\.self)
    }
}

/// The last record of the log of the gateway about what others can repeat as often as they like.
struct LoggedReason: Sendable {
    /// The time after a record to one of the same reason, and to one of another reason.
    private static let (interval, otherInterval) = (Duration.seconds(60), Duration.seconds(1))

    private var last: (reason: String, at: Moment)?

    /// Whether to log a reason now.
    mutating func isDue(_ reason: String, at now: Moment) -> Bool {
        let pause = last?.reason == reason ? Self.interval : Self.otherInterval
        if let last, now - last.at < pause { return false }
        last = (reason, now)
        return true
    }
}

/// The reports of a member to operators.
extension ClusterNode {
    func report(epochAt position: UInt64, windowsAfter first: UInt64) {
        logger.notice(
            "entered an epoch of the cluster",
            metadata: ["position": "\(position)", "windowsAfter": "\(first)"]
        )
    }

    /// Logs once that the engine refuses a subject, and keeps that for the health.
    func report(_ reason: String, refusedOn number: Int) {
        guard shared.withLock({ $0.failures.refused(reason, on: number) }) else { return }
        logger.error(
            "the cluster's engine refuses a subject: its user needs more permissions",
            metadata: ["error": "\(reason)"]
        )
    }

    /// Logs that the engine does not store frames, and why.
    func report(notStored reason: String, at now: Moment) {
        guard shared.withLock({ $0.failures.notStored(reason, at: now) }) else { return }
        logger.error("the cluster's engine does not store what this gateway writes", metadata: ["error": "\(reason)"])
    }

    /// Logs why a shared subscription cannot be opened.
    func report(unopened reason: String) {
        let now = clock()
        guard shared.withLock({ $0.unopened.isDue(reason, at: now) }) else { return }
        logger.warning("cannot open a shared subscription", metadata: ["error": "\(reason)"])
    }

    func report(_ divergence: LogDivergence) {
        logger.error(
            "the engine has shown different logs: all streams begin again",
            metadata: [
                "position": "\(divergence.position)",
                "digest": "\(String(divergence.own, radix: 16))",
                "other-digest": "\(String(divergence.other, radix: 16))",
                "other-member": "\(divergence.member.map { String($0, radix: 16) } ?? "-")",
            ]
        )
    }

    func report(_ own: Formats, refusedBy members: Formats) {
        logger.error(
            "this process cannot join the cluster: its members use other formats between them. Upgrade them through a version that has formats in common with both",
            metadata: ["formats": "\(own)", "members-formats": "\(members)"]
        )
    }

    func report(_ formats: Formats) {
        logger.warning(
            "a process cannot join the cluster: it uses other formats between members",
            metadata: ["formats": "\(formats)"]
        )
    }

    func report(_ info: MemberInfo) {
        logger.warning(
            "a member of the cluster has other upstreams or access rules",
            metadata: ["member": "\(info.name)", "version": "\(info.version)"]
        )
    }
}

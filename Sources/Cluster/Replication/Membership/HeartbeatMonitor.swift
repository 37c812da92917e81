package import Primitives

/// The message that a member sends periodically, and when another process has connected, to all members, itself included.
package struct Heartbeat: Sendable, Equatable {
    /// The format of these fields, which later formats do not change.
    private static let format: UInt8 = 3
    /// The oldest format that is read, which has no digest.
    private static let oldest: UInt8 = 2

    /// The process; it stays the same when the member joins again.
    package var process: UInt64 = 0
    /// The member; 0 while it does not belong to the cluster.
    package var member: UInt64 = 0
    /// The epoch and the position up to which it has applied the log; the position at which the epoch began until the log has
    /// what the member reports when it joins.
    package var epoch: UInt64 = 0
    package var position: UInt64 = 0
    /// The time of sending, by the clock of the sender.
    package var sentAt = Moment.zero
    /// A digest of the configuration that all members should have.
    package var configuration: UInt64 = 0
    /// The formats that the process reads.
    package var formats = Formats.supported
    /// The requests of rate-limited names since the last heartbeat.
    package var rates: [RateUse] = []
    /// The digest of the log up to the position; nil if the sender does not have it any more, or wrote format 2.
    package var digest: UInt64?

    static let wire = Wire<Self>(
        Heartbeat(),
        [
            Field(\.process, .fixed64),
            Field(\.member, .fixed64),
            Field(\.epoch, .fixed64),
            Field(\.position, .fixed64),
            Field(\.sentAt, .moment),
            Field(\.configuration, .fixed64),
            Field(\.formats, Formats.wire),
            Field(\.rates, .list(RateUse.wire)),
        ]
    )
}

extension Heartbeat {
    /// The bytes that are sent.
    package var bytes: [UInt8] { [Self.format] + Self.wire.bytes(self) + Wire.digest.bytes(digest) }

    /// Parses a heartbeat; nil for other bytes.
    package init?(_ bytes: [UInt8]) {
        // Later formats have more fields.
        var reader = ByteReader(bytes.dropFirst())
        guard let format = bytes.first, format >= Self.oldest else { return nil }
        do throws(CodingError) {
            self = try Self.wire.read(&reader)
            if format >= Self.format { digest = try Wire.digest.read(&reader) }
        } catch {
            return nil
        }
    }
}

extension Wire<UInt64?> { fileprivate static let digest = Wire.optional(.fixed64) }

extension Wire<Moment> {
    fileprivate static let moment = Wire<UInt64>.fixed64.map { (moment: Moment) in
        UInt64(bitPattern: moment.nanoseconds)
    } from: {
        Moment(nanoseconds: Int64(bitPattern: $0))
    }
}

/// The times and statements of the heartbeats of others, and whether this member receives its own heartbeats back.
struct HeartbeatMonitor: Sendable {
    private let timings: ClusterTimings
    /// The time of the next heartbeat of this member.
    private var next = Moment.zero
    /// The time of sending of the last one.
    private var lastSentAt = Moment.zero
    private(set) var formats: HeardFormats
    /// The digests of the members' configurations.
    private(set) var configurations: [UInt64: UInt64] = [:]
    /// The times of the members' last heartbeats.
    private var heard: [UInt64: Moment] = [:]
    /// The times of sending of the newest heartbeats of other processes, by the clocks of the senders. Those of processes
    /// that have ended stay, since the engine may deliver their heartbeats again.
    private var newest: [UInt64: Moment] = [:]
    /// The times at which this member has read that others are members.
    private var joined: [UInt64: Moment] = [:]
    /// The time of sending of the newest heartbeat of this member that was received back.
    private var echoSentAt: Moment?
    /// The time since which own heartbeats have been received back without a pause, the first one in time; nil while they are not.
    private var reachableSince: Moment?
    /// The time since which no heartbeat of this member has been received back.
    private var silentSince = Moment.zero
    private var lastTick = Moment.zero

    init(timings: ClusterTimings, formats: Formats) {
        self.timings = timings
        self.formats = HeardFormats(own: formats)
    }

    /// Whether a heartbeat of another process was sent after all that were received from the process. Others say nothing about
    /// the present: somebody without the cluster's secret may have recorded them.
    func isNew(_ heartbeat: Heartbeat) -> Bool { newest[heartbeat.process].map { heartbeat.sentAt > $0 } ?? true }

    /// Whether a process that is no member asks for the heartbeats of the members: one that has connected again, or is new.
    func asks(_ heartbeat: Heartbeat) -> Bool {
        heartbeat.member == 0 && (heartbeat.epoch != 0 || newest[heartbeat.process] == nil)
    }

    /// A heartbeat of another process was received; nil if it is not new.
    mutating func accept(_ heartbeat: Heartbeat, at now: Moment) -> [MemberAction]? {
        guard isNew(heartbeat) else { return nil }
        newest[heartbeat.process] = heartbeat.sentAt
        if heartbeat.member != 0 { heard[heartbeat.member] = now }
        return formats.heard(heartbeat, at: now)
    }

    /// Stores the digest of a member's configuration; false if it was stored before.
    mutating func noteConfiguration(of heartbeat: Heartbeat) -> Bool {
        configurations.updateValue(heartbeat.configuration, forKey: heartbeat.member) != heartbeat.configuration
    }

    /// A member has joined, or is one according to a state that was loaded.
    mutating func joined(_ member: UInt64, at now: Moment) { joined[member] = now }

    /// A heartbeat of this member was received back.
    mutating func echoed(sentAt: Moment, at now: Moment) {
        // The pause that ends now counts.
        timePassed(at: now)
        if echoSentAt.map({ sentAt > $0 }) ?? true { silentSince = now }
        echoSentAt = max(echoSentAt ?? sentAt, sentAt)
        if reachableSince == nil, isFresh(at: now) { reachableSince = now }
    }

    mutating func connected(at now: Moment) { (silentSince, next) = (now, now) }

    mutating func beatNow(at now: Moment) { next = now }

    /// The time of sending of a heartbeat that is due, later than the time of sending of the former heartbeat; nil: none is due.
    mutating func beats(at now: Moment) -> Moment? {
        guard now >= next else { return nil }
        next = now + timings.heartbeat
        formats.forget(before: now - timings.suspect)
        lastSentAt = max(now, lastSentAt + .nanoseconds(1))
        return lastSentAt
    }

    mutating func disconnected() {
        echoSentAt = nil
        reachableSince = nil
    }

    mutating func timePassed(at now: Moment) {
        if !isHearing(at: now) { reachableSince = nil }
        // The process was paused: messages have arrived that it has not handled.
        if now - lastTick > timings.echoTimeout { silentSince = max(silentSince, now) }
        lastTick = now
    }

    /// Whether the connection has delivered nothing for too long.
    func isSilent(at now: Moment) -> Bool { now - silentSince >= timings.silence }

    /// Whether the engine delivers heartbeats of this member, and so those of others, without a pause. Heartbeats that all take the
    /// same time come without a pause, even if the time is so long that the engine is not reachable before each of them.
    func isHearing(at now: Moment) -> Bool { reachableSince != nil && now - silentSince < timings.echoTimeout }

    private func isFresh(at now: Moment) -> Bool { echoSentAt.map { now - $0 < timings.echoTimeout } ?? false }

    /// Whether the engine delivers the messages of this member to all members, itself included.
    func isReachable(at now: Moment) -> Bool { reachableSince != nil && isFresh(at: now) }

    /// Members without heartbeats for too long. A member of lower rank waits longer, so that usually only one acts.
    func suspects(among members: some Collection<UInt64>, me: UInt64, at now: Moment) -> [UInt64] {
        guard isReachable(at: now), let reachableSince else { return [] }
        return members.filter { member in
            guard member != me else { return false }
            let since = max(heard[member] ?? .zero, joined[member] ?? .zero, reachableSince)
            guard now - since > timings.suspect else { return false }
            let others = members.filter { $0 != member }
            let rank = Rendezvous.ranking(of: others, for: member).firstIndex(of: me) ?? 0
            return now - since > timings.suspect + timings.rankDelay * rank
        }
    }

    /// Whether the last heartbeat of a member is not late.
    func hears(_ member: UInt64, at now: Moment) -> Bool {
        heard[member].map { now - $0 < timings.heartbeat * 2 } ?? false
    }

    /// Whether a recent heartbeat of another process was received.
    func hearsOthers(at now: Moment) -> Bool { heard.values.contains { now - $0 < timings.suspect } }

    /// The time since the last heartbeat of a member; nil without one, and if this member itself was paused or cut off since.
    func silence(of member: UInt64, at now: Moment) -> Duration? {
        guard isReachable(at: now), let reachableSince, let last = heard[member], last >= reachableSince else {
            return nil
        }
        return now - last
    }

    mutating func forget(_ member: UInt64) { (heard[member], joined[member], configurations[member]) = (nil, nil, nil) }
}

/// The heartbeats of a member, and what it does about those of the others.
extension MemberMachine {
    /// Whether a heartbeat was sent after every heartbeat that was received from the same process; an older one has no effect.
    /// Heartbeats of this member count as new.
    package func isNew(_ heartbeat: Heartbeat) -> Bool { heartbeat.process == process || monitor.isNew(heartbeat) }

    /// A heartbeat was received, possibly the member's own one.
    package mutating func heard(_ heartbeat: Heartbeat, at now: Moment) -> [MemberAction] {
        if heartbeat.process == process {
            monitor.echoed(sentAt: heartbeat.sentAt, at: now)
            return []
        }
        let asks = monitor.asks(heartbeat)
        guard var other = monitor.accept(heartbeat, at: now) else { return [] }
        reports.heard(heartbeat, at: now)
        guard heartbeat.member != 0 else {
            return other + (asks && isFollowing ? beatNow(at: now) : []) + fetchIfBehind(at: now)
        }
        end.heard(heartbeat)
        if phase == .following, heartbeat.epoch == ledger?.epoch {
            reader.reaches(heartbeat.position)
            // A digest of a position that this member has not read yet says nothing.
            if let digest = heartbeat.digest, history.digests[heartbeat.position] != nil {
                if let otherPast = history.digests.otherPast(of: heartbeat.member, upTo: heartbeat.position, digest) {
                    return other + diverged(otherPast)
                }
                other += handedOver.read(heartbeat.position, by: heartbeat.member)
            }
            other += resendAtConfirmedEnd(at: now)
        }
        let own = phase == .following && reader.gap == nil ? ledger?.epoch : nil
        if inspections.isDue(after: timings.silence, ofMemberIn: heartbeat.epoch, own: own, at: now) {
            return other + [inspectLog()]
        }
        if let info = ledger?.members[heartbeat.member]?.info, monitor.noteConfiguration(of: heartbeat),
            heartbeat.configuration != configuration
        {
            other.append(.reportOtherConfiguration(info))
        }
        return other + fetchIfBehind(at: now)
    }

    /// Sends a heartbeat before it is due.
    mutating func beatNow(at now: Moment) -> [MemberAction] {
        monitor.beatNow(at: now)
        return beat(at: now)
    }

    mutating func beat(at now: Moment) -> [MemberAction] {
        guard phase != .offline, let sentAt = monitor.beats(at: now) else { return [] }
        reports.timePassed(timings, at: now)
        let isFollowing = isFollowing
        // Until the log has its report, a member states the beginning of the epoch.
        let position = reports.hasOwn ? reader.position : ledger?.epochPosition ?? 0
        var heartbeat = Heartbeat(process: process, sentAt: sentAt, configuration: configuration, formats: formats)
        heartbeat.epoch = ledger?.epoch ?? 0
        if isFollowing {
            (heartbeat.member, heartbeat.position) = (member, position)
            heartbeat.digest = history.digests[position]?.value
        }
        return [.broadcast(heartbeat)]
    }

    /// Orders the removal of silent members. Called when a frame can be written: a removal that was decided earlier might
    /// be about a member that sends heartbeats again.
    mutating func removeSilent(at now: Moment) {
        for silent in suspects(at: now) where !writer.removing.contains(silent) { writer.remove(silent) }
    }

    func suspects(at now: Moment) -> [UInt64] {
        guard isMember, let ledger else { return [] }
        return monitor.suspects(among: ledger.members.keys, me: member, at: now)
    }
}

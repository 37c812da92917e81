"""The rules of the product that `mutants` leaves out, one at a time."""

MEMBER = "Sources/Cluster/Replication/Member/MemberMachine.swift"
HOLDER = "Sources/Cluster/Replication/Member/ResourceHolder.swift"
LOADING = "Sources/Cluster/Replication/Member/StateLoading.swift"
LOG = "Sources/Cluster/Replication/Log/"
LEDGER = "Sources/Cluster/Replication/Membership/ClusterLedger.swift"
MEMBERS = "Sources/Cluster/Replication/Membership/"
QUOTAS = "Sources/Cluster/Replication/Quotas/"
TICKETS = "Sources/Cluster/Replication/Tickets/TicketUses.swift"
STREAMS = "Sources/Cluster/Replication/Streams/PreparedStreamRecord.swift"
HANDED_OVER = "Sources/Cluster/Replication/Streams/HandedOverStreams.swift"
REQUESTS = "Sources/Cluster/Replication/Requests/IdempotentRequests.swift"
WAITS = "Sources/Cluster/GatewayCluster/Resources/LocalStreams.swift"
RESOURCES = "Sources/Cluster/GatewayCluster/Resources/ClusterResources.swift"
CALLS = "Sources/Cluster/GatewayCluster/Requests/MemberCalls.swift"
REPORTS = "Sources/Cluster/GatewayCluster/Node/MemberReports.swift"
HUB = "Sources/Gateway/EventHub/State/"

# Name, the rule that is left out, and its changes: file, text, replacement.
MUTANTS = [
    # Ledger
    (
        "fence", "frames of members that were replaced are refused",
        (
            LEDGER, "!join(frame) { return .stale }",
            '!join(frame) { return isMutant("fence") ? .taken(applyRecords(frame)) : .stale }',
        ),
        (
            LEDGER, "while reader.remaining > 0, members[frame.member] != nil,",
            'while reader.remaining > 0, members[frame.member] != nil || isMutant("fence"),',
        ),
        (
            LEDGER, "if let topic = topics.byID[id] { return topic.owner == member",
            'if isMutant("fence"), let topic = topics.byID[id] { return term <= position || topic.owner == member }\n'
            "        if let topic = topics.byID[id] { return topic.owner == member",
        ),
    ),
    (
        "term", "records of a former term are refused",
        (LEDGER, "&& topic.term == term }", '&& (topic.term == term || isMutant("term")) }'),
    ),
    (
        "again", "a repeated frame is ignored",
        (LEDGER, "if frame.counter <= member.counter {", 'if frame.counter <= member.counter, !isMutant("again") {'),
        (
            LEDGER, "guard frame.counter == member.counter + 1 else",
            'guard frame.counter == member.counter + 1 || isMutant("again") || isMutant("counter") else',
        ),
    ),
    ("counter", "a missing frame of a writer begins an epoch"),
    (
        "late", "a writer that has read another log begins an epoch",
        (LEDGER, "return isLate ? .stale : .lost", 'return isLate || isMutant("late") ? .stale : .lost'),
    ),
    (
        "ghost", "a late repetition of the first frame of a removed member does not add it again",
        (LEDGER, "!removed.contains(frame.member)", '!removed.contains(frame.member) || isMutant("ghost")'),
    ),
    (
        "unreadable", "a frame in a format that some members do not read has no effect",
        (LEDGER, "!formats.contains(frame.format) {", '!formats.contains(frame.format), !isMutant("unreadable") {'),
    ),
    (
        "foreign", "a specification of another member's resource is refused",
        (
            MEMBERS + "Inheritance.swift", "guard owner == member, topics.byID[id] == nil,",
            'guard owner == member || isMutant("foreign"), topics.byID[id] == nil,',
        ),
    ),
    (
        "unwanted", "a removed member has no interest in subscriptions any more",
        (
            MEMBERS + "SharedTopics.swift", "byID[id]?.interested.remove(gone)",
            'if !isMutant("unwanted") { byID[id]?.interested.remove(gone) }',
        ),
    ),
    (
        "closed", "the prepared streams of a removed member are closed",
        (
            MEMBERS + "Inheritance.swift", "if specified[id]?.isOpen != nil {",
            'if specified[id]?.isOpen != nil, !isMutant("closed") {',
        ),
    ),
    (
        "twice", "a prepared stream is open on one member",
        (STREAMS, "guard !isOpen else {", 'guard !isOpen || isMutant("twice") else {'),
    ),
    (
        "closer", "only its owner closes a prepared stream",
        (
            STREAMS, "if isOwner(member, ofStream: id) { specified[id]?.isOpen = false }",
            'if isOwner(member, ofStream: id) || isMutant("closer") { specified[id]?.isOpen = false }',
        ),
    ),
    # Member machine
    (
        "holes", "missing frames are fetched",
        (
            LOG + "LogReader.swift", "guard position < known, early[position + 1] == nil else",
            'guard position < known, early[position + 1] == nil, !isMutant("holes") else',
        ),
    ),
    (
        "order", "frames after a missing one wait",
        (
            LOG + "LogReader.swift", "guard let bytes = early.removeValue(forKey: position + 1) else { return nil }",
            'if isMutant("order"), let next = early.keys.min() { position = next - 1 }\n'
            "        guard let bytes = early.removeValue(forKey: position + 1) else { return nil }",
        ),
    ),
    (
        "generation", "another log is noticed after a connection",
        (
            LOG + "LogInspections.swift", "let isReplaced = created != generation.created\n",
            'let isReplaced = created != generation.created && !(isMutant("generation") && created != nil)\n',
        ),
    ),
    (
        "equal", "a member compares the last frame that it has read with the log of a new connection",
        (
            LOG + "LogInspections.swift", "reader.position >= max(1, generation.first) {",
            'reader.position >= max(1, generation.first), !isMutant("equal") {',
        ),
    ),
    (
        "older-copy", "a log that went back is noticed after a connection",
        (
            LOG + "LogInspections.swift", "if finding == .shortened {",
            'if finding == .shortened, !isMutant("older-copy") {',
        ),
    ),
    (
        "common-end", "a member that has connected appends after it has heard the others",
        (
            LOG + "EndOfLog.swift", "isConfirmed = position >= stated(in: epoch)",
            'isConfirmed = isMutant("common-end") || position >= stated(in: epoch)',
        ),
    ),
    (
        "removal", "a member decides to remove another one when it can write that",
        (
            MEMBER,
            "guard isFollowing, writer.isIdle, end.isConfirmed || confirmsEnd(at: now), let ledger",
            'if isMutant("removal") { removeSilent(at: now) }\n        guard isFollowing, writer.isIdle, end.isConfirmed || confirmsEnd(at: now), let ledger',
        ),
    ),
    (
        "in-flight", "a member appends a frame after it has read the one before it",
        (
            MEMBER, "guard isFollowing, writer.isIdle, end.isConfirmed || confirmsEnd(at: now), let ledger",
            'guard isFollowing, writer.isIdle || isMutant("in-flight"), let ledger',
        ),
    ),
    (
        "resend", "a frame that the log does not have is appended again",
        (
            MEMBER, "actions += resend(after: timings.resend, at: now)",
            'if !isMutant("resend") { actions += resend(after: timings.resend, at: now) }',
        ),
    ),
    (
        "windows", "a joining member does not use windows that it could not read completely",
        (
            LOADING, "load(snapshot, withWindows: isComplete,",
            'load(snapshot, withWindows: isComplete || isMutant("windows"),',
        ),
    ),
    (
        "behind", "a member serves after it has read what the log had when it connected",
        (HOLDER, "isFollowing && position >= inspections.last", 'isFollowing && (position >= inspections.last || isMutant("behind"))'),
    ),
    (
        "reported", "an answer waits until the members of a new epoch have reported their resources",
        (
            MEMBERS + "EpochReports.swift", "guard hasOwn, age >= timings.reporting else",
            'if isMutant("reported") { return true }\n        guard hasOwn, age >= timings.reporting else',
        ),
    ),
    (
        "all-reports", "members of a new epoch wait for the report of every process that is heard",
        (
            MEMBERS + "EpochReports.swift", "where heardAt > now - timings.suspect {",
            'where heardAt > now - timings.suspect && !isMutant("all-reports") {',
        ),
    ),
    (
        "membership", "a member that enters again removes its former membership",
        (
            LOADING, "if !isLeaving { writer.control += own",
            'if !isLeaving, !isMutant("membership") { writer.control += own',
        ),
    ),
    (
        "hand-over", "a member keeps its stream until the member that opened it has read the opening",
        (
            HANDED_OVER, "openings[id] = (owner, position)",
            'if isMutant("hand-over") { return [.releaseStream(id)] }\n        openings[id] = (owner, position)',
        ),
    ),
    (
        "missing", "a frame that the engine does not have is replaced by the state of another member",
        (
            LOG + "LogInspections.swift", "let isLost = isMissing &&", 'let isLost = isMissing && !isMutant("missing") &&',
        ),
    ),
    (
        "inspections", "only the last inspection of the log counts",
        (
            LOG + "LogInspections.swift", "guard pending == 0 else",
            'guard pending == 0 || isMutant("inspections") else',
        ),
        (
            MEMBER, "phase == .offline || inspections.isPending ? []",
            'phase == .offline || inspections.isPending && !isMutant("inspections") ? []',
        ),
        (
            LOADING, "!former.isNewer(than: snapshot.ledger)\n",
            '!former.isNewer(than: snapshot.ledger) || isMutant("inspections")\n',
        ),
    ),
    (
        "format", "members write a format that all of them read",
        (
            MEMBER, "let members = ledger?.formats?.common(with: formats) ?? formats\n",
            'let members = isMutant("format") ? formats : ledger?.formats?.common(with: formats) ?? formats\n',
        ),
    ),
    (
        "rank", "a member that cannot reach the engine suspects nobody",
        (
            MEMBERS + "HeartbeatMonitor.swift", "guard isReachable(at: now), let reachableSince else { return [] }",
            'let reachableSince = isMutant("rank") ? reachableSince ?? .zero : reachableSince\n'
            '        guard isReachable(at: now) || isMutant("rank"), let reachableSince else { return [] }',
        ),
    ),
    # Digest
    (
        "past", "a frame that was written on another past begins an epoch",
        (LOG + "LogReader.swift", "own != digest else", 'own != digest, !isMutant("past") else'),
    ),
    (
        "quiet", "a member that writes nothing states the digest of what it has read",
        (MEMBERS + "HeartbeatMonitor.swift", "if let otherPast = ", 'if !isMutant("quiet"), let otherPast = '),
    ),
    (
        "checksum", "a frame that the engine has changed begins an epoch",
        (
            LEDGER, "if entry.wrongSum != nil {",
            'if entry.wrongSum != nil, !isMutant("checksum") {',
        ),
    ),
    (
        "contradiction", "another frame at a position that was applied begins an epoch",
        (
            LOG + "LogDivergence.swift", "if other.value == own { return nil }",
            'if other.value == own || isMutant("contradiction") { return nil }',
        ),
    ),
    (
        "divergence", "readers of two logs get a gap",
        (LOG + "LogInspections.swift", "if inspections.hasDiverged, let known = ", 'if inspections.hasDiverged, !isMutant("divergence"), let known = '),
    ),
    (
        "digest-order", "the digest depends on the order of the frames",
        (
            LOG + "LogReader.swift", "value = SplitMix64.mixed(value ^",
            'if isMutant("digest-order") { return value = value &+ sum }\n        value = SplitMix64.mixed(value ^',
        ),
    ),
    (
        "replay", "a joining member compares the digest of its state with that of the frames",
        (LOADING, "isEnd && own != other {", 'isEnd && own != other && !isMutant("replay") {'),
    ),
    # Adoption
    (
        "processed", "the log has the number up to which the events of a session were processed",
        (
            LEDGER, "sessions[client]?.processed = max(session.processed, number)",
            'if !isMutant("processed") { sessions[client]?.processed = max(session.processed, number) }',
        ),
    ),
    (
        "adopted", "the new owner of the subscriptions continues their session",
        (
            MEMBERS + "Inheritance.swift", "if clients[client]?.owner == gone {",
            'if clients[client]?.owner == gone, !isMutant("adopted") {',
        ),
    ),
    (
        "surrender", "a member that returns gives up the resources that others have inherited",
        (
            LOADING, "return [restart] + former.release(in: snapshot.ledger) +",
            'return [restart] + (isMutant("surrender") ? [] : former.release(in: snapshot.ledger)) +',
        ),
    ),
    (
        "sessions", "a member that is missing frames does not own its sessions",
        (
            HOLDER, "return isServing(at: now) && isMember",
            'if isMutant("sessions") { return true }\n        return isServing(at: now) && isMember',
        ),
    ),
    # Admission
    (
        "ticket", "a ticket opens one stream",
        (
            TICKETS, "guard opening.isResumed, target == opening.target,",
            'guard opening.isResumed || isMutant("ticket"), target == opening.target,',
        ),
    ),
    (
        "target", "a ticket opens only its first stream again",
        (
            TICKETS, "target == opening.target, let index",
            '(target == opening.target || isMutant("target")), let index',
        ),
    ),
    (
        "key", "an idempotency key is performed once",
        (REQUESTS, "if let entry = entries[key], entry.position != expired {", 'if let entry = entries[key], entry.position != expired, !isMutant("key") {'),
    ),
    (
        "answer", "only the member that performs a request answers it",
        (
            REQUESTS, "guard entries[key]?.member == member, isPending(key) else { return false }",
            'guard entries[key]?.member == member || isMutant("answer"), isPending(key) else { return false }',
        ),
    ),
    (
        "quota", "a quota is not exceeded by several members",
        (QUOTAS + "SharedQuotas.swift", "guard excess(of: demands) == nil else", 'guard excess(of: demands) == nil || isMutant("quota") else'),
    ),
    (
        "units", "the units of a removed member are free",
        (MEMBERS + "Inheritance.swift", "quotas.releaseAll(of: gone)", 'if !isMutant("units") { quotas.releaseAll(of: gone) }'),
    ),
    (
        "credits", "a claim for credits waits until enough are free",
        (
            QUOTAS + "SharedCredits.swift", "if upstream.free.covers(waiting.claim.missing) {",
            'if upstream.free.covers(waiting.claim.missing) || isMutant("credits") {',
        ),
    ),
    (
        "awaited", "a claim for credits is not refused before all members have answered",
        (
            QUOTAS + "SharedCredits.swift", "} else if waiting.awaited.isEmpty {",
            '} else if waiting.awaited.isEmpty || isMutant("awaited") {',
        ),
    ),
    # Resume
    (
        "waiting", "a stream waits until the member has applied the last event of its client",
        (WAITS, "last.sequence <= present.sequence\n", 'last.sequence <= present.sequence || isMutant("waiting")\n'),
    ),
    (
        "end", "a stream whose epoch is not known waits until the log is applied up to its end",
        (WAITS, "!isKnown($0.epoch) } ?? false", '!isKnown($0.epoch) && !isMutant("end") } ?? false'),
    ),
    (
        "epoch", "a stream of another epoch is not resumed",
        (HUB + "TopicTable.swift", "guard id.epoch == epoch,", 'guard id.epoch == epoch || isMutant("epoch"),'),
    ),
    (
        "snapshot", "a stream is not resumed from inside a snapshot",
        (HUB + "TopicTable.swift", "return !isInsideSnapshot\n", 'return !isInsideSnapshot || isMutant("snapshot")\n'),
    ),
    (
        "window", "a stream is resumed only if the window has its last event",
        (
            HUB + "WantedChannels.swift", "&& wanted.channel.log.position(after: id.sequence) != nil",
            '&& (wanted.channel.log.position(after: id.sequence) != nil || isMutant("window"))',
        ),
    ),
    # Resources
    (
        "uncertain", "a resource is kept while the log may have the answer of its creation",
        (
            RESOURCES, "begun == nil || fate != .uncertain {",
            'begun == nil || fate != .uncertain || isMutant("uncertain") {',
        ),
    ),
    (
        "confirmed", "a response waits until the log has the change",
        (
            REPORTS, "let request = MemberReports.Unconfirmed(",
            'if isMutant("confirmed") { return (.written, isFirst) }\n            let request = MemberReports.Unconfirmed(',
        ),
    ),
    (
        "late-decision", "a request is abandoned if its decision comes too late",
        (
            REPORTS, "case (.request(let name, _), .accepted):",
            'case (.request(let name, _), .accepted) where !isMutant("late-decision"):',
        ),
    ),
    (
        "served", "a member without contact to the log performs no calls of others",
        (CALLS, "isLeaving }), servesResources,", 'isLeaving }), servesResources || isMutant("served"),'),
    ),
]

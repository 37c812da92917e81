import Changes
import Primitives
import TestSupport
import Testing

@testable import Replication

/// The windows of recent events of members that join.
struct JoiningTests {
    private let topics = ["a", "b"]

    private func hold(_ node: SimulatedNode) {
        for id in topics { node.machine.addReader(id, SimulatedNode.key(id)) }
    }

    /// Three members whose log has events of some seconds.
    private func cluster(seed: UInt64, loss: Int, readers: Int = 0) -> SimulatedCluster {
        let cluster = SimulatedCluster(nodes: 3, seed: seed, loss: loss)
        cluster.nodes.forEach(hold)
        cluster.run(.seconds(4))
        cluster.addReaders(readers)
        cluster.run(.seconds(2))
        return cluster
    }

    private func awaitServing(_ node: SimulatedNode, _ cluster: SimulatedCluster) {
        for _ in 0..<500 where !node.machine.isServing(at: cluster.now) { cluster.run(.milliseconds(10)) }
    }

    /// Others that arrive are not even read.
    @Test func onlyAMemberWithoutStateTakesThatOfAnother() {
        let (now, info) = (Moment.zero + .seconds(1), MemberInfo(name: "a", version: "1", upstreams: []))
        var member = MemberMachine(info: info, seed: 1, groups: 1)
        var awaitsState = [member.awaitsState]
        _ = member.connected(at: now)
        _ = member.logInspected(LogGeneration(created: "g", first: 1, last: 0), at: now)
        awaitsState.append(member.awaitsState)
        let epoch = ClusterFrame(kind: .epoch, member: 9, epoch: 7, previous: 0, digest: 0, counter: 0, payload: [1])
        _ = member.arrived(StoredFrame(position: 1, bytes: epoch.bytes), at: now)
        awaitsState.append(member.awaitsState)
        #expect(awaitsState == [false, true, false])
    }

    @Test(arguments: 0..<12 as Range<UInt64>)
    func memberThatJoinsHasRecentEventsOfTheLog(seed: UInt64) {
        let cluster = cluster(seed: seed, loss: Int(seed) * 5)
        let position = cluster.nodes[0].hub.position
        cluster.run(.seconds(20))
        let node = cluster.start()
        awaitServing(node, cluster)
        #expect(node.hub.base <= position, "seed \(seed)")
        cluster.run(.seconds(2))
        cluster.check()
        #expect(cluster.problems.isEmpty, "seed \(seed)")
    }

    /// Nothing happens for longer than the windows of a joining member reach back. The first one reads no frames, the second one
    /// those by which the first one has joined.
    @Test
    func memberThatJoinsKnowsTheLastEventsBeforeItsWindows() {
        let cluster = cluster(seed: 9, loss: 0)
        cluster.isQuiet = true
        prepareStream(on: cluster.nodes[0])
        cluster.run(.seconds(60))
        let (told, additions) = (cluster.nodes[0].hub.told, cluster.nodes[0].machine.additions)
        for _ in 0..<2 {
            let node = cluster.start()
            awaitServing(node, cluster)
            for id in topics {
                let last = told.last { $0.change.topic == .subscription(SubscriptionID(id)) }?.position ?? 0
                #expect(last > 0 && node.hub.base >= last && node.hub.lastChanges[id] == last)
            }
            #expect(additions.count == 1 && node.machine.additions == additions)
            cluster.run(.seconds(20))
        }
    }

    /// A member of a former version reads no other format.
    @Test(arguments: [(Formats(2, 2), 2), (Formats(2, 3), 3), (Formats(2, 4), 3)] as [(Formats, UInt8)])
    func stateHasThePastForMembersThatReadIt(formats: Formats, expected: UInt8) {
        let cluster = cluster(seed: 8, loss: 0)
        let state = cluster.nodes[0].machine.state(for: formats, at: cluster.now)
        #expect(state?.format == expected)
        #expect((state?.snapshot.past != nil) == (expected == 3))
    }

    /// Each member leaves as soon as the one that replaces the last one serves.
    @Test(arguments: 0..<12 as Range<UInt64>)
    func readersResumeDuringRestartsWithoutPauses(seed: UInt64) {
        let cluster = cluster(seed: seed, loss: Int(seed) * 5, readers: 6)
        let gaps = cluster.readers.map(\.gaps)
        for node in cluster.nodes + cluster.nodes {
            guard let node = node.isAlive ? node : cluster.alive.first else { continue }
            cluster.perform(node.machine.leave(), node)
            cluster.run(.milliseconds(100))
            cluster.kill(node)
            let next = cluster.start()
            hold(next)
            awaitServing(next, cluster)
        }
        cluster.run(.seconds(8))
        cluster.checkSettled(topics: topics)
        #expect(cluster.problems.isEmpty, "seed \(seed)")
        #expect(cluster.readers.map(\.gaps) == gaps, "seed \(seed)")
        #expect(cluster.readers.allSatisfy { $0.problems.isEmpty && $0.resumed > 0 }, "seed \(seed)")
    }

    /// The prepared stream "t", which has got a source since it was created.
    private func prepareStream(on node: SimulatedNode) {
        for sources in [["s1"], ["s1", "s2"]] as [[SubscriptionID]] {
            let request = StreamRequest(sources: sources.map { .subscription($0) })
            let content = StreamDefinition(request: request, shared: [:]).bytes
            let specification = ResourceSpecification(group: "t", upstream: nil, content: content)
            _ = node.outbox.append(request: .stream(.prepare(id: "t", specification)))
        }
    }

    /// A stream gets sources and is removed, both before the member joins.
    @Test
    func memberThatJoinsKeepsNoSourcesOfRemovedStreams() {
        let cluster = cluster(seed: 7, loss: 0)
        let owner = cluster.nodes[0]
        func append(_ record: PreparedStreamRecord) { _ = owner.outbox.append(request: .stream(record)) }
        cluster.run(.seconds(20))
        let position = owner.hub.position
        prepareStream(on: owner)
        cluster.run(.seconds(1))
        #expect(cluster.nodes.allSatisfy { Array($0.machine.additions.keys) == ["t"] })
        append(.remove(id: "t", evenIfOpen: true))
        cluster.run(.seconds(1))
        #expect(cluster.nodes.allSatisfy { $0.machine.additions.isEmpty })
        let node = cluster.start()
        awaitServing(node, cluster)
        #expect(node.hub.base <= position && node.machine.additions.isEmpty)
        cluster.run(.seconds(2))
        cluster.check()
        #expect(cluster.problems.isEmpty)
    }

    @Test
    func memberJoinsWithoutWindowsIfTheLogHasNoRecentEvents() {
        let cluster = cluster(seed: 1, loss: 0)
        cluster.forget()
        let position = cluster.nodes[0].hub.position
        let node = cluster.start()
        awaitServing(node, cluster)
        #expect(node.hub.base >= position && node.hub.base > 0)
        cluster.run(.seconds(2))
        cluster.check()
        #expect(cluster.problems.isEmpty)
    }

    @Test
    func memberJoinsWithoutWindowsIfReadingTakesTooLong() {
        let cluster = cluster(seed: 2, loss: 0)
        cluster.unansweredFetches = 1
        let position = cluster.nodes[0].hub.position
        let node = cluster.start()
        let start = cluster.now
        for _ in 0..<500 where !node.machine.isFollowing { cluster.run(.milliseconds(10)) }
        #expect(cluster.now - start >= ClusterTimings().replay)
        awaitServing(node, cluster)
        #expect(node.hub.base >= position)
        cluster.run(.seconds(2))
        cluster.checkSettled(topics: topics)
        #expect(cluster.problems.isEmpty)
    }

    /// The member that sends the state has read other frames.
    @Test
    func memberThatJoinsAnotherLogThanItsStateReportsIt() {
        let cluster = cluster(seed: 5, loss: 0)
        cluster.run(.seconds(20))
        let epoch = cluster.nodes[0].machine.ledger?.epoch
        cluster.show(anotherFrame: 20, to: 3)
        cluster.start()
        cluster.run(.seconds(25))
        cluster.checkSettled(topics: topics)
        #expect(cluster.problems.isEmpty)
        #expect(!cluster.divergences.isEmpty)
        #expect(cluster.nodes.allSatisfy { $0.machine.ledger?.epoch != epoch })
    }

    /// The engine loses frames. The second member begins an epoch, while the frame with the report of the first member, which
    /// has the resource "r", is lost.
    private func beginEpochThatLacksAReport(
        _ cluster: SimulatedCluster
    ) -> (silent: SimulatedNode, other: SimulatedNode) {
        let (first, other) = (cluster.nodes[0], cluster.nodes[1])
        first.make("r")
        cluster.run(.seconds(1))
        let epoch = other.machine.ledger?.epoch
        cluster.rollBack(by: 3)
        first.losesAppends = true
        cluster.disconnect(other)
        for _ in 0..<100 where other.machine.ledger?.epoch ?? epoch == epoch || !other.machine.isMember {
            cluster.run(.milliseconds(10))
        }
        return (first, other)
    }

    /// Another member reports a resource late in a new epoch.
    @Test
    func memberThatJoinsAYoungEpochKnowsThatResourcesMayBeMissing() throws {
        let cluster = cluster(seed: 6, loss: 0)
        let first = beginEpochThatLacksAReport(cluster).silent
        let late = cluster.start()
        var wasLoaded = false
        for _ in 0..<90 {
            cluster.run(.milliseconds(10))
            guard late.machine.isFollowing, late.machine.ledger?.specified["r"] == nil else { continue }
            wasLoaded = true
            let isComplete = late.machine.isComplete(at: cluster.now)
            if isComplete { Issue.record("answers for resources that are not reported") }
        }
        #expect(wasLoaded)
        first.losesAppends = false
        cluster.run(.seconds(10))
        let isMissing = late.machine.ledger?.specified["r"] == nil
        #expect(!isMissing)
    }

    /// The frame with the report of a member is lost, and lost again.
    @Test
    func membersWaitForTheReportOfAMemberThatTheyHear() {
        let cluster = cluster(seed: 6, loss: 0)
        let (first, other) = beginEpochThatLacksAReport(cluster)
        cluster.run(.seconds(3))
        let early = other.machine.isComplete(at: cluster.now)
        #expect(!early)
        first.losesAppends = false
        for _ in 0..<200 where !other.machine.isComplete(at: cluster.now) { cluster.run(.milliseconds(10)) }
        let (isComplete, isKnown) = (
            other.machine.isComplete(at: cluster.now), other.machine.ledger?.specified["r"] != nil
        )
        #expect(isComplete && isKnown)
        // A member that never reports is not waited for without end.
        first.losesAppends = true
        cluster.rollBack(by: 3)
        cluster.disconnect(other)
        cluster.run(.seconds(10))
        let isLate = other.machine.isComplete(at: cluster.now)
        #expect(isLate)
    }

    /// While a member was away, the log was emptied, and the new one has grown beyond the position of the member.
    @Test
    func memberThatJoinsAnotherLogBeginsNoEpoch() {
        let cluster = cluster(seed: 3, loss: 0)
        let node = cluster.nodes[0]
        let position = node.machine.position
        node.isPaused = true
        cluster.stopEngine()
        cluster.empty()
        cluster.startEngine()
        cluster.run(.seconds(20))
        #expect(cluster.nodes[1].machine.position > position)
        let epoch = cluster.nodes[1].machine.ledger?.epoch
        node.isPaused = false
        // Less than the time after which a member that no other one answers begins an epoch.
        cluster.run(.seconds(1))
        let hasJoined = node.machine.isMember
        #expect(hasJoined)
        cluster.run(.seconds(10))
        #expect(cluster.nodes.allSatisfy { $0.machine.ledger?.epoch == epoch })
        cluster.checkSettled(topics: topics)
        #expect(cluster.problems.isEmpty)
    }

    /// Its state follows from the log that the member has not read.
    @Test
    func ticketOfAnEpochThatAMemberDoesNotKnowIsNotVoid() throws {
        let cluster = cluster(seed: 7, loss: 0)
        let node = cluster.nodes[0]
        let epoch = try #require(node.machine.ledger?.epoch)
        let (present, later) = (ticket(of: epoch), ticket(of: epoch &+ 1))
        let late = cluster.start()
        for state in [late.machine.state(of: present), node.machine.state(of: present), node.machine.state(of: later)] {
            #expect(state == .unused)
        }
        cluster.stopEngine()
        cluster.empty()
        cluster.startEngine()
        cluster.run(.seconds(20))
        let state = node.machine.state(of: present)
        #expect(state == .void)
    }

    private func ticket(of epoch: UInt64) -> TicketUse {
        TicketUse(key: RecordKey(high: 1, low: 2), epoch: epoch, issuedAt: 0)
    }

    /// The positions alone do not show it.
    @Test
    func memberNoticesAnotherLogOfTheSameLength() {
        let cluster = cluster(seed: 4, loss: 0)
        for (node, isSame) in [(cluster.nodes[0], true), (cluster.nodes[1], false)] {
            let created = (node.machine.inspections.created ?? "") + (isSame ? "" : "x")
            let log = LogGeneration(created: created, first: 1, last: node.machine.position)
            _ = node.machine.connected(at: cluster.now)
            let isRequested = node.machine.logInspected(log, at: cluster.now).contains(.requestState(Formats(2, 3)))
            #expect(isRequested != isSame)
            let hasState = node.machine.ledger != nil
            #expect(hasState == isSame)
        }
    }
}

struct LedgerHistoryTests {
    private let interval = Duration.seconds(10)
    private let start = Moment.zero + .seconds(100)

    private func ledger(_ position: UInt64) -> ClusterLedger { ClusterLedger(epoch: 1, position: position, groups: 1) }

    /// A history that began at position 1 and noted the position of each second.
    private func history(through last: UInt64) -> LedgerHistory {
        var history = LedgerHistory()
        history.restart(with: ledger(1), at: start)
        for second in 1..<last {
            history.note(ledger(second + 1), interval: interval, at: start + .seconds(Int(second)))
        }
        return history
    }

    private func oldest(_ history: LedgerHistory, _ position: UInt64, after seconds: Int) -> UInt64? {
        history.oldest(upTo: .seconds(30), before: position, at: start + .seconds(seconds))?.ledger.position
    }

    @Test
    func oldestIsOneToTwoIntervalsOld() {
        #expect(oldest(history(through: 1), 1, after: 0) == nil)
        #expect(oldest(history(through: 5), 5, after: 4) == 1)
        #expect(oldest(history(through: 20), 20, after: 19) == 1)
        #expect(oldest(history(through: 21), 21, after: 20) == 11)
        #expect(oldest(history(through: 35), 35, after: 34) == 21)
    }

    @Test
    func ledgerBeyondTheAgeIsNotUsed() {
        #expect(oldest(history(through: 19), 19, after: 30) == 1)
        #expect(oldest(history(through: 19), 19, after: 31) == 11)
        #expect(oldest(history(through: 19), 19, after: 41) == nil)
    }

    @Test
    func ledgerWithoutLaterFramesStaysYoung() {
        var history = history(through: 2)
        history.note(ledger(1), interval: interval, at: start + .seconds(60))
        #expect(oldest(history, 2, after: 80) == 1)
    }

    @Test
    func manyFramesEndAnInterval() {
        var history = LedgerHistory()
        history.restart(with: ledger(1), at: start)
        history.note(ledger(6_000), interval: interval, at: start)
        history.note(ledger(12_000), interval: interval, at: start)
        #expect(oldest(history, 12_000, after: 0) == 6_000)
        history.bytes += 32 << 20
        history.note(ledger(12_001), interval: interval, at: start)
        #expect(oldest(history, 12_001, after: 0) == 12_000)
    }

    @Test
    func earlierLedgerOfAnotherMemberKeepsItsAge() {
        var history = LedgerHistory()
        history.restart(with: ledger(9), after: EarlierState(ledger: ledger(4), age: .seconds(25)), at: start)
        #expect(oldest(history, 10, after: 5) == 4)
        #expect(oldest(history, 10, after: 6) == 9)
    }
}

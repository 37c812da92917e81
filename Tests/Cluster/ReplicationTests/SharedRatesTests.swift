import Primitives
import Testing

@testable import Replication

struct SharedRatesTests {
    private static let start = Moment(nanoseconds: 1_000_000_000)

    @Test func heartbeatCarriesRates() throws {
        var heartbeat = Heartbeat(process: 1, member: 2, epoch: 3, position: 4, sentAt: Self.start, configuration: 5)
        heartbeat.rates = [RateUse(name: "address a", rate: 2.5, burst: 4, admitted: 3, attempts: 300)]
        #expect(Heartbeat(heartbeat.bytes) == heartbeat)
        heartbeat.rates = [RateUse(name: "address a", rate: .nan, burst: 4, admitted: 3, attempts: 300)]
        #expect(Heartbeat(heartbeat.bytes) == nil)
    }

    @Test func aMemberAloneHasTheWholeRate() {
        var rates = SharedRates()
        _ = rates.report(members: 1, isReachable: true, at: Self.start)
        let decisions = (0..<4).map { _ in rates.take("a", rate: 2, burst: 3, at: Self.start) }
        #expect(decisions.map(\.isAdmitted) == [true, true, true, false])
        #expect(decisions.map(\.remaining) == [2, 1, 0, 0])
        #expect(decisions[3].wait == .seconds(0.5))
        let next = rates.take("a", rate: 2, burst: 3, at: Self.start + .milliseconds(500))
        #expect(next.isAdmitted)
    }

    @Test func requestsOfOtherMembersTakeTokens() {
        var rates = SharedRates()
        _ = rates.report(members: 2, isReachable: true, at: Self.start)
        let use = RateUse(name: "a", rate: 1, burst: 10, admitted: 10, attempts: 10)
        rates.heard([use], from: 7, at: Self.start)
        let decision = rates.take("a", rate: 1, burst: 10, at: Self.start)
        #expect(!decision.isAdmitted)
        let later = rates.take("a", rate: 1, burst: 10, at: Self.start + .seconds(10))
        #expect(later.isAdmitted)
    }

    @Test func aMemberOutOfTouchHasItsPartOfTheLimit() {
        var rates = SharedRates()
        _ = rates.report(members: 4, isReachable: true, at: Self.start)
        rates.disconnected()
        var admitted = 0
        for step in 0..<10_000 {
            let now = Self.start + .milliseconds(step)
            if rates.take("a", rate: 40, burst: 40, at: now).isAdmitted { admitted += 1 }
        }
        // A quarter of the burst, and a quarter of the rate for ten seconds.
        #expect((100...141).contains(admitted))
        #expect(rates.report(members: nil, isReachable: true, at: Self.start + .seconds(10)).isEmpty)
    }

    @Test func furtherNamesShareABucketThatIsNotReported() {
        var rates = SharedRates(maxBuckets: 2)
        for name in ["a", "b"] { _ = rates.take(name, rate: 1, burst: 1, at: Self.start) }
        let decisions = ["c", "d"].map { rates.take($0, rate: 1, burst: 1, at: Self.start).isAdmitted }
        #expect(decisions == [true, false])
        let names = rates.report(members: 1, isReachable: true, at: Self.start).map(\.name)
        #expect(names.sorted() == ["a", "b"])
        // Full buckets make room, once they are not hot.
        _ = rates.report(members: 1, isReachable: true, at: Self.start + .seconds(9))
        let later = ["c", "d"].map { rates.take($0, rate: 1, burst: 1, at: Self.start + .seconds(9)).isAdmitted }
        #expect(later == [true, true])
    }

    @Test func theNamesWithTheMostRequestsAreReportedFirst() {
        var rates = SharedRates()
        for number in 0..<SharedRates.reportLimit { _ = rates.take("a\(number)", rate: 1, burst: 1, at: Self.start) }
        for _ in 0..<2 { _ = rates.take("b", rate: 1, burst: 1, at: Self.start) }
        let first = rates.report(members: 2, isReachable: true, at: Self.start)
        #expect(first.count == SharedRates.reportLimit && first[0].name == "b" && first[0].attempts == 2)
        let second = rates.report(members: 2, isReachable: true, at: Self.start)
        #expect(second.count == 1)
    }

    @Test func moreNamesThanAHeartbeatHasAreForgottenOnceTheirBucketsAreFull() {
        var rates = SharedRates(maxBuckets: 16 * SharedRates.reportLimit)
        var now = Self.start
        for beat in 0..<40 {
            for number in 0..<SharedRates.reportLimit + 100 {
                _ = rates.take("a\(beat) \(number)", rate: 2, burst: 1, at: now)
            }
            _ = rates.report(members: 2, isReachable: true, at: now)
            now = now + .milliseconds(500)
        }
        // Further names would share a bucket.
        let decisions = ["b", "c"].map { rates.take($0, rate: 1, burst: 1, at: now).isAdmitted }
        #expect(decisions == [true, true])
    }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func theErrorIsAtMostABurstAndTheRequestsUntilTheNextHeartbeat(seed: UInt64) {
        var simulation = RateSimulation(seed: seed)
        simulation.run(.seconds(10)) { simulation, member, _ in simulation.changes(member) }
        #expect(simulation.worstExcess <= 0, "\(simulation)")
    }

    @Test(arguments: [2, 3, 8])
    func theBurstCountsOnceIfAllMembersAreAskedAtOnce(members: Int) {
        var simulation = RateSimulation(seed: 1, members: members, rate: 20, burst: 40)
        simulation.run(.seconds(20)) { _, _, _ in 500 }
        #expect(simulation.worstExcess <= 0)
        // In the long run, the limit is used, and not more.
        let expected = 40 + 20.0 * 20
        #expect(Double(simulation.admitted) >= 0.95 * expected && Double(simulation.admitted) <= expected + 40 + 20)
    }

    @Test(arguments: [2, 3, 8])
    func theOnlyMemberWithRequestsHasTheWholeLimit(members: Int) {
        var simulation = RateSimulation(seed: 2, members: members, rate: 20, burst: 40)
        simulation.run(.seconds(10)) { _, member, _ in member == 1 ? 100 : 0 }
        #expect(simulation.admitted >= 40 + 190 && simulation.admitted <= 40 + 200)
    }

    @Test func sharesFollowTheDemand() {
        var simulation = RateSimulation(seed: 3, members: 3, rate: 60, burst: 60)
        simulation.run(.seconds(20)) { _, member, _ in [300, 100, 0][member] }
        let (most, less) = (Double(simulation.counts[0]), Double(simulation.counts[1]))
        #expect(most / less > 2 && most / less < 4)
        #expect(simulation.admitted >= Int(0.95 * (60 + 60 * 20)))
    }

    @Test(arguments: [2, 3, 8])
    func requestsAtTheRateThroughOneMemberAreAdmitted(members: Int) {
        var simulation = RateSimulation(seed: 5, members: members, rate: 1, burst: 1)
        var refused = 0
        simulation.run(.seconds(60)) { simulation, member, step in
            if member == 0, step % 201 == 0, !simulation.request(member) { refused += 1 }
            return 0
        }
        // Before the other members know of them.
        #expect(refused <= 2)
    }

    @Test func slowRequestsThroughAnyMemberAreAdmitted() {
        var simulation = RateSimulation(seed: 4, members: 3, rate: 1, burst: 1)
        // One request every 1.5 seconds, through one member after the other.
        var refused = 0
        simulation.run(.seconds(60)) { simulation, member, step in
            guard step % 300 == 0, step / 300 % 3 == member else { return 0 }
            if !simulation.request(member) { refused += 1 }
            return 0
        }
        #expect(refused == 0)
    }
}

/// Members with requests of one name, whose heartbeats arrive late.
private struct RateSimulation: CustomStringConvertible {
    private static let step = Duration.milliseconds(5)
    private static let latency = 0...50

    private var random: SplitMix64
    private var members: [SharedRates] = []
    private var nextBeats: [Moment] = []
    private var flights: [(at: Moment, from: Int, to: Int, uses: [RateUse])] = []
    private var demands: [Int] = []
    private var now = Moment(nanoseconds: 1_000_000_000)
    private let began = Moment(nanoseconds: 1_000_000_000)
    private let rate: Double
    private let burst: Double
    private(set) var counts: [Int]
    /// By how much the admitted requests exceeded the limit and its stated error; at most 0 if they never did.
    private(set) var worstExcess = -Double.infinity

    var admitted: Int { counts.reduce(0, +) }
    var description: String { "\(members.count) members, \(rate) a second, burst \(burst): \(worstExcess)" }

    init(seed: UInt64, members count: Int? = nil, rate: Double? = nil, burst: Double? = nil) {
        random = SplitMix64(seed: seed)
        let count = count ?? Int.random(in: 1...6, using: &random)
        self.rate = rate ?? Double.random(in: 0.5...200, using: &random)
        self.burst = burst ?? Double.random(in: 1...400, using: &random)
        counts = Array(repeating: 0, count: count)
        demands = Array(repeating: 0, count: count)
        for _ in 0..<count {
            var member = SharedRates()
            _ = member.report(members: count, isReachable: true, at: now)
            members.append(member)
            nextBeats.append(now + .milliseconds(Int.random(in: 1...500, using: &random)))
        }
    }

    /// The requests a second of a member, which change at random.
    mutating func changes(_ member: Int) -> Int {
        if Int.random(in: 0..<200, using: &random) == 0 {
            demands[member] = Bool.random(using: &random) ? 0 : Int.random(in: 0...1_000, using: &random)
        }
        return demands[member]
    }

    /// Lets time pass; `demand` returns the requests a second of a member in a step.
    mutating func run(_ time: Duration, _ demand: (inout RateSimulation, Int, Int) -> Int) {
        let end = now + time
        var step = 0
        while now < end {
            for index in members.indices {
                let expected = Double(demand(&self, index, step)) * (Self.step / .seconds(1))
                let fraction = expected - expected.rounded(.down)
                let extra = Double.random(in: 0..<1, using: &random) < fraction ? 1 : 0
                for _ in 0..<(Int(expected) + extra) { _ = request(index) }
                beat(index)
            }
            for flight in flights where flight.at <= now {
                members[flight.to].heard(flight.uses, from: UInt64(flight.from), at: now)
            }
            flights.removeAll { $0.at <= now }
            now = now + Self.step
            step += 1
        }
    }

    mutating func request(_ member: Int) -> Bool {
        let isAdmitted = members[member].take("a", rate: rate, burst: burst, at: now).isAdmitted
        if isAdmitted { counts[member] += 1 }
        let limit = burst + rate * ((now - began) / .seconds(1))
        let latency = Double(Self.latency.upperBound) / 1_000
        let error = burst + rate * (0.5 + latency) + Double(members.count)
        worstExcess = max(worstExcess, Double(admitted) - limit - error)
        return isAdmitted
    }

    private mutating func beat(_ member: Int) {
        guard nextBeats[member] <= now else { return }
        nextBeats[member] = now + ClusterTimings().heartbeat
        let uses = members[member].report(members: members.count, isReachable: true, at: now)
        for other in members.indices where other != member {
            let delay = Duration.milliseconds(Int.random(in: Self.latency, using: &random))
            flights.append((now + delay, member, other, uses))
        }
    }
}

internal import Primitives
internal import TestSupport
internal import Testing

@testable internal import MicroHTTPD

@Suite struct TimerWheelTests {
    private static func moment(_ milliseconds: Int64) -> Moment {
        Moment(nanoseconds: milliseconds * 1_000_000)
    }

    private static func wheel(at milliseconds: Int64 = 5000) -> TimerWheel {
        TimerWheel(granularity: .milliseconds(10), now: moment(milliseconds))
    }

    private static func due(_ wheel: inout TimerWheel, at milliseconds: Int64) -> [Int] {
        var due: [Int] = []
        wheel.advance(to: moment(milliseconds), due: &due)
        return due.sorted()
    }

    @Test func deadlinesComeNeverEarlyAndAtMostATickLate() {
        var wheel = Self.wheel()
        wheel.schedule(3, at: Self.moment(5021))
        wheel.schedule(4, at: Self.moment(5030))
        wheel.schedule(5, at: Self.moment(5031))
        #expect(wheel.nextTick == Self.moment(5030))
        #expect(Self.due(&wheel, at: 5029) == [])
        #expect(Self.due(&wheel, at: 5030) == [3, 4])
        #expect(Self.due(&wheel, at: 5040) == [5])
        #expect(wheel.nextTick == nil)
    }

    @Test func movedDeadlineCountsAsMoved() {
        var wheel = Self.wheel()
        wheel.schedule(0, at: Self.moment(5100))
        wheel.schedule(0, at: Self.moment(5200))
        wheel.schedule(1, at: Self.moment(5200))
        wheel.schedule(1, at: Self.moment(5050))
        #expect(Self.due(&wheel, at: 5100) == [1])
        #expect(Self.due(&wheel, at: 5199) == [])
        #expect(Self.due(&wheel, at: 5200) == [0])
    }

    @Test func cancelledDeadlineDoesNotCome() {
        var wheel = Self.wheel()
        wheel.schedule(0, at: Self.moment(5100))
        wheel.schedule(1, at: Self.moment(5100))
        wheel.schedule(2, at: Self.moment(5100))
        wheel.cancel(1)
        wheel.cancel(7)
        #expect(wheel.deadline(of: 1) == nil)
        #expect(Self.due(&wheel, at: 6000) == [0, 2])
    }

    @Test func deadlinesBeyondTheRingWait() {
        var wheel = Self.wheel()
        wheel.schedule(0, at: Self.moment(65_000))
        wheel.schedule(1, at: Moment(nanoseconds: .max))
        var milliseconds: Int64 = 5000
        while milliseconds < 64_990 {
            milliseconds += 370
            #expect(Self.due(&wheel, at: min(milliseconds, 64_990)) == [])
        }
        #expect(Self.due(&wheel, at: 65_000) == [0])
        #expect(wheel.deadline(of: 1) != nil)
    }

    @Test func longPauseMissesNothing() {
        var wheel = Self.wheel()
        for thing in 0..<100 { wheel.schedule(thing, at: Self.moment(5000 + Int64(thing) * 97)) }
        #expect(Self.due(&wheel, at: 1_000_000).count == 100)
    }

    @Test(arguments: [UInt64(1), 2, 3])
    func randomUseAgreesWithASortedList(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var wheel = Self.wheel()
        var expected: [Int: Int64] = [:]
        var now: Int64 = 5000
        for _ in 0..<5000 {
            let thing = Int.random(in: 0..<50, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                wheel.cancel(thing)
                expected[thing] = nil
            case 1:
                now += Int64.random(in: 0..<300, using: &random)
                let due = Self.due(&wheel, at: now)
                let latest = now / 10 * 10
                let must = expected.filter { $0.value <= latest && $0.value < now }.keys
                #expect(Set(must).subtracting(due).isEmpty, "seed \(seed)")
                #expect(due.allSatisfy { expected[$0].map { $0 <= now } ?? false }, "seed \(seed)")
                for thing in due { expected[thing] = nil }
            default:
                let deadline = now + Int64.random(in: 1..<20_000, using: &random)
                wheel.schedule(thing, at: Self.moment(deadline))
                expected[thing] = deadline
            }
        }
    }
}

internal import Primitives
internal import Testing

@testable internal import MicroHTTPD

@Suite struct CollectionPaceTests {
    private var now = Moment.zero + .seconds(1)
    private var pace = CollectionPace(flushInterval: .zero)

    /// Whether the loop collects events that arrive this long after the last call.
    private mutating func collects(after time: Duration) -> Bool {
        now = now + time
        return pace.collects(at: now)
    }

    @Test mutating func burstIsCollectedAtOnce() {
        for _ in 0..<3 {
            #expect(collects(after: .milliseconds(10)))
            for _ in 0..<64 { #expect(collects(after: .microseconds(10))) }
        }
    }

    @Test mutating func floodIsCollectedOnceAMillisecond() {
        #expect(collects(after: .milliseconds(1)))
        for _ in 0..<64 { #expect(collects(after: .microseconds(10))) }
        for _ in 0..<3 {
            let last = now
            #expect(!collects(after: .microseconds(10)))
            #expect(pace.next == last + .milliseconds(1))
            #expect(!collects(after: .microseconds(980)))
            #expect(collects(after: .microseconds(10)))
        }
    }

    @Test(arguments: [(Duration.microseconds(300), 7), (.milliseconds(10), 64)])
    mutating func aShortPauseInterruptsAFloodAndALongOneEndsIt(pause: Duration, collections: Int) {
        #expect(collects(after: .milliseconds(1)))
        for _ in 0..<64 { #expect(collects(after: .microseconds(10))) }
        #expect(!collects(after: .microseconds(10)))
        #expect(collects(after: .milliseconds(1)))
        #expect(collects(after: pause))
        for _ in 0..<collections { #expect(collects(after: .microseconds(10))) }
        #expect(!collects(after: .microseconds(10)))
    }

    @Test mutating func eventsWithPausesAreCollectedAtOnce() {
        for _ in 0..<1000 { #expect(collects(after: .microseconds(200))) }
    }

    /// Whether the loop collects, whose writes then take some time.
    private mutating func collects(after time: Duration, writing: Duration) -> Bool {
        guard collects(after: time) else { return false }
        pace.wrote(until: now + writing)
        return true
    }

    @Test(arguments: [
        (Duration.milliseconds(5), Duration.milliseconds(20)), (.milliseconds(25), .milliseconds(50)),
        (.microseconds(300), .microseconds(1200)),
    ])
    mutating func aLoopThatWritesAllTheTimeCollectsLessOften(writing: Duration, interval: Duration) {
        #expect(collects(after: .seconds(1), writing: writing))
        for _ in 0..<64 { #expect(collects(after: writing, writing: writing)) }
        for _ in 0..<3 {
            let last = now
            #expect(!collects(after: writing))
            #expect(pace.next == last + interval)
            #expect(collects(after: pace.next - now, writing: writing))
        }
    }

    @Test mutating func writesLongerThanTheGreatestIntervalFollowEachOther() {
        #expect(collects(after: .seconds(1), writing: .milliseconds(60)))
        for _ in 0..<200 { #expect(collects(after: .milliseconds(60), writing: .milliseconds(60))) }
    }

    @Test mutating func eventsThatLeaveTimeBetweenWritesAreCollectedAtOnce() {
        for _ in 0..<1000 { #expect(collects(after: .milliseconds(50), writing: .milliseconds(5))) }
        for _ in 0..<1000 { #expect(collects(after: .milliseconds(11), writing: .milliseconds(5))) }
    }

    @Test mutating func flushIntervalSeparatesCollections() {
        pace = CollectionPace(flushInterval: .milliseconds(5))
        #expect(collects(after: .milliseconds(1)))
        #expect(!collects(after: .milliseconds(4)))
        #expect(pace.next == now + .milliseconds(1))
        #expect(collects(after: .milliseconds(1)))
    }
}

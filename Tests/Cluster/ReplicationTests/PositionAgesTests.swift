import Primitives
import Testing

@testable import Replication

struct PositionAgesTests {
    private static func moment(_ seconds: Int64) -> Moment { Moment(nanoseconds: seconds * 1_000_000_000) }

    @Test
    func positionIsExpiredALifetimeAfterItWasApplied() {
        var ages = PositionAges(lifetime: .seconds(600))
        for second in 1...599 as ClosedRange<Int64> {
            ages.note(UInt64(second), at: Self.moment(second))
            #expect(ages.expired == 0)
        }
        ages.note(700, at: Self.moment(1000))
        #expect((394...400).contains(ages.expired))
        ages.reset()
        #expect(ages.expired == 0)
    }
}

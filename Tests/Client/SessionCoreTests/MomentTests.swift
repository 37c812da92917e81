internal import Testing

@testable internal import SessionCore

struct MomentTests {
    @Test func differenceUndoesAddition() {
        let start = Moment(nanoseconds: 5)
        let end = start + .milliseconds(1_500)
        #expect(end.nanoseconds == 1_500_000_005)
        #expect(end - start == .milliseconds(1_500))
        #expect(end - .milliseconds(1_500) == start)
        #expect(start - end == .milliseconds(-1_500))
        #expect(start < end)
    }

    @Test func arithmeticStopsAtTheEndsOfTime() {
        let last = Moment(nanoseconds: .max)
        let first = Moment(nanoseconds: .min)
        #expect(last + .seconds(1) == last)
        #expect(first + .seconds(-1) == first)
        #expect(first - .seconds(1) == first)
        #expect(last - .seconds(-1) == last)
        #expect(Moment.zero + .seconds(Int64.max) == last)
        #expect(Moment.zero - .seconds(Int64.max) == first + .nanoseconds(1))
        #expect(last - first == .nanoseconds(Int64.max))
        #expect(first - last == .nanoseconds(Int64.min))
    }
}

@Suite struct DurationOptionsTests {
    @Test func everyMillisecondThatAnOptionNamesIsKept() {
        for millis in 1...100_000 {
            let seconds = Double(millis) / 1000
            let duration = Duration(optionSeconds: seconds)
            if duration.wholeMilliseconds != millis || duration.optionSeconds != seconds {
                Issue.record("\(millis) ms became \(duration)")
                return
            }
        }
    }

    @Test(arguments: [0, -1, Double.nan, -Double.infinity])
    func invalidTimeIsZero(seconds: Double) {
        #expect(Duration(optionSeconds: seconds) == .zero)
    }

    @Test func tooLongTimesAreTenYears() {
        #expect(Duration(optionSeconds: .infinity) == .seconds(315_360_000))
        #expect(Duration.milliseconds(Int.max).optionSeconds == 315_360_000)
    }
}

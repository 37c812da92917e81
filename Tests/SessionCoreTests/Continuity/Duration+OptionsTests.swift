internal import Testing

@testable internal import SessionCore

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
    func whatIsNoTimeIsZero(seconds: Double) {
        #expect(Duration(optionSeconds: seconds) == .zero)
    }

    @Test func whatIsTooLongIsTenYears() {
        #expect(Duration(optionSeconds: .infinity) == .seconds(315_360_000))
        #expect(Duration.milliseconds(Int.max).optionSeconds == 315_360_000)
    }
}

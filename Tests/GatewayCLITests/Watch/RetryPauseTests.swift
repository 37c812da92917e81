import Testing

@testable import GatewayCLI

@Suite struct RetryPauseTests {
    @Test func pausesGrowToHalfAMinuteAndBeginAgain() {
        var pause = RetryPause()
        #expect((0..<7).map { _ in pause.take(jitter: 1) } == [1, 2, 4, 8, 16, 30, 30].map { .seconds($0) })
        pause.reset()
        #expect(pause.take(jitter: 0) == .milliseconds(500))
        #expect(pause.take(jitter: 0) == .seconds(1))
    }

    @Test(arguments: [
        (408, true), (425, true), (429, true), (500, true), (503, true), (400, false), (401, false), (404, false),
    ])
    func refusalsThatMayPassAreRepeated(status: Int, isTemporary: Bool) {
        #expect(GatewayWatch.isTemporary(status) == isTemporary)
    }
}

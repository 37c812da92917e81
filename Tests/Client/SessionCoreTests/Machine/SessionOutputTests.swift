internal import TLCP
internal import Testing

@testable internal import SessionCore

@Suite struct SessionOutputTests {
    private var out = SessionOutput()

    private mutating func take() -> [SessionAction] {
        defer { out.actions = [] }
        return out.actions
    }

    @Test mutating func timersAreReplacedAndRecognised() {
        let first = SessionTimer(purpose: .idle, generation: 1)
        let second = SessionTimer(purpose: .idle, generation: 2)
        out.startTimer(.idle, after: .seconds(1))
        var actions = take()
        #expect(actions == [.scheduleTimer(first, after: .seconds(1))])
        out.startTimer(.idle, after: .seconds(2))
        actions = take()
        #expect(actions == [.cancelTimer(first), .scheduleTimer(second, after: .seconds(2))])
        let isFirstWanted = out.fired(first)
        #expect(!isFirstWanted)
        let isRunning = out.isRunning(.idle)
        #expect(isRunning)
        let isSecondWanted = out.fired(second)
        #expect(isSecondWanted)
        let isSecondWantedAgain = out.fired(second)
        #expect(!isSecondWantedAgain)
        out.stopTimer(.idle)
        actions = take()
        #expect(actions == [])
    }

    @Test mutating func connectionsAreClosedOnceAndNotAfterTheirEnd() {
        let request = TransportRequest(kind: .webSocket, address: "http://server")
        let first = out.open(request)
        let second = out.open(request)
        var actions = take()
        #expect(first != second)
        #expect(actions == [.openTransport(first, request), .openTransport(second, request)])
        out.close(first)
        out.close(first)
        out.release(first)
        out.ended(second)
        out.close(second)
        out.close(nil)
        actions = take()
        #expect(actions == [.closeTransport(first)])
    }

    @Test mutating func onlyChangesAreNotified() {
        out.setStatus(.disconnected)
        out.setStatus(.connecting)
        out.setProperty(.clientIp(nil))
        out.setProperty(.clientIp("10.0.0.1"))
        out.setProperty(.clientIp("10.0.0.1"))
        out.setProperty(.clientIp("10.0.0.1"), isAnswer: true)
        let actions = take()
        let address = SessionAction.notify(.propertyChanged(.clientIp("10.0.0.1")))
        #expect(actions == [.notify(.statusChanged(.connecting)), address, address])
    }
}

internal import TLCP
internal import Testing

@testable internal import SessionCore

@Suite struct SessionControlsTests {
    private var controls = SessionControls()
    private var ids = RequestIDGenerator()

    /// Sends the pending requests of a position over HTTP; returns their text, nil: there are none.
    private mutating func send(_ position: RequestLedger.Position) -> String? {
        var builder = BatchBuilder(.http, limit: 0, batchLimit: .max, refusesOversized: false)
        _ = controls.takePending(position, isAlone: false, ids: &ids, into: &builder)
        return builder.batch.map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    @Test mutating func switchThatIsNoLongerWantedIsDroppedUntilItIsSent() {
        controls.considerSwitch(isWanted: true, cause: "slow")
        #expect(controls.switchCause == "slow")
        controls.considerSwitch(isWanted: false, cause: nil)
        #expect(controls.switchCause == nil)
        #expect(!controls.ledger.hasPending)
        controls.considerSwitch(isWanted: true, cause: "slow")
        _ = send(.beforeSubscriptions)
        controls.considerSwitch(isWanted: false, cause: nil)
        #expect(controls.switchCause == "slow")
        let events = controls.requestAnswered(RequestID(1), .refused(code: 1, message: ""))
        #expect(events == [])
        #expect(controls.switchCause == nil)
    }

    @Test mutating func limitSetDuringANegotiationIsRequestedAfterTheReply() {
        controls.sessionRequested(.unlimited)
        controls.bandwidthOption(is: .limited(3))
        controls.negotiateBandwidth()
        _ = send(.beforeSubscriptions)
        controls.bandwidthOption(is: .limited(4))
        controls.negotiateBandwidth()
        #expect(!controls.ledger.hasPending)
        let isAnswer = controls.confirmed(.limited(3))
        #expect(isAnswer)
        let events = controls.requestAnswered(RequestID(1), .accepted)
        #expect(events == [])
        #expect(controls.ledger.hasPending)
    }

    @Test mutating func badgeResetWaitsForTheDevice() {
        let event = controls.badgeResetRequested()
        #expect(event == .badgeReset(deviceId: nil, code: 45, message: "No device is registered"))
        let device = MPNRegisterRequest(platform: "P", appID: "A", deviceToken: "T")
        controls.tokenChanged(device, hasSession: true)
        let next = controls.badgeResetRequested()
        #expect(next == nil)
        let early = send(.beforeSubscriptions)
        #expect(early == nil)
        let registration = send(.afterSubscriptions)
        #expect(registration != nil)
        _ = controls.requestAnswered(RequestID(1), .accepted)
        #expect(!controls.ledger.hasPending)
        let registered = controls.received(.mpnReg(deviceID: "D", adapter: "M"))
        #expect(registered == [.deviceRegistered(DeviceTokenInfo(deviceID: "D", adapterName: "M"))])
        #expect(controls.ledger.hasPending)
        controls.sessionEnded()
        #expect(!controls.ledger.hasPending)
        controls.sessionCreated()
        #expect(controls.ledger.hasPending)
    }
}

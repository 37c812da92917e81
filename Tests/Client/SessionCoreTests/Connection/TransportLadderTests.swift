internal import Testing

@testable internal import SessionCore

@Suite struct TransportLadderTests {
    private static let choices: [ForcedTransport?] = [nil] + ForcedTransport.allCases

    @Test(arguments: choices)
    func suspensionConcernsCreationOnly(forced: ForcedTransport?) {
        var ladder = TransportLadder()
        let before = ladder.bestTransport(forced: forced)
        ladder.suspendWebSocket()
        #expect(!ladder.createsOnWebSocket(forced: forced, isEarlyOpenEnabled: true))
        #expect(ladder.bestTransport(forced: forced) == before)
    }

    @Test func bindsGoDownTheLadder() {
        var ladder = TransportLadder()
        #expect(ladder.bestTransport(forced: nil) == .webSocketStreaming)
        ladder.disableWebSocket()
        #expect(ladder.bestTransport(forced: nil) == .httpStreaming)
        ladder.disableHTTPStreaming()
        #expect(ladder.bestTransport(forced: nil) == .httpPolling)
    }

    @Test func slownessLeadsToPollingOnTheSameKindOfConnection() {
        var ladder = TransportLadder()
        let first = ladder.disableStreaming(forced: nil)
        #expect(first)
        #expect(ladder.bestTransport(forced: nil) == .webSocketPolling)
        var http = TransportLadder()
        let second = http.disableStreaming(forced: .http)
        #expect(second)
        #expect(http.bestTransport(forced: .http) == .httpPolling)
        var streamingOnly = TransportLadder()
        let third = streamingOnly.disableStreaming(forced: .wsStreaming)
        #expect(!third)
        #expect(streamingOnly.bestTransport(forced: .wsStreaming) == .webSocketStreaming)
    }

    @Test(arguments: [
        (ForcedTransport.ws, nil), (.wsStreaming, nil), (.wsPolling, nil), (.http, SessionTransport.httpPolling),
        (.httpStreaming, nil), (.httpPolling, .httpPolling),
    ])
    func forcedTransportMayLeaveNothing(forced: ForcedTransport, transport: SessionTransport?) {
        var ladder = TransportLadder()
        ladder.disableWebSocket()
        ladder.disableHTTPStreaming()
        #expect(ladder.bestTransport(forced: forced) == transport)
    }

    @Test func transportIsLeftAfterTheSecondConnectionThatIsCut() {
        var ladder = TransportLadder()
        ladder.connectionCut(over: .webSocketStreaming, forced: nil)
        #expect(ladder.bestTransport(forced: nil) == .webSocketStreaming)
        ladder.connectionCut(over: .webSocketStreaming, forced: nil)
        #expect(ladder.bestTransport(forced: nil) == .httpStreaming)
        #expect(!ladder.createsOnWebSocket(forced: nil, isEarlyOpenEnabled: true))
        ladder.sessionEnded(wasStable: false)
        #expect(ladder.bestTransport(forced: nil) == .httpStreaming)
        ladder.sessionEnded(wasStable: true)
        #expect(ladder.bestTransport(forced: nil) == .webSocketStreaming)
    }

    @Test func stableConnectionEndsTheDoubt() {
        var ladder = TransportLadder()
        for _ in 1...3 {
            ladder.connectionCut(over: .httpStreaming, forced: .http)
            ladder.connectionProved(over: .httpStreaming)
        }
        #expect(ladder.bestTransport(forced: .http) == .httpStreaming)
    }

    @Test func onlyTransportThatIsAdmittedIsKept() {
        var ladder = TransportLadder()
        for _ in 1...3 { ladder.connectionCut(over: .webSocketStreaming, forced: .wsStreaming) }
        #expect(ladder.bestTransport(forced: .wsStreaming) == .webSocketStreaming)
    }

    @Test func onlyTransportIsKeptAfterAStreamThatIsCutAndOneThatIsSilent() {
        for forced in [ForcedTransport.wsStreaming, nil] {
            var ladder = TransportLadder()
            ladder.connectionCut(over: .webSocketStreaming, forced: forced)
            ladder.streamLost(over: .webSocketStreaming, forced: forced)
            #expect(ladder.bestTransport(forced: forced) == (forced == nil ? .httpStreaming : .webSocketStreaming))
            ladder.streamLost(over: .webSocketStreaming, forced: forced)
            #expect(ladder.bestTransport(forced: forced) == (forced == nil ? .httpStreaming : nil))
        }
    }

    @Test func anotherAddressAdmitsEverything() {
        var ladder = TransportLadder()
        ladder.clientAddressSeen("10.0.0.1")
        ladder.suspendWebSocket()
        ladder.disableWebSocket()
        ladder.clientAddressSeen("10.0.0.1")
        #expect(ladder.bestTransport(forced: nil) == .httpStreaming)
        ladder.clientAddressSeen("10.0.0.2")
        #expect(ladder.bestTransport(forced: nil) == .webSocketStreaming)
        #expect(ladder.createsOnWebSocket(forced: nil, isEarlyOpenEnabled: true))
    }

    @Test func disabledWebSocketIsNotUsedForCreationEither() {
        var ladder = TransportLadder()
        #expect(ladder.createsOnWebSocket(forced: .ws, isEarlyOpenEnabled: true))
        #expect(!ladder.createsOnWebSocket(forced: .ws, isEarlyOpenEnabled: false))
        #expect(!ladder.createsOnWebSocket(forced: .wsPolling, isEarlyOpenEnabled: true))
        ladder.disableWebSocket()
        #expect(!ladder.createsOnWebSocket(forced: .ws, isEarlyOpenEnabled: true))
        ladder.reset()
        #expect(ladder.createsOnWebSocket(forced: .ws, isEarlyOpenEnabled: true))
    }
}

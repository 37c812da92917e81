internal import DemoServer
internal import SessionCore
internal import Testing

@testable internal import LightstreamerClient

/// Sessions that one client opens and another one continues.
@Suite struct SessionHandoverTests {
    @Test func sessionIsContinuedByAnotherClientWithoutLoss() async throws {
        try await MemberFixture.runConnected(client: { $0.handover = SessionHandover { true } }) { fixture in
            let quote = try await fixture.quote()
            await fixture.publish("item1", "a", "1", to: "QUOTES")
            await fixture.log.until("update")
            let session = try #require(fixture.client.offeredSession)
            let number = try #require(quote.number)
            let table = try #require(quote.valueTable)
            fixture.client.abandon()
            await fixture.log.until("status DISCONNECTED")
            await fixture.publish("item1", "b", nil, to: "QUOTES")

            let heir = try LightstreamerClient(serverAddress: fixture.address, adapterSet: "DEMO")
            let log = MemberLog()
            let subscription = try Subscription(mode: .merge, item: "item1", fields: ["name", "price"])
            try subscription.setDataAdapter("QUOTES")
            subscription.addDelegate(log)
            heir.adopt(session, [(subscription, number: number, table: table)])
            let words = await log.until("update")
            #expect(!words.contains { $0.hasPrefix("unsubscribed") })
            #expect(try subscription.valueWithItemPos(1, fieldPos: 1) == "b")
            #expect(heir.connectionDetails.sessionId == session.id)
            #expect(heir.counters.reconnects == 0)
            await heir.shutdown()
        }
    }

    @Test func clientThatMayHaveLostAnOfferedSessionAbandonsIt() async throws {
        try await MemberFixture.runConnected(client: { $0.handover = SessionHandover { false } }) { fixture in
            fixture.client.isSessionOffered = true
            await fixture.server.install([Fault(.drop)])
            await fixture.log.until("status DISCONNECTED:TRYING-RECOVERY")
            await fixture.log.until("status DISCONNECTED")
            #expect(fixture.client.status == .disconnected)
            #expect(fixture.client.offeredSession == nil)
        }
    }

    @Test func sessionThatWasNotOfferedIsRecoveredByItsClient() async throws {
        try await MemberFixture.run(client: { $0.handover = SessionHandover { false } }) { fixture in
            try fixture.client.connectionOptions.setRetryDelay(0.1)
            try await fixture.connect()
            await fixture.server.install([Fault(.drop)])
            await fixture.log.until("status DISCONNECTED:TRYING-RECOVERY")
            await fixture.log.until("status CONNECTED:WS-STREAMING")
        }
    }
}

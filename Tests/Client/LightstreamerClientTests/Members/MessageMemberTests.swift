internal import DemoServer
internal import LightstreamerClient
internal import Testing

@Suite(.timeLimit(.minutes(1))) struct MessageMemberTests {
    @Test(arguments: [ForcedTransport.ws, .http, .wsPolling, .httpPolling])
    func everyOutcomeIsReportedOnEveryTransport(transport: ForcedTransport) async throws {
        try await MemberFixture.run { fixture in
            let client = fixture.client
            try client.connectionOptions.setForcedTransport(transport)
            try client.sendMessage(
                "ECHO|hello",
                withSequence: "s",
                delegate: fixture.log,
                enqueueWhileDisconnected: true
            )
            try client.connect()
            await fixture.log.until("processed ECHO|hello: hello")
            try client.sendMessage("FAIL|-5|no", withSequence: "s", timeout: 1, delegate: fixture.log)
            await fixture.log.until("denied FAIL|-5|no: -5 no")
            try client.sendMessage("FAIL|35|no", delegate: fixture.log)
            await fixture.log.until("broken FAIL|35|no")
        }
    }

    @Test func messageWithoutASessionIsAborted() async throws {
        try await MemberFixture.run { fixture in
            try fixture.client.sendMessage("hello", delegate: fixture.log)
            await fixture.log.until("aborted hello unsent")
        }
    }

    @Test func messageThatWaitsForASessionIsAbortedAtShutdown() async throws {
        try await MemberFixture.run { fixture in
            let client = fixture.client
            try client.sendMessage("hello", delegate: fixture.log, enqueueWhileDisconnected: true)
            await client.shutdown()
            await fixture.log.until("aborted hello unsent")
        }
    }

    @Test func endOfTheSessionAbortsWhatWasSent() async throws {
        try await MemberFixture.runConnected { fixture in
            try fixture.client.sendMessage("DELAY|60000|late", withSequence: "s", delegate: fixture.log)
            try fixture.client.sendMessage("ECHO|first", delegate: fixture.log)
            await fixture.log.until("processed ECHO|first")
            fixture.client.disconnect()
            await fixture.log.until("aborted DELAY|60000|late sent")
        }
    }

    @Test func messageOvertakenIsDiscarded() async throws {
        try await MemberFixture.runConnected { fixture in
            await fixture.server.install([Fault(.refuse(code: 38, message: "late"), at: .request(.message))])
            try fixture.client.sendMessage("hello", withSequence: "s", delegate: fixture.log)
            await fixture.log.until("broken hello")
            try fixture.client.sendMessage("FAIL|38|late", withSequence: "t", delegate: fixture.log)
            await fixture.log.until("discarded FAIL|38|late")
        }
    }

    @Test(arguments: ["with space", "ä", "a-b"])
    func badSequenceNamesAreRefusedInEveryState(name: String) throws {
        let error = #expect(throws: ClientError.self) {
            try LightstreamerClient().sendMessage("hello", withSequence: name)
        }
        #expect(error?.code == .invalidValue)
    }
}

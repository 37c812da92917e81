internal import DemoServer
internal import LightstreamerClient
internal import Testing

@Suite(.timeLimit(.minutes(1))) struct MessageMemberTests {
    @Test(arguments: [ForcedTransport.ws, .http, .wsPolling, .httpPolling])
    func everyOutcomeIsToldOnEveryTransport(transport: ForcedTransport) async throws {
        try await MemberBench.run { bench in
            let client = bench.client
            try client.connectionOptions.setForcedTransport(transport)
            try client.sendMessage(
                "ECHO|hello",
                withSequence: "s",
                delegate: bench.log,
                enqueueWhileDisconnected: true
            )
            try client.connect()
            await bench.log.until("processed ECHO|hello: hello")
            try client.sendMessage("FAIL|-5|no", withSequence: "s", timeout: 1, delegate: bench.log)
            await bench.log.until("denied FAIL|-5|no: -5 no")
            try client.sendMessage("FAIL|35|no", delegate: bench.log)
            await bench.log.until("broken FAIL|35|no")
        }
    }

    @Test func messageWithoutASessionIsAborted() async throws {
        try await MemberBench.run { bench in
            try bench.client.sendMessage("hello", delegate: bench.log)
            await bench.log.until("aborted hello unsent")
        }
    }

    @Test func endOfTheSessionAbortsWhatWasSent() async throws {
        try await MemberBench.run { bench in
            try await bench.connect()
            try bench.client.sendMessage("DELAY|60000|late", withSequence: "s", delegate: bench.log)
            try bench.client.sendMessage("ECHO|first", delegate: bench.log)
            await bench.log.until("processed ECHO|first")
            bench.client.disconnect()
            await bench.log.until("aborted DELAY|60000|late sent")
        }
    }

    @Test func messageOvertakenIsDiscarded() async throws {
        try await MemberBench.run { bench in
            try await bench.connect()
            await bench.server.install([Fault(.refuse(code: 38, message: "late"), at: .request(.message))])
            try bench.client.sendMessage("hello", withSequence: "s", delegate: bench.log)
            await bench.log.until("broken hello")
            try bench.client.sendMessage("FAIL|38|late", withSequence: "t", delegate: bench.log)
            await bench.log.until("discarded FAIL|38|late")
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

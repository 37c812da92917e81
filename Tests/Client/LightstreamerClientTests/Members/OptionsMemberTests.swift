internal import DemoServer
internal import LightstreamerClient
internal import Synchronization
internal import Testing

/// The effects of options on a session over sockets.
@Suite(.timeLimit(.minutes(1))) struct OptionsMemberTests {
    @Test func changesAreReportedByName() async throws {
        try await MemberFixture.run { fixture in
            let options = fixture.client.connectionOptions
            try options.setConnectTimeout(.seconds(9))
            try options.setCurrentConnectTimeout(8)
            try options.setContentLength(70_000)
            try options.setFirstRetryMaxDelay(0.2)
            try options.setForcedTransport(.ws)
            try options.setHTTPExtraHeaders(["X-A": "1"])
            try options.setHTTPExtraHeadersOnSessionCreationOnly(true)
            try options.setIdleTimeout(7)
            try options.setKeepaliveInterval(6)
            try options.setPollingInterval(5)
            try options.setRequestedMaxBandwidth(.limited(4))
            try options.setReconnectTimeout(2)
            try options.setRetryDelay(1)
            try options.setReverseHeartbeatInterval(11)
            try options.setSessionRecoveryTimeout(12)
            try options.setStalledTimeout(13)
            try options.setEarlyWSOpenEnabled(false)
            try options.setServerInstanceAddressIgnored(true)
            try options.setSlowingEnabled(false)
            try options.setSlowingEnabled(false)
            let passed = await fixture.log.until("property slowingEnabled")
            #expect(
                passed.dropFirst() == [
                    "property connectTimeout", "property currentConnectTimeout", "property contentLength",
                    "property firstRetryMaxDelay", "property forcedTransport", "property HTTPExtraHeaders",
                    "property HTTPExtraHeadersOnSessionCreationOnly", "property idleTimeout",
                    "property keepaliveInterval", "property pollingInterval", "property requestedMaxBandwidth",
                    "property reconnectTimeout", "property retryDelay", "property reverseHeartbeatInterval",
                    "property sessionRecoveryTimeout", "property stalledTimeout", "property earlyWSOpenEnabled",
                    "property serverInstanceAddressIgnored", "property slowingEnabled",
                ]
            )
        }
    }

    @Test(arguments: [
        (ForcedTransport.wsStreaming, ClientStatus.connectedWSStreaming), (.wsPolling, .connectedWSPolling),
        (.httpStreaming, .connectedHTTPStreaming), (.httpPolling, .connectedHTTPPolling), (.ws, .connectedWSStreaming),
        (.http, .connectedHTTPStreaming),
    ])
    func forcedTransportIsKeptTo(forced: ForcedTransport, status: ClientStatus) async throws {
        try await MemberFixture.run { fixture in
            try fixture.client.connectionOptions.setForcedTransport(forced)
            try await fixture.connect(until: status)
        }
    }

    @Test func forcedTransportSwitchesALiveSession() async throws {
        try await MemberFixture.runConnected { fixture in
            let session = fixture.client.connectionDetails.sessionId
            try fixture.client.connectionOptions.setForcedTransport(.httpStreaming)
            await fixture.log.until("status CONNECTED:HTTP-STREAMING")
            #expect(fixture.client.connectionDetails.sessionId == session)
        }
    }

    @Test func grantedIntervalsAreReportedAndRead() async throws {
        try await MemberFixture.run { fixture in
            let options = fixture.client.connectionOptions
            try options.setKeepaliveInterval(0.01)
            try await fixture.connect()
            #expect(options.keepaliveInterval == 0.05 && options.requested.keepaliveInterval == 0.01)
            try options.setIdleTimeout(60)
            try options.setForcedTransport(.httpPolling)
            await fixture.log.until("status CONNECTED:HTTP-POLLING")
            #expect(options.idleTimeout == 30 && options.requested.idleTimeout == 60)
            await fixture.server.install([Fault(.loop(delayMilliseconds: 20))])
            await fixture.log.until("property pollingInterval")
        }
    }

    @Test func bandwidthIsRequestedAndTheLimitInForceIsReported() async throws {
        try await MemberFixture.run { fixture in
            let options = fixture.client.connectionOptions
            try options.setRequestedMaxBandwidth(.limited(40))
            try fixture.client.connect()
            await fixture.log.until("property realMaxBandwidth")
            #expect(options.realMaxBandwidth == .limited(40))
            try options.setRequestedMaxBandwidth(.unlimited)
            await fixture.log.until("property realMaxBandwidth")
            #expect(options.realMaxBandwidth == .unlimited)
        }
    }

    @Test func contentLengthEndsAStreamAndTheSessionContinues() async throws {
        try await MemberFixture.run {
            $0.limits.minContentLength = 1
            $0.limits.padding = 0
        } _: { fixture in
            let listener = LegacyMemberLog()
            fixture.client.addLegacyListener(listener)
            try fixture.client.connectionOptions.setForcedTransport(.httpStreaming)
            try fixture.client.connectionOptions.setContentLength(2_000)
            try await fixture.connect(until: .connectedHTTPStreaming)
            let subscription = try Subscription(mode: .raw, item: "events", fields: ["text"])
            try await fixture.subscribe(subscription, to: "EVENTS")
            await listener.log.until("established")
            await listener.log.until("established")
            await fixture.publish("events", String(repeating: "x", count: 3_000), to: "EVENTS")
            await listener.log.until("established")
            await fixture.publish("events", "after", to: "EVENTS")
            await fixture.log.until("update 1 after")
            #expect(!fixture.log.entries.contains { $0.hasPrefix("status DISCONNECTED") })
        }
    }

    @Test(arguments: [false, true])
    func extraHeadersGoWhereTheyAreWanted(creationOnly: Bool) async throws {
        let seen = Mutex<[Bool]>([])
        try await MemberFixture.run(client: {
            $0.requestDecorator = { request in
                let has = request.headers.contains { $0.name == "X-Extra" && $0.value == "yes" }
                seen.withLock { $0.append(has) }
            }
        }) { fixture in
            let options = fixture.client.connectionOptions
            try options.setHTTPExtraHeaders(["X-Extra": "yes"])
            try options.setHTTPExtraHeadersOnSessionCreationOnly(creationOnly)
            try options.setForcedTransport(.httpStreaming)
            try await fixture.connect(until: .connectedHTTPStreaming)
            #expect(seen.withLock { $0 } == [true, !creationOnly])
        }
    }

    @Test func controlLinkIsIgnoredOnDemand() async throws {
        try await MemberFixture.run {
            $0.controlLink = "localhost"
        } _: { fixture in
            try fixture.client.connectionOptions.setServerInstanceAddressIgnored(true)
            try await fixture.connect()
            #expect(fixture.client.connectionDetails.serverInstanceAddress == nil)
        }
    }

    @Test func withoutEarlyOpenTheSessionBeginsOverHTTP() async throws {
        try await MemberFixture.run { fixture in
            try fixture.client.connectionOptions.setEarlyWSOpenEnabled(false)
            try await fixture.connect()
            #expect(fixture.log.entries.contains("status CONNECTED:STREAM-SENSING"))
        }
    }

    @Test func silenceStallsThenTheSessionIsRecovered() async throws {
        try await MemberFixture.run { fixture in
            let options = fixture.client.connectionOptions
            try options.setKeepaliveInterval(0.05)
            try options.setStalledTimeout(0.05)
            try options.setReconnectTimeout(0.05)
            try options.setFirstRetryMaxDelay(0.01)
            try await fixture.connect()
            let session = fixture.client.connectionDetails.sessionId
            await fixture.server.install([Fault(.halfOpen)])
            await fixture.log.until("status STALLED")
            await fixture.log.until("status DISCONNECTED:TRYING-RECOVERY")
            await fixture.log.until("status CONNECTED:WS-STREAMING")
            #expect(fixture.client.connectionDetails.sessionId == session)
        }
    }

    @Test func withoutRecoveryAnInterruptedSessionIsReplaced() async throws {
        try await MemberFixture.run { fixture in
            try fixture.client.connectionOptions.setSessionRecoveryTimeout(0)
            try await fixture.connect()
            let session = fixture.client.connectionDetails.sessionId
            await fixture.server.install([Fault(.drop)])
            await fixture.log.until("status DISCONNECTED:WILL-RETRY")
            await fixture.log.until("status CONNECTED:WS-STREAMING")
            #expect(fixture.client.connectionDetails.sessionId != session)
        }
    }

    @Test func unansweredRequestsAreGivenUpAndTriedAgainAfterTheRetryDelay() async throws {
        try await MemberFixture.run { fixture in
            let options = fixture.client.connectionOptions
            try options.setForcedTransport(.httpStreaming)
            try options.setConnectTimeout(.seconds(0.05))
            try options.setRetryDelay(0.06)
            await fixture.server.install([Fault(.ignore, at: .request(.create))])
            let clock = ContinuousClock()
            let start = clock.now
            try await fixture.connect(until: .connectedHTTPStreaming)
            #expect(fixture.log.entries.contains("status DISCONNECTED:WILL-RETRY"))
            #expect(start.duration(to: clock.now) >= .milliseconds(60))
        }
    }

    @Test func reverseHeartbeatsAreSentWhileNothingElseIs() async throws {
        let (heartbeats, continuation) = AsyncStream<Void>.makeStream()
        try await MemberFixture.run(client: {
            $0.requestDecorator = { if $0.target.contains("heartbeat") { continuation.yield() } }
        }) { fixture in
            try fixture.client.connectionOptions.setForcedTransport(.httpStreaming)
            try fixture.client.connectionOptions.setReverseHeartbeatInterval(0.05)
            try await fixture.connect(until: .connectedHTTPStreaming)
            var count = 0
            for await _ in heartbeats {
                count += 1
                if count == 2 { break }
            }
        }
    }

    @Test func sessionsBeyondTheLimitAreRefusedOrPoll() async {
        // In a process of its own, because limit and policy apply to all clients.
        await #expect(processExitsWith: .success) {
            ConnectionOptions.maxConcurrentSessionsPerServer = 1
            try await MemberFixture.run { fixture in
                try fixture.client.connectionOptions.setForcedTransport(.httpStreaming)
                try await fixture.connect(until: .connectedHTTPStreaming)
                let second = try LightstreamerClient(serverAddress: fixture.address, adapterSet: "DEMO")
                ConnectionOptions.maxConcurrentSessionsPerServerExceededPolicy = .block
                let error = #expect(throws: ClientError.self) { try second.connect() }
                #expect(error?.code == .tooManySessions)
                // A client that is connected already is not affected.
                try fixture.client.connect()
                ConnectionOptions.maxConcurrentSessionsPerServerExceededPolicy = .usePolling
                try fixture.client.connect()
                #expect(fixture.client.connectionOptions.forcedTransport == .httpStreaming)
                let log = MemberLog()
                second.addDelegate(log)
                try second.connect()
                await log.until("status CONNECTED:HTTP-POLLING")
                #expect(second.connectionOptions.pollingInterval >= 1)
                await second.shutdown()
            }
        }
    }
}

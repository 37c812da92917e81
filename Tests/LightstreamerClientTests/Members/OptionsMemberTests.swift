internal import DemoServer
internal import LightstreamerClient
internal import Synchronization
internal import Testing

/// What the options do to a session over sockets.
@Suite(.timeLimit(.minutes(1))) struct OptionsMemberTests {
    @Test func changesAreToldUnderTodaysNames() async throws {
        try await MemberBench.run { bench in
            let options = bench.client.connectionOptions
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
            let passed = await bench.log.until("property slowingEnabled")
            #expect(
                passed.dropFirst() == [
                    "property connectTimeout", "property currentConnectTimeout", "property contentLength",
                    "property firstRetryMaxDelay", "property forcedTransport", "property httpExtraHeaders",
                    "property httpExtraHeadersOnSessionCreationOnly", "property idleTimeout",
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
        try await MemberBench.run { bench in
            try bench.client.connectionOptions.setForcedTransport(forced)
            try await bench.connect(until: status)
        }
    }

    @Test func forcedTransportSwitchesALiveSession() async throws {
        try await MemberBench.run { bench in
            try await bench.connect()
            let session = bench.client.connectionDetails.sessionId
            try bench.client.connectionOptions.setForcedTransport(.httpStreaming)
            await bench.log.until("status CONNECTED:HTTP-STREAMING")
            #expect(bench.client.connectionDetails.sessionId == session)
        }
    }

    @Test func grantedIntervalsAreToldAndRead() async throws {
        try await MemberBench.run { bench in
            let options = bench.client.connectionOptions
            try options.setKeepaliveInterval(0.01)
            try await bench.connect()
            #expect(options.keepaliveInterval == 0.05 && options.requested.keepaliveInterval == 0.01)
            try options.setIdleTimeout(60)
            try options.setForcedTransport(.httpPolling)
            await bench.log.until("status CONNECTED:HTTP-POLLING")
            #expect(options.idleTimeout == 30 && options.requested.idleTimeout == 60)
            await bench.server.install([Fault(.loop(delayMilliseconds: 20))])
            await bench.log.until("property pollingInterval")
        }
    }

    @Test func bandwidthIsAskedForAndTheLimitInForceIsTold() async throws {
        try await MemberBench.run { bench in
            let options = bench.client.connectionOptions
            try options.setRequestedMaxBandwidth(.limited(40))
            try bench.client.connect()
            await bench.log.until("property realMaxBandwidth")
            #expect(options.realMaxBandwidth == .limited(40))
            try options.setRequestedMaxBandwidth(.unlimited)
            await bench.log.until("property realMaxBandwidth")
            #expect(options.realMaxBandwidth == .unlimited)
        }
    }

    @Test func contentLengthEndsAStreamAndTheSessionGoesOn() async throws {
        try await MemberBench.run {
            $0.limits.minContentLength = 1
            $0.limits.padding = 0
        } _: { bench in
            let listener = LegacyMemberLog()
            bench.client.addLegacyListener(listener)
            try bench.client.connectionOptions.setForcedTransport(.httpStreaming)
            try bench.client.connectionOptions.setContentLength(2_000)
            try await bench.connect(until: .connectedHTTPStreaming)
            let subscription = try Subscription(mode: .raw, item: "events", fields: ["text"])
            try await bench.subscribe(subscription, to: "EVENTS")
            await listener.log.until("established")
            await listener.log.until("established")
            await bench.publish("events", String(repeating: "x", count: 3_000), to: "EVENTS")
            await listener.log.until("established")
            await bench.publish("events", "after", to: "EVENTS")
            await bench.log.until("update 1 after")
            #expect(!bench.log.entries.contains { $0.hasPrefix("status DISCONNECTED") })
        }
    }

    @Test(arguments: [false, true])
    func extraHeadersGoWhereTheyAreWanted(creationOnly: Bool) async throws {
        let seen = Mutex<[Bool]>([])
        try await MemberBench.run(client: {
            $0.requestDecorator = { request in
                let has = request.headers.contains { $0.name == "X-Extra" && $0.value == "yes" }
                seen.withLock { $0.append(has) }
            }
        }) { bench in
            let options = bench.client.connectionOptions
            try options.setHTTPExtraHeaders(["X-Extra": "yes"])
            try options.setHTTPExtraHeadersOnSessionCreationOnly(creationOnly)
            try options.setForcedTransport(.httpStreaming)
            try await bench.connect(until: .connectedHTTPStreaming)
            #expect(seen.withLock { $0 } == [true, !creationOnly])
        }
    }

    @Test func controlLinkIsIgnoredOnDemand() async throws {
        try await MemberBench.run {
            $0.controlLink = "localhost"
        } _: { bench in
            try bench.client.connectionOptions.setServerInstanceAddressIgnored(true)
            try await bench.connect()
            #expect(bench.client.connectionDetails.serverInstanceAddress == nil)
        }
    }

    @Test func withoutEarlyOpenTheSessionBeginsOverHTTP() async throws {
        try await MemberBench.run { bench in
            try bench.client.connectionOptions.setEarlyWSOpenEnabled(false)
            try await bench.connect()
            #expect(bench.log.entries.contains("status CONNECTED:STREAM-SENSING"))
        }
    }

    @Test func silenceStallsThenTheSessionIsRecovered() async throws {
        try await MemberBench.run { bench in
            let options = bench.client.connectionOptions
            try options.setKeepaliveInterval(0.05)
            try options.setStalledTimeout(0.05)
            try options.setReconnectTimeout(0.05)
            try options.setFirstRetryMaxDelay(0.01)
            try await bench.connect()
            let session = bench.client.connectionDetails.sessionId
            await bench.server.install([Fault(.halfOpen)])
            await bench.log.until("status STALLED")
            await bench.log.until("status DISCONNECTED:TRYING-RECOVERY")
            await bench.log.until("status CONNECTED:WS-STREAMING")
            #expect(bench.client.connectionDetails.sessionId == session)
        }
    }

    @Test func withoutRecoveryAnInterruptedSessionIsReplaced() async throws {
        try await MemberBench.run { bench in
            try bench.client.connectionOptions.setSessionRecoveryTimeout(0)
            try await bench.connect()
            let session = bench.client.connectionDetails.sessionId
            await bench.server.install([Fault(.drop)])
            await bench.log.until("status DISCONNECTED:WILL-RETRY")
            await bench.log.until("status CONNECTED:WS-STREAMING")
            #expect(bench.client.connectionDetails.sessionId != session)
        }
    }

    @Test func unansweredRequestsAreGivenUpAndTriedAgainAfterTheRetryDelay() async throws {
        try await MemberBench.run { bench in
            let options = bench.client.connectionOptions
            try options.setForcedTransport(.httpStreaming)
            try options.setConnectTimeout(.seconds(0.05))
            try options.setRetryDelay(0.06)
            await bench.server.install([Fault(.ignore, at: .request(.create))])
            let clock = ContinuousClock()
            let start = clock.now
            try await bench.connect(until: .connectedHTTPStreaming)
            #expect(bench.log.entries.contains("status DISCONNECTED:WILL-RETRY"))
            #expect(start.duration(to: clock.now) >= .milliseconds(60))
        }
    }

    @Test func reverseHeartbeatsAreSentWhileNothingElseIs() async throws {
        let (heartbeats, continuation) = AsyncStream<Void>.makeStream()
        try await MemberBench.run(client: {
            $0.requestDecorator = { if $0.target.contains("heartbeat") { continuation.yield() } }
        }) { bench in
            try bench.client.connectionOptions.setForcedTransport(.httpStreaming)
            try bench.client.connectionOptions.setReverseHeartbeatInterval(0.05)
            try await bench.connect(until: .connectedHTTPStreaming)
            var count = 0
            for await _ in heartbeats {
                count += 1
                if count == 2 { break }
            }
        }
    }

    @Test func sessionsBeyondTheLimitAreRefusedOrPoll() async {
        // In a process of its own, for limit and policy are those of all clients.
        await #expect(processExitsWith: .success) {
            ConnectionOptions.maxConcurrentSessionsPerServer = 1
            try await MemberBench.run { bench in
                try bench.client.connectionOptions.setForcedTransport(.httpStreaming)
                try await bench.connect(until: .connectedHTTPStreaming)
                let second = try LightstreamerClient(serverAddress: bench.address, adapterSet: "DEMO")
                ConnectionOptions.maxConcurrentSessionsPerServerExceededPolicy = .block
                let error = #expect(throws: ClientError.self) { try second.connect() }
                #expect(error?.code == .tooManySessions)
                // A client that is connected already asks for nothing.
                try bench.client.connect()
                ConnectionOptions.maxConcurrentSessionsPerServerExceededPolicy = .usePolling
                try bench.client.connect()
                #expect(bench.client.connectionOptions.forcedTransport == .httpStreaming)
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

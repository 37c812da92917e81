internal import LightstreamerClient
internal import LightstreamerTesting
internal import Synchronization
internal import Testing

/// Client and demo server over loopback sockets.
@Suite struct DemoServerTests {
    /// Reads events up to one that matches.
    private func wait<Found>(
        _ events: EventSequence<ClientEvent>,
        for find: (ClientEvent) -> Found?
    ) async throws -> Found {
        for try await event in events {
            if let found = find(event) { return found }
        }
        throw Ended()
    }

    private struct Ended: Error {}

    @Test(arguments: [
        (ForcedTransport.wsStreaming, ClientStatus.connectedWSStreaming), (.wsPolling, .connectedWSPolling),
        (.httpStreaming, .connectedHTTPStreaming), (.httpPolling, .connectedHTTPPolling),
    ])
    func updatesComeOverEveryTransport(transport: ForcedTransport, status: ClientStatus) async throws {
        try await withServer { client, server in
            try client.connectionOptions.setForcedTransport(transport)
            let subscription = try Subscription(mode: .merge, items: ["a", "b"], fields: ["x", "y"])
            try subscription.setDataAdapter("MANUAL")
            let statuses = client.events(bufferedUpTo: 10_000)
            let updates = subscription.events(bufferedUpTo: 10_000)
            try client.subscribe(subscription)
            try client.connect()
            try await wait(statuses) { if case .status(status) = $0 { () } else { nil } }
            for try await event in updates {
                switch event {
                case .subscribed: try await server.update("b", ["x": "1", "y": nil], in: "MANUAL")
                case .update(let update):
                    #expect(update.itemName == "b")
                    #expect(try update.value(withFieldName: "x") == "1")
                    #expect(try subscription.valueWithItemName("b", fieldName: "x") == "1")
                    return
                default: continue
                }
            }
        }
    }

    @Test func messageIsProcessed() async throws {
        try await withServer { client, _ in
            let events = client.events(bufferedUpTo: 10_000)
            let token = try client.sendMessage(
                "CHAT|hello",
                withSequence: "chat",
                timeout: nil,
                delegate: nil,
                wantsOutcome: true,
                enqueueWhileDisconnected: true
            )
            try client.connect()
            let outcome = try await wait(events) { event -> MessageOutcome? in
                if case .message(token, _, let outcome) = event { outcome } else { nil }
            }
            #expect(outcome == .processed(response: ""))
        }
    }

    @Test func secondLevelOfAPortfolioHasQuotes() async throws {
        try await withServer { client, _ in
            let subscription = try Subscription(
                mode: .command,
                item: "portfolio1",
                fields: ["key", "command", "qty"]
            )
            try subscription.setDataAdapter("PORTFOLIO_ADAPTER")
            try subscription.setCommandSecondLevelFields(["stock_name", "last_price"])
            try subscription.setCommandSecondLevelDataAdapter("QUOTE_ADAPTER")
            let updates = subscription.updates(bufferedUpTo: 10_000)
            try client.subscribe(subscription)
            try client.connect()
            for try await update in updates {
                guard let key = update.key, update.values.count > 3 else { continue }
                let name = try update.value(withFieldName: "stock_name")
                #expect(name != nil)
                #expect(try subscription.commandValueWithItemPos(1, key: key, fieldPos: 4) == name)
                #expect(try subscription.commandValueWithItemName("portfolio1", key: key, fieldName: "key") == key)
                return
            }
        }
    }

    @Test func sessionEndedByTheServerIsAServerError() async throws {
        try await withServer { client, server in
            let events = client.events(bufferedUpTo: 10_000)
            try client.connect()
            try await wait(events) { if case .status(.connectedWSStreaming) = $0 { () } else { nil } }
            await server.endSessions(code: 32, message: "maintenance")
            let code = try await wait(events) { if case .serverError(let code, _) = $0 { code } else { nil } }
            #expect(code == 32)
            #expect(client.status == .disconnected)
        }
    }

    @Test func legacyListenerSeesRequestsBeforeTheyAreSent() async throws {
        final class Listener: LegacyConnectionListener {
            let seen = Mutex<[String]>([])

            func clientConnection(_ client: LightstreamerClient, isAboutToSend request: inout OutgoingRequest) {
                let protocols = request.headers.filter { $0.name == "Sec-WebSocket-Protocol" }.map(\.value)
                seen.withLock { $0.append("\(request.method) \(request.target) \(protocols)") }
            }
        }
        let listener = Listener()
        try await withServer { client, _ in
            client.addLegacyListener(listener)
            let events = client.events(bufferedUpTo: 10_000)
            try client.connect()
            try await wait(events) { if case .status(.connectedWSStreaming) = $0 { () } else { nil } }
        }
        let seen = listener.seen.withLock { $0 }
        #expect(seen == ["GET /lightstreamer [\"TLCP-2.5.0.lightstreamer.com\"]"])
    }

    @Test func wrongAdapterSetIsRefused() async throws {
        try await withServer { client, _ in
            client.connectionDetails.setAdapterSet("NOPE")
            let events = client.events(bufferedUpTo: 10_000)
            try client.connect()
            let code = try await wait(events) { if case .serverError(let code, _) = $0 { code } else { nil } }
            #expect(code == 2)
        }
    }
}

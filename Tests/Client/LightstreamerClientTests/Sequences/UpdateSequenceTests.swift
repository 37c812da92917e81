internal import LightstreamerClient
internal import LightstreamerTesting
internal import Testing

/// Sequences of updates over loopback sockets.
@Suite struct UpdateSequenceTests {
    private struct Pair: Decodable, Equatable {
        var x: Int
        var y: String?
    }

    private func publish(_ x: String, _ y: String?, on server: TestServer) async throws {
        try await server.update("a", ["x": x, "y": y], in: "MANUAL")
    }

    @Test func loopHasTheSnapshotFirstAndUnsubscribesAtItsEnd() async throws {
        try await withServer { client, server in
            try await publish("1", nil, on: server)
            var rows: [Pair] = []
            for try await update in client.updates(of: Pair.self, items: ["a"], dataAdapter: "MANUAL") {
                #expect(update.isSnapshot == rows.isEmpty)
                #expect(update.itemName == "a" && update.update["y"] == update.y)
                rows.append(update.row)
                if rows.count == 2 { break }
                #expect(client.subscriptions.count == 1)
                try await publish("2", "z", on: server)
            }
            #expect(rows == [Pair(x: 1), Pair(x: 2, y: "z")])
            #expect(client.subscriptions.isEmpty)
        }
    }

    @Test func everyLoopHasASubscriptionOfItsOwn() async throws {
        try await withServer { client, server in
            try await publish("1", nil, on: server)
            let updates = client.updates(items: ["a"], fields: ["x"], dataAdapter: "MANUAL")
            var (first, second) = (updates.makeAsyncIterator(), updates.makeAsyncIterator())
            let firstValue = try await first.next()?["x"]
            #expect(firstValue == "1")
            let secondValue = try await second.next()?["x"]
            #expect(secondValue == "1")
            #expect(client.subscriptions.count == 2)
        }
    }

    @Test func wrongItemIsThrown() async throws {
        try await withServer { client, _ in
            var updates = client.updates(items: ["nope"], fields: ["x"], dataAdapter: "MANUAL").makeAsyncIterator()
            let refusal = await #expect(throws: SubscriptionRefused.self) { try await updates.next() }
            #expect(refusal?.code == 21)
            let end = try await updates.next()
            #expect(end == nil)
            #expect(client.status.isConnected)
        }
    }

    @Test func wrongAdapterSetIsThrownEachTime() async throws {
        try await withServer { client, _ in
            client.connectionDetails.setAdapterSet("NOPE")
            for _ in 1...2 {
                let refusal = await #expect(throws: SessionRefused.self) {
                    for try await _ in client.updates(items: ["a"], fields: ["x"], dataAdapter: "MANUAL") {}
                }
                #expect(refusal?.code == 2)
            }
        }
    }

    @Test func sessionClosedByTheServerIsThrown() async throws {
        try await withServer { client, server in
            try await publish("1", nil, on: server)
            let refusal = await #expect(throws: SessionRefused.self) {
                for try await _ in client.updates(items: ["a"], fields: ["x"], dataAdapter: "MANUAL") {
                    await server.endSessions(code: 32, message: "maintenance")
                }
            }
            #expect(refusal == SessionRefused(code: 32, message: "maintenance"))
        }
    }

    @Test func lostSessionIsReplacedWithASnapshot() async throws {
        try await withServer { client, server in
            try await publish("1", nil, on: server)
            var snapshots = 0
            for try await update in client.updates(items: ["a"], fields: ["x"], dataAdapter: "MANUAL") {
                #expect(update.isSnapshot)
                snapshots += 1
                if snapshots == 2 { break }
                await server.endSessions(code: 48, message: "again")
            }
            #expect(snapshots == 2)
            #expect(client.counters.sessions == 2)
        }
    }

    @Test func cancelledLoopUnsubscribes() async throws {
        try await withServer { client, server in
            try await publish("1", nil, on: server)
            let (arrivals, arrival) = AsyncStream<Void>.makeStream()
            let loop = Task {
                for try await _ in client.updates(items: ["a"], fields: ["x"], dataAdapter: "MANUAL") {
                    arrival.yield()
                }
            }
            for await _ in arrivals { break }
            loop.cancel()
            await #expect(throws: CancellationError.self) { try await loop.value }
            #expect(client.subscriptions.isEmpty)
        }
    }

    @Test func disconnectEndsTheLoop() async throws {
        try await withServer { client, server in
            try await publish("1", nil, on: server)
            for try await _ in client.updates(items: ["a"], fields: ["x"], dataAdapter: "MANUAL") {
                client.disconnect()
            }
            #expect(client.status == .disconnected)
        }
    }

    @Test(.timeLimit(.minutes(1))) func shutdownEndsTheLoopOverTheEventsOfASubscription() async throws {
        try await withServer { client, server in
            try await publish("1", nil, on: server)
            let subscription = try manualSubscription(item: "a")
            let events = subscription.events()
            try client.subscribe(subscription)
            try await subscription.activated()
            await client.shutdown()
            var last: SubscriptionEvent?
            for try await event in events { last = event }
            #expect(last == .unsubscribed(isFinal: false))
        }
    }

    @Test func latestHasTheNewestRowAfterAPause() async throws {
        try await withServer { client, server in
            try await publish("0", "same", on: server)
            var updates = client.updates(of: Pair.self, items: ["a"], dataAdapter: "MANUAL").latest()
                .makeAsyncIterator()
            let snapshot = try await updates.next()?.x
            #expect(snapshot == 0)
            let subscription = try #require(client.subscriptions.first)
            var last = subscription.updates(bufferedUpTo: 10_000).makeAsyncIterator()
            for number in 1...2_000 { try await publish("\(number)", "same", on: server) }
            while try await last.next()?["x"] != "2000" {}
            let newest = try await updates.next()?.x
            #expect(newest == 2_000)
        }
    }

    @Test func slowReaderHasTheBufferedUpdatesFirst() async throws {
        try await withServer { client, server in
            try await publish("0", nil, on: server)
            let sequence = client.updates(of: Pair.self, items: ["a"], dataAdapter: "MANUAL").buffered(upTo: 2)
            var updates = sequence.makeAsyncIterator()
            let snapshot = try await updates.next()?.x
            #expect(snapshot == 0)
            let subscription = try #require(client.subscriptions.first)
            var last = subscription.updates().makeAsyncIterator()
            for number in 1...3 { try await publish("\(number)", nil, on: server) }
            while try await last.next()?["x"] != "3" {}
            let oldest = try await updates.next()?.x
            #expect(oldest == 1)
            let later = try await updates.next()?.x
            #expect(later == 2)
            let error = await #expect(throws: ClientError.self) { try await updates.next() }
            #expect(error?.code == .slowReader)
        }
    }

    @Test func rowThatDoesNotDecodeIsThrown() async throws {
        try await withServer { client, server in
            try await publish("one", nil, on: server)
            await #expect(throws: DecodingError.self) {
                for try await _ in client.updates(of: Pair.self, items: ["a"], dataAdapter: "MANUAL") {}
            }
            #expect(client.subscriptions.isEmpty)
        }
    }

    @Test func commandRowsHaveKeyAndCommand() async throws {
        struct Position: Decodable { var qty: Int? }
        try await withServer { client, _ in
            let positions = client.updates(
                of: Position.self,
                mode: .command,
                items: ["portfolio1"],
                dataAdapter: "PORTFOLIO_ADAPTER"
            )
            for try await position in positions {
                #expect(position.key != nil && position.command == "ADD" && position.qty != nil)
                break
            }
        }
    }

    @Test func earlierRefusalEndsNoLoopOfASubscriptionThatIsActiveAgain() async throws {
        try await withServer { client, server in
            try await publish("1", nil, on: server)
            let subscription = try manualSubscription(item: "nope")
            try client.subscribe(subscription)
            await #expect(throws: SubscriptionRefused.self) { try await subscription.activated() }
            try subscription.setItems(["a"])
            // Made before the subscription, so that it has the snapshot.
            var updates = subscription.updates().makeAsyncIterator()
            try client.subscribe(subscription)
            let value = try await updates.next()?["x"]
            #expect(value == "1")
        }
    }

    @Test(.timeLimit(.minutes(1))) func loopsOverOneSequenceOfASubscriptionHaveAllUpdatesEach() async throws {
        try await withServer { client, server in
            try await publish("0", nil, on: server)
            let subscription = try manualSubscription(item: "a")
            let updates = subscription.updates()
            try client.subscribe(subscription)
            _ = try await subscription.snapshot()
            let loops = (updates.makeAsyncIterator(), updates.makeAsyncIterator())
            try await publish("1", nil, on: server)
            var (first, second) = loops
            let values = (try await first.next()?["x"], try await first.next()?["x"], try await second.next()?["x"])
            #expect(values == ("0", "1", "1"))
        }
    }

    /// Both wait at the same time.
    @Test(.timeLimit(.minutes(1))) func tasksThatReadOneSequenceOfASubscriptionEndWithTheClient() async throws {
        try await withServer { client, _ in
            let subscription = try manualSubscription(item: "a")
            try client.subscribe(subscription)
            let updates = subscription.updates()
            let (starts, start) = AsyncStream<Void>.makeStream()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 1...3 {
                    group.addTask {
                        var loop = updates.makeAsyncIterator()
                        start.yield()
                        while try await loop.next() != nil {}
                    }
                }
                for await _ in starts.prefix(3) {}
                try await subscription.activated()
                await client.shutdown()
                try await group.waitForAll()
            }
        }
    }

    @Test(.timeLimit(.minutes(1))) func loopContinuesWhereTheFormerOneOfItsSequenceStopped() async throws {
        try await withServer { client, server in
            try await publish("0", nil, on: server)
            let subscription = try manualSubscription(item: "a")
            let updates = subscription.updates()
            try client.subscribe(subscription)
            try await subscription.activated()
            for try await _ in updates { break }
            try await publish("1", nil, on: server)
            for try await update in updates {
                #expect(update["x"] == "1")
                break
            }
        }
    }

    @Test func sequenceOfASubscriptionThrowsAnEarlierRefusal() async throws {
        try await withServer { client, _ in
            let subscription = try Subscription(mode: .merge, items: ["nope"], fields: ["x"])
            try client.subscribe(subscription)
            await #expect(throws: SubscriptionRefused.self) { try await subscription.activated() }
            await #expect(throws: SubscriptionRefused.self) { for try await _ in subscription.updates() {} }
        }
    }
}

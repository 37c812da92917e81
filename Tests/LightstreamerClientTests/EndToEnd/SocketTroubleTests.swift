internal import DemoServer
internal import LightstreamerClient
internal import Testing

/// Every trouble on every transport in every mode, over real sockets: the listeners are told what the class reference
/// says, and no update is lost or told twice as long as the session lasts.
@Suite(.timeLimit(.minutes(5))) struct SocketTroubleTests {
    /// One case.
    struct Case: Sendable, CustomTestStringConvertible {
        let trouble: SocketTrouble
        let transport: SocketTransport
        let mode: SubscriptionMode
        var testDescription: String { "\(trouble) on \(transport) in \(mode.rawValue)" }

        /// The manual feed of the mode.
        var adapter: String {
            switch mode {
            case .merge: "QUOTES"
            case .command: "PORTFOLIO"
            case .distinct: "NEWS"
            case .raw: "EVENTS"
            }
        }

        /// A subscription to the feed's first item.
        func subscription() throws -> Subscription {
            switch mode {
            case .merge: try Subscription(mode: .merge, item: "item1", fields: ["name", "price"])
            case .command: try Subscription(mode: .command, item: "portfolio1", fields: ["key", "command", "qty"])
            case .distinct: try Subscription(mode: .distinct, item: "news", fields: ["headline"])
            case .raw: try Subscription(mode: .raw, item: "events", fields: ["text"])
            }
        }

        /// Makes the feed publish its update of a number.
        func publish(_ number: Int, on bench: MemberBench) async {
            switch mode {
            case .merge: await bench.publish("item1", "n\(number)", "p", to: adapter)
            case .command:
                await bench.publish("portfolio1", "k", number == 1 ? "ADD" : "UPDATE", "\(number)", to: adapter)
            case .distinct: await bench.publish("news", "t\(number)", to: adapter)
            case .raw: await bench.publish("events", "t\(number)", to: adapter)
            }
        }

        /// How the log tells of that update; in a new session's snapshot a row of a table is added again.
        func entry(_ number: Int, isSnapshot: Bool = false) -> String {
            switch mode {
            case .merge: "update 1 n\(number)|p"
            case .command: "update 1 k|\(number == 1 || isSnapshot ? "ADD" : "UPDATE")|\(number)"
            case .distinct, .raw: "update 1 t\(number)"
            }
        }
    }

    static let cases = SocketTrouble.allCases.flatMap { trouble in
        SocketTransport.allCases.filter(trouble.concerns).flatMap { transport in
            [SubscriptionMode.merge, .distinct, .raw, .command].map { mode in
                Case(trouble: trouble, transport: transport, mode: mode)
            }
        }
    }

    @Test(arguments: cases)
    func troubleIsToldAndOvercome(_ row: Case) async throws {
        try await MemberBench.run { bench in
            try row.trouble.prepare(bench.client.connectionOptions)
            try bench.client.connectionOptions.setForcedTransport(row.transport.forced)
            try await bench.connect(until: row.transport.status)
            let subscription = try row.subscription()
            try await bench.subscribe(subscription, to: row.adapter)
            await row.publish(1, on: bench)
            await bench.log.until(row.entry(1))
            // The update ended a poll; trouble is to strike the next one, which is on its way to the server.
            while await bench.server.census().boundSessions == 0 {}

            await bench.server.install(row.trouble.faults)
            if row.trouble.keepsSession {
                await overcome(row, bench)
            } else {
                await startAgain(row, bench)
            }
            #expect(subscription.isSubscribed)
        }
    }

    /// What is published while the connection is in trouble comes once it is over, and once only.
    private func overcome(_ row: Case, _ bench: MemberBench) async {
        await row.publish(2, on: bench)
        for status in row.trouble.statuses(on: row.transport) { await bench.log.until("status \(status.rawValue)") }
        await bench.log.untilPresent(row.entry(2))
        await row.publish(3, on: bench)
        await bench.log.untilPresent(row.entry(3))
        let updates = bench.log.entries.filter { $0.hasPrefix("update") }
        #expect(updates == [row.entry(1), row.entry(2), row.entry(3)])
        #expect(!bench.log.entries.contains("unsubscribed"))
    }

    /// The session is replaced, which ends the subscription and begins it again with what the server has.
    private func startAgain(_ row: Case, _ bench: MemberBench) async {
        var passed: [String] = []
        for status in row.trouble.statuses(on: row.transport) {
            passed += await bench.log.until("status \(status.rawValue)")
        }
        passed += await bench.log.until("subscribed")
        #expect(passed.contains("unsubscribed"))
        if row.mode != .raw { passed += await bench.log.until(row.entry(1, isSnapshot: true)) }
        await row.publish(2, on: bench)
        await bench.log.until(row.entry(2))
    }
}

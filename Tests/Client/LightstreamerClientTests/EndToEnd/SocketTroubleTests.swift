internal import DemoServer
internal import LightstreamerClient
internal import Testing

/// Every fault on every transport in every mode, over real sockets: the events follow the class reference, and no
/// update is lost or repeated within a session.
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
        func publish(_ number: Int, on fixture: MemberFixture) async {
            switch mode {
            case .merge: await fixture.publish("item1", "n\(number)", "p", to: adapter)
            case .command:
                await fixture.publish("portfolio1", "k", number == 1 ? "ADD" : "UPDATE", "\(number)", to: adapter)
            case .distinct: await fixture.publish("news", "t\(number)", to: adapter)
            case .raw: await fixture.publish("events", "t\(number)", to: adapter)
            }
        }

        /// The entry of that update in the log; in the snapshot of a new session a row of a table is added again.
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
    func failuresAreReportedAndOvercome(_ row: Case) async throws {
        try await MemberFixture.run { fixture in
            try row.trouble.prepare(fixture.client.connectionOptions)
            try fixture.client.connectionOptions.setForcedTransport(row.transport.forced)
            try await fixture.connect(until: row.transport.status)
            let subscription = try row.subscription()
            try await fixture.subscribe(subscription, to: row.adapter)
            await row.publish(1, on: fixture)
            await fixture.log.until(row.entry(1))
            // The update ended a poll; the fault is to affect the next one, which is on its way to the server.
            try await fixture.server.waits { $0.boundSessions > 0 }

            await fixture.server.install(row.trouble.faults)
            if row.trouble.keepsSession {
                await overcome(row, fixture)
            } else {
                await startAgain(row, fixture)
            }
            #expect(subscription.isSubscribed)
        }
    }

    /// Updates published during the fault arrive after it, and once only.
    private func overcome(_ row: Case, _ fixture: MemberFixture) async {
        await row.publish(2, on: fixture)
        for status in row.trouble.statuses(on: row.transport) { await fixture.log.until("status \(status.rawValue)") }
        await fixture.log.untilPresent(row.entry(2))
        await row.publish(3, on: fixture)
        await fixture.log.untilPresent(row.entry(3))
        let updates = fixture.log.entries.filter { $0.hasPrefix("update") }
        #expect(updates == [row.entry(1), row.entry(2), row.entry(3)])
        #expect(!fixture.log.entries.contains("unsubscribed"))
    }

    /// The session is replaced, which ends the subscription and starts it again with the snapshot of the server.
    private func startAgain(_ row: Case, _ fixture: MemberFixture) async {
        var passed: [String] = []
        for status in row.trouble.statuses(on: row.transport) {
            passed += await fixture.log.until("status \(status.rawValue)")
        }
        passed += await fixture.log.until("subscribed")
        #expect(passed.contains("unsubscribed"))
        if row.mode != .raw { passed += await fixture.log.until(row.entry(1, isSnapshot: true)) }
        await row.publish(2, on: fixture)
        await fixture.log.until(row.entry(2))
    }
}

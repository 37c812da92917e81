internal import DemoServer
internal import SessionCore
internal import Testing

/// The course of a conversation in a test.
extension Conversation {
    /// Plays a conversation for each number of lines after which the disturbances happen.
    static func play(
        _ transport: ForcedTransport,
        _ kind: DataKind,
        lines: some Sequence<Int>,
        _ troubles: [Disturbance],
        check: (Conversation, _ line: Int) -> Void = { _, _ in },
        change: (Conversation) -> Void = { _ in }
    ) {
        for line in lines {
            let conversation = Conversation(seed: UInt64(line), transport: transport)
            conversation.troubles = [line: troubles]
            change(conversation)
            conversation.play([kind])
            check(conversation, line)
            conversation.finish("seed and line \(line), \(troubles)")
        }
    }

    /// Subscribes, connects, publishes data during the faults, waits until both ends have recovered, and compares them.
    func play(
        _ kinds: [DataKind] = DataKind.allCases,
        lasting time: Duration = .seconds(2),
        endingInBreak breaks: Bool = false
    ) {
        publisher.adapters = kinds.reduce(into: []) { $0.formUnion($1.adapters) }
        for kind in kinds { subscribe(kind.properties) }
        connect()
        publish(for: .seconds(2))
        run(for: time - .seconds(2))
        settle(afterBreak: breaks)
        compare()
    }

    /// Removes all faults, and waits until both ends must have recovered.
    ///
    /// On a WebSocket a request that the server has ignored is sent again only on the next one: hence a last break.
    func settle(afterBreak breaks: Bool = false) {
        troubles = [:]
        reactions = [:]
        refusals = 0
        perform(server.faultsCleared(at: clock.now))
        if client.status == .disconnected { connect() }
        run(for: .seconds(60))
        if breaks { breakStream() }
        run(for: .seconds(90))
        for (adapter, order) in publisher.round() { perform(server.published(order, to: adapter, at: clock.now)) }
        run(for: .seconds(5))
    }

    /// Ends the session, and expects that no rule was violated and that all required events were delivered.
    func finish(_ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation) {
        disconnect()
        run(for: .seconds(1))
        if client.status != .disconnected { checker.violations.append("status after the end: \(client.status)") }
        for (token, outcome) in checker.messages where outcome == nil {
            checker.violations.append("no outcome of message \(token.rawValue)")
        }
        #expect(checker.violations == [], comment, sourceLocation: sourceLocation)
    }

    /// Records the differences between the data of client and server.
    func compare() {
        guard checker.violations.isEmpty else { return }
        if !client.status.isConnected { checker.violations.append("not connected: \(client.status)") }
        for table in checker.tables {
            if let difference = difference(in: table) { checker.violations.append(difference) }
        }
    }

    private func difference(in table: ValueTable) -> String? {
        guard table.isSubscribed else { return "not subscribed: \(table.properties.items.wireName)" }
        switch (table.properties.mode, table.properties.dataAdapter) {
        case (_, "CHAT_ROOM"): return nil
        case (.merge, _):
            for item in 1...3 where table.row(item: item) != publisher.quotes["item\(item)"] {
                return "item\(item): \(table.row(item: item) ?? []), not \(publisher.quotes["item\(item)"] ?? [])"
            }
        case (.distinct, _):
            if table.value(item: 1, field: 1) != "\(publisher.listNumber)" { return "list \(publisher.listNumber)" }
        case (.raw, _):
            if table.value(item: 1, field: 1) != "\(publisher.flowNumber)" { return "flow \(publisher.flowNumber)" }
        case (.command, _): return differenceOfKeys(in: table)
        }
        return nil
    }

    private func differenceOfKeys(in table: ValueTable) -> String? {
        let keys = Set(table.keys(item: 1))
        guard keys == Set(publisher.table.keys) else { return "keys \(keys), not \(publisher.table.keys)" }
        for (key, expected) in publisher.table {
            let row = table.row(item: 1, key: key) ?? []
            var wanted = expected
            wanted.insert(row.count > 1 ? row[1] : nil, at: 1)
            if table.properties.secondLevelFields != nil { wanted += publisher.quotes[key] ?? [] }
            if row != wanted { return "key \(key): \(row), not \(wanted)" }
        }
        return nil
    }
}

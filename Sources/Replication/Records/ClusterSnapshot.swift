internal import EventHub
package import SessionCore

/// The state with which a joining member continues at a position: the ledger, and the values of all subscriptions.
package struct ClusterSnapshot: Sendable, Equatable {
    /// The log that the position belongs to.
    package let created: String
    /// The ledger as of its position.
    package let ledger: ClusterLedger
    /// For each subscribed subscription, the events that change an empty table to its present state.
    package let tables: [String: [SubscriptionEvent]]

    /// A snapshot.
    package init(created: String, ledger: ClusterLedger, tables: [String: [SubscriptionEvent]]) {
        self.created = created
        self.ledger = ledger
        self.tables = tables
    }

    /// The bytes that a member sends to a joining member.
    package var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.byte(ClusterFrame.version)
        writer.string(created)
        writer.ledger(ledger)
        writer.list(tables.sorted { $0.key < $1.key }) { writer, table in
            writer.string(table.key)
            writer.list(table.value) { $0.subscriptionEvent($1) }
        }
        return writer.bytes
    }

    /// Reads a snapshot.
    package init(_ bytes: [UInt8]) throws(CodingError) {
        var reader = ByteReader(bytes[...])
        guard try reader.byte() == ClusterFrame.version else { throw .malformed }
        created = try reader.string()
        let ledger = try reader.ledger()
        self.ledger = ledger
        let tables = try reader.list { reader throws(CodingError) in
            let id = try reader.string()
            let layout = ledger.subscriptions[id]?.layout
            return (
                id,
                try reader.list { reader throws(CodingError) in try reader.subscriptionEvent(layout: layout) }
            )
        }
        self.tables = Dictionary(tables, uniquingKeysWith: { first, _ in first })
        try reader.finish()
    }
}

extension ByteWriter {
    fileprivate mutating func ledger(_ ledger: ClusterLedger) {
        varint(UInt64(ledger.groups))
        for value in [ledger.epoch, ledger.epochPosition, ledger.position] { fixed64(value) }
        list(ledger.earlierEpochs) { $0.fixed64($1) }
        list(ledger.removed) { $0.fixed64($1) }
        list(ledger.members.sorted { $0.key < $1.key }) { writer, member in
            writer.fixed64(member.key)
            writer.info(member.value.info)
            writer.varint(member.value.joinedAt)
            writer.varint(member.value.counter)
            writer.blob(member.value.partial)
        }
        list(ledger.clients.sorted { $0.key < $1.key }) { writer, client in
            writer.string(client.key)
            writer.fixed64(client.value.owner)
            writer.string(client.value.status.rawValue)
            writer.varint(client.value.madeAt)
        }
        list(ledger.sessions.sorted { $0.key < $1.key }) { writer, session in
            writer.string(session.key)
            writer.session(session.value)
        }
        list(ledger.subscriptions.sorted { $0.key < $1.key }) { $0.subscription($1.key, $1.value) }
        list(ledger.topics.sorted { $0.key < $1.key }) { writer, topic in
            writer.string(topic.key)
            writer.string(topic.value.key.upstream)
            writer.optional(topic.value.owner) { $0.fixed64($1) }
            writer.varint(topic.value.tenure)
            writer.list(topic.value.wanters.sorted()) { $0.fixed64($1) }
        }
        requests(ledger.requests)
        quotas(ledger.quotas)
        varint(ledger.ticketUses.forgottenThrough)
        list(ledger.ticketUses.uses) { writer, use in
            writer.key(use.key)
            writer.varint(use.position)
        }
        list(ledger.specified.sorted { $0.key < $1.key }) { writer, resource in
            writer.string(resource.key)
            writer.specification(resource.value.specification)
            writer.optional(resource.value.owner) { $0.fixed64($1) }
            writer.optional(resource.value.isOpen) { $0.bool($1) }
        }
    }

    private mutating func subscription(_ id: String, _ view: ClusterLedger.SubscriptionEntry) {
        string(id)
        properties(view.properties)
        optional(view.owner) { $0.fixed64($1) }
        varint(view.madeAt)
        bool(view.isActive)
        optional(view.carrier) { $0.string($1) }
        optional(view.number) { $0.varint($1) }
        optional(view.isSubscribed ? view.layout : nil) { writer, layout in
            writer.signed(layout.fieldCount)
            writer.optional(layout.keyPosition) { $0.signed($1) }
            writer.optional(layout.commandPosition) { $0.signed($1) }
        }
    }
}

extension ByteReader {
    fileprivate mutating func ledger() throws(CodingError) -> ClusterLedger {
        let groups = try varint()
        let (epoch, epochPosition, position) = (try fixed64(), try fixed64(), try fixed64())
        var ledger = ClusterLedger(epoch: epoch, position: position, groups: Int(clamping: max(1, groups)))
        ledger.epochPosition = epochPosition
        ledger.earlierEpochs = try list { reader throws(CodingError) in try reader.fixed64() }
        ledger.removed = try list { reader throws(CodingError) in try reader.fixed64() }
        for _ in 0..<(try varint()) {
            let id = try fixed64()
            var member = ClusterLedger.Member(info: try info(), joinedAt: try varint(), counter: try varint())
            member.partial = Array(try blob())
            ledger.members[id] = member
        }
        for _ in 0..<(try varint()) {
            let id = try string()
            let owner = try fixed64()
            guard let status = ClientStatus(rawValue: try string()) else { throw .malformed }
            ledger.clients[id] = ClusterLedger.ClientEntry(owner: owner, status: status, madeAt: try varint())
        }
        for _ in 0..<(try varint()) {
            let id = try string()
            ledger.sessions[id] = try session()
        }
        for _ in 0..<(try varint()) {
            let id = try string()
            ledger.subscriptions[id] = try subscription()
        }
        for _ in 0..<(try varint()) { try topic(into: &ledger) }
        ledger.requests = try requests()
        ledger.quotas = try quotas()
        let forgottenThrough = try varint()
        let uses = try list { reader throws(CodingError) in
            TicketUses.Use(key: try reader.recordKey(), position: try reader.varint())
        }
        ledger.ticketUses = TicketUses(uses, forgottenThrough: forgottenThrough)
        for _ in 0..<(try varint()) {
            let id = try string()
            ledger.specified[id] = ClusterLedger.SpecifiedResource(
                specification: try specification(),
                owner: try optional { reader throws(CodingError) in try reader.fixed64() },
                isOpen: try optional { reader throws(CodingError) in try reader.bool() }
            )
        }
        return ledger
    }

    private mutating func subscription() throws(CodingError) -> ClusterLedger.SubscriptionEntry {
        var view = ClusterLedger.SubscriptionEntry(
            properties: try properties(),
            owner: try optional { reader throws(CodingError) in try reader.fixed64() },
            madeAt: try varint()
        )
        view.isActive = try bool()
        view.carrier = try optional { reader throws(CodingError) in try reader.string() }
        view.number = try optional { reader throws(CodingError) in try reader.varint() }
        view.isSubscribed = try bool()
        guard view.isSubscribed else { return view }
        let fieldCount = try signed()
        view.layout = ClusterLedger.SubscriptionEntry.layout(
            view.properties,
            fieldCount: fieldCount,
            keyPosition: try optional { reader throws(CodingError) in try reader.signed() },
            commandPosition: try optional { reader throws(CodingError) in try reader.signed() }
        )
        return view
    }

    private mutating func topic(into ledger: inout ClusterLedger) throws(CodingError) {
        let id = try string()
        let upstream = try string()
        guard let properties = ledger.subscriptions[id]?.properties else { throw .malformed }
        var topic = ClusterLedger.SharedTopic(
            key: SharedTopicKey(upstream: upstream, properties: properties),
            owner: try optional { reader throws(CodingError) in try reader.fixed64() },
            tenure: try varint()
        )
        topic.wanters = Set(try list { reader throws(CodingError) in try reader.fixed64() })
        ledger.restore(topic, id)
    }
}

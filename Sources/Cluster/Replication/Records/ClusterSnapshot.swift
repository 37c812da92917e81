internal import Changes
package import SessionCore

/// The state with which a joining member continues at a position: the ledger, and the values of all subscriptions.
package struct ClusterSnapshot: Sendable, Equatable {
    /// The log that the position belongs to.
    package let created: String
    /// The ledger as of its position.
    package let ledger: ClusterLedger
    /// For each subscribed subscription, the events that change an empty table to its present state.
    package let tables: [String: [SubscriptionEvent]]
    /// The state from which the joining member can read the log to have the recent events.
    package let earlier: EarlierState?
    /// The time since the beginning of the epoch, while members may not have reported their resources again; else nil.
    package let epochAge: Duration?

    /// A snapshot.
    package init(
        created: String,
        ledger: ClusterLedger,
        tables: [String: [SubscriptionEvent]],
        earlier: EarlierState? = nil,
        epochAge: Duration? = nil
    ) {
        self.created = created
        self.ledger = ledger
        self.tables = tables
        self.earlier = earlier
        self.epochAge = epochAge
    }

    /// The bytes that a member sends to a joining member, in a format that both read.
    package func bytes(in format: UInt8) -> [UInt8] {
        var writer = ByteWriter.stating(format)
        writer.string(created)
        writer.ledger(ledger)
        writer.list(tables.sorted { $0.key < $1.key }) { writer, table in
            writer.string(table.key)
            writer.list(table.value) { $0.subscriptionEvent($1) }
        }
        writer.optional(earlier) { writer, earlier in
            writer.duration(earlier.age)
            writer.ledger(earlier.ledger)
        }
        writer.optional(epochAge) { $0.duration($1) }
        return writer.bytes
    }

    /// Reads a snapshot in one of some formats.
    package init(_ bytes: [UInt8], among formats: Formats = .supported) throws(CodingError) {
        var reader = try ByteReader.stating(bytes, among: formats)
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
        earlier = try reader.optional { reader throws(CodingError) in
            let age = try reader.duration()
            return EarlierState(ledger: try reader.ledger(), age: age)
        }
        epochAge = try reader.optional { reader throws(CodingError) in try reader.duration() }
        try reader.finish()
    }
}

extension ByteWriter {
    fileprivate mutating func duration(_ duration: Duration) {
        varint(UInt64(clamping: duration.clampedNanoseconds))
    }

    fileprivate mutating func ledger(_ ledger: ClusterLedger) {
        varint(UInt64(ledger.groups))
        for value in [ledger.epoch, ledger.epochPosition, ledger.position, ledger.digest.value] { fixed64(value) }
        list(ledger.earlierEpochs) { $0.fixed64($1) }
        list(ledger.removed) { $0.fixed64($1) }
        list(ledger.members.sorted { $0.key < $1.key }) { $0.member($1.key, $1.value) }
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
            writer.list(topic.value.wantedBy.sorted()) { $0.fixed64($1) }
        }
        requests(ledger.requests)
        quotas(ledger.quotas)
        credits(ledger.credits)
        varint(ledger.ticketUses.forgottenThrough)
        list(ledger.ticketUses.uses) { $0.use($1) }
        list(ledger.specified.sorted { $0.key < $1.key }) { $0.specified($1.key, $1.value) }
    }

    private mutating func member(_ id: UInt64, _ member: ClusterLedger.Member) {
        fixed64(id)
        info(member.info)
        varint(member.joinedAt)
        varint(member.counter)
        blob(member.partial)
    }

    private mutating func specified(_ id: String, _ resource: ClusterLedger.SpecifiedResource) {
        string(id)
        specification(resource.specification)
        optional(resource.owner) { $0.fixed64($1) }
        optional(resource.isOpen) { $0.bool($1) }
    }

    private mutating func subscription(_ id: String, _ entry: ClusterLedger.SubscriptionEntry) {
        string(id)
        properties(entry.properties)
        optional(entry.owner) { $0.fixed64($1) }
        varint(entry.madeAt)
        bool(entry.isActive)
        optional(entry.carrier) { $0.string($1) }
        optional(entry.number) { $0.varint($1) }
        optional(entry.isSubscribed ? entry.layout : nil) { writer, layout in
            writer.signed(layout.fieldCount)
            writer.optional(layout.keyPosition) { $0.signed($1) }
            writer.optional(layout.commandPosition) { $0.signed($1) }
        }
    }
}

extension ByteReader {
    fileprivate mutating func duration() throws(CodingError) -> Duration {
        .nanoseconds(Int64(clamping: try varint()))
    }

    fileprivate mutating func ledger() throws(CodingError) -> ClusterLedger {
        let groups = try varint()
        let (epoch, epochPosition, position) = (try fixed64(), try fixed64(), try fixed64())
        let digest = try fixed64()
        var ledger = ClusterLedger(epoch: epoch, position: position, groups: Int(clamping: max(1, groups)))
        ledger.epochPosition = epochPosition
        ledger.digest = LogDigest(value: digest)
        ledger.earlierEpochs = try fixed64s()
        ledger.removed = try fixed64s()
        for _ in 0..<(try varint()) { ledger.members[try fixed64()] = try member() }
        for _ in 0..<(try varint()) {
            let id = try string()
            let owner = try fixed64()
            guard let status = ClientStatus(rawValue: try string()) else { throw .malformed }
            ledger.clients[id] = ClusterLedger.ClientEntry(owner: owner, status: status, madeAt: try varint())
        }
        for _ in 0..<(try varint()) { ledger.sessions[try string()] = try session() }
        for _ in 0..<(try varint()) { ledger.subscriptions[try string()] = try subscription() }
        for _ in 0..<(try varint()) { try topic(into: &ledger) }
        ledger.requests = try requests()
        ledger.quotas = try quotas()
        ledger.credits = try sharedCredits()
        let forgottenThrough = try varint()
        let uses = try list { reader throws(CodingError) in try reader.ticketUse() }
        ledger.ticketUses = TicketUses(uses, forgottenThrough: forgottenThrough)
        for _ in 0..<(try varint()) { ledger.specified[try string()] = try specified() }
        return ledger
    }

    private mutating func member() throws(CodingError) -> ClusterLedger.Member {
        var member = ClusterLedger.Member(info: try info(), joinedAt: try varint(), counter: try varint())
        member.partial = Array(try blob())
        return member
    }

    private mutating func specified() throws(CodingError) -> ClusterLedger.SpecifiedResource {
        ClusterLedger.SpecifiedResource(
            specification: try specification(),
            owner: try optionalFixed64(),
            isOpen: try optional { reader throws(CodingError) in try reader.bool() }
        )
    }

    private mutating func subscription() throws(CodingError) -> ClusterLedger.SubscriptionEntry {
        var entry = ClusterLedger.SubscriptionEntry(
            properties: try properties(),
            owner: try optionalFixed64(),
            madeAt: try varint()
        )
        entry.isActive = try bool()
        entry.carrier = try optionalString()
        entry.number = try optional { reader throws(CodingError) in try reader.varint() }
        entry.isSubscribed = try bool()
        guard entry.isSubscribed else { return entry }
        let fieldCount = try signed()
        entry.layout = ClusterLedger.SubscriptionEntry.layout(
            entry.properties,
            fieldCount: fieldCount,
            keyPosition: try optionalSigned(),
            commandPosition: try optionalSigned()
        )
        return entry
    }

    private mutating func topic(into ledger: inout ClusterLedger) throws(CodingError) {
        let id = try string()
        let upstream = try string()
        guard let properties = ledger.subscriptions[id]?.properties else { throw .malformed }
        var topic = ClusterLedger.SharedTopic(
            key: SharedTopicKey(upstream: upstream, properties: properties),
            owner: try optionalFixed64(),
            tenure: try varint()
        )
        topic.wantedBy = Set(try fixed64s())
        ledger.restore(topic, id)
    }
}

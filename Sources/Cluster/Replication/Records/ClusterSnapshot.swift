internal import Changes
internal import Primitives
package import SessionCore

/// The state with which a joining member continues at a position: the ledger, and the values of all subscriptions.
package struct ClusterSnapshot: Sendable, Equatable {
    /// The log that the position belongs to.
    package let created: String
    /// The ledger as of its position.
    package let ledger: ClusterLedger
    /// For each subscribed subscription, the events that change an empty table to its present state; for each inactive one that
    /// the server has refused or removed, the failure.
    package var tables: [String: [SubscriptionEvent]] = [:]
    /// The state from which the joining member can read the log to have the recent events.
    package internal(set) var earlier: EarlierState?
    /// The time since the beginning of the epoch, while members may not have reported their resources again; else nil.
    package internal(set) var epochAge: Duration?
}

extension ClusterSnapshot {
    /// The bytes that a member sends to a joining member, in a format that both read.
    package func bytes(in format: UInt8) -> [UInt8] { Wire<ClusterSnapshot>.snapshot.stating(format).bytes(self) }

    /// Reads a snapshot in one of some formats.
    package init(_ bytes: [UInt8], among formats: Formats = .supported) throws(CodingError) {
        self = try Wire<ClusterSnapshot>.snapshot.stating(among: formats).value(bytes)
    }
}

extension Wire<ClusterSnapshot> {
    fileprivate static let snapshot = Wire(
        ClusterSnapshot.init,
        (\.created, .string),
        (\.ledger, .ledger),
        (\.tables, .dictionary(.subscribed, .list(.subscriptionEvent))),
        (\.earlier, .optional(.earlier)),
        (\.epochAge, .optional(.duration))
    )
}

extension Wire<String> {
    /// The id of a subscription, whose events follow.
    fileprivate static let subscribed = Wire<SubscriptionID>.subscription.map(
        { (id: String) in SubscriptionID(id) },
        from: \.rawValue
    )
}

extension Wire<EarlierState> {
    fileprivate static let earlier = Wire(
        { EarlierState(ledger: $1, age: $0) },
        (\.age, .duration),
        (\.ledger, .ledger)
    )
}

extension Wire<Duration> {
    fileprivate static let duration = Wire<UInt64>.varint.map { (duration: Duration) in
        UInt64(clamping: duration.clampedNanoseconds)
    } from: {
        .nanoseconds(Int64(clamping: $0))
    }
}

extension Wire<ClusterLedger.SharedTopic> {
    /// A shared subscription without properties: the entry of the subscription has them.
    fileprivate static let sharedTopic = Wire(
        { upstream, owner, term, interested in
            let key = SharedTopicKey(upstream: upstream, properties: Wire<SubscriptionProperties>.blank)
            return ClusterLedger.SharedTopic(key: key, owner: owner, term: term, interested: interested)
        },
        (\.key.upstream, .string),
        (\.owner, .optional(.fixed64)),
        (\.term, .varint),
        (\.interested, .members)
    )
}

extension Wire<Set<UInt64>> {
    fileprivate static let members = Wire<[UInt64]>.list(.fixed64).map({ $0.sorted() }, from: { Set($0) })
}

extension Wire<ClusterLedger> {
    /// A ledger. The events that follow have the layouts of its subscriptions.
    fileprivate static let ledger = Wire { writer, ledger in
        fields.write(&writer, ledger)
    } _: { reader throws(CodingError) in
        let ledger = try fields.read(&reader)
        reader.layouts = { ledger.subscriptions[$0]?.layout }
        return ledger
    }

    private static let fields = Wire(
        ClusterLedger(epoch: 0, position: 0, groups: 1),
        [
            Field(\.groups, .groups),
            Field(\.epoch, .fixed64),
            Field(\.epochPosition, .fixed64),
            Field(\.position, .fixed64),
            Field(\.digest.value, .fixed64),
            Field(\.earlierEpochs, .list(.fixed64)),
            Field(\.removed, .list(.fixed64)),
            Field(\.members, .dictionary(.fixed64, .ledgerMember)) { ledger, members in
                ledger.members = members
                ledger.noteFormats()
            },
            Field(\.clients, .dictionary(.string, .clientEntry)),
            Field(\.sessions, .dictionary(.string, .session)),
            Field(\.subscriptions, .dictionary(.string, .subscriptionEntry)),
            Field(\.topics, .dictionary(.string, .sharedTopic)) { ledger, topics throws(CodingError) in
                for (id, topic) in topics { try ledger.restore(topic, id) }
            },
            Field(\.requests, .requests),
            Field(\.quotas, .quotas),
            Field(\.credits, .sharedCredits),
            Field(\.ticketUses, .ticketUses),
            Field(\.specified, .dictionary(.string, .specified)),
        ]
    )
}

extension Wire<Int> {
    /// The number of groups, at least 1.
    static let groups = Wire<UInt64>.varint.map { (groups: Int) in
        UInt64(groups)
    } from: {
        Int(clamping: max(1, $0))
    }
}

extension Wire<ClusterLedger.Member> {
    fileprivate static let ledgerMember = Wire(
        ClusterLedger.Member.init,
        (\.info, .member),
        (\.joinedAt, .varint),
        (\.counter, .varint),
        (\.partial, .blob)
    )
}

extension Wire<ClusterLedger.ClientEntry> {
    fileprivate static let clientEntry = Wire(
        ClusterLedger.ClientEntry.init,
        (\.owner, .fixed64),
        (\.status, .raw(.string)),
        (\.madeAt, .varint)
    )
}

extension Wire<ClusterLedger.SpecifiedResource> {
    fileprivate static let specified = Wire(
        ClusterLedger.SpecifiedResource.init,
        (\.specification, .specification),
        (\.owner, .optional(.fixed64)),
        (\.isOpen, .optional(.bool))
    )
}

extension Wire<SubscriptionLayout> {
    /// The counts and positions that the server confirmed. The names are those of the subscription.
    fileprivate static let confirmed = Wire(
        { fields, key, command throws(CodingError) in
            try SubscriptionLimits.check(fieldCount: fields, key, command)
            return SubscriptionLayout(
                itemNames: nil,
                fieldNames: nil,
                fieldCount: fields,
                keyPosition: key,
                commandPosition: command
            )
        },
        (\.fieldCount, .signed),
        (\.keyPosition, .optional(.signed)),
        (\.commandPosition, .optional(.signed))
    )
}

extension Wire<ClusterLedger.SubscriptionEntry> {
    fileprivate static let subscriptionEntry = Wire(
        ClusterLedger.SubscriptionEntry(properties: Wire<SubscriptionProperties>.blank),
        [
            Field(\.properties, .properties),
            Field(\.owner, .optional(.fixed64)),
            Field(\.madeAt, .varint),
            Field(\.isActive, .bool),
            Field(\.carrier, .optional(.string)),
            Field(\.number, .optional(.varint)),
            Field(\.layout, .optional(.confirmed)) { entry, layout in
                guard let layout else { return }
                entry.layout = SubscriptionLayout(
                    entry.properties,
                    fieldCount: layout.fieldCount,
                    keyPosition: layout.keyPosition,
                    commandPosition: layout.commandPosition
                )
            },
        ]
    )
}

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
    /// What is older than the frames that the joining member reads, or than the ledger if the member reads none; nil: not known.
    package var past: ClusterPast?

    private static let fields = Wire<Self>(
        { Self(created: $0, ledger: $1, tables: $2, earlier: $3, epochAge: $4) },
        (\.created, .string),
        (\.ledger, ClusterLedger.wire),
        (\.tables, .dictionary(.subscribed, .list(.subscriptionEvent))),
        (\.earlier, .optional(EarlierState.wire)),
        (\.epochAge, .optional(.duration))
    )
}

extension ClusterSnapshot {
    /// The state after whose position the windows of the joining member begin.
    package var start: ClusterLedger { earlier?.ledger ?? ledger }

    /// The bytes that a member sends to a joining member, in a format that both read.
    package func bytes(in format: UInt8) -> [UInt8] { [format] + Self.wire(in: format).bytes(self) }

    /// Reads a snapshot in one of some formats.
    package init(_ bytes: [UInt8], among formats: Formats = .supported.ofState) throws(CodingError) {
        guard let format = bytes.first, formats.contains(format) else { throw .malformed }
        self = try Self.wire(in: format).value(bytes.dropFirst())
    }

    private static func wire(in format: UInt8) -> Wire<Self> {
        guard format >= Formats.ofPast else { return fields }
        let past = Wire.optional(ClusterPast.wire)
        return Wire { bytes, snapshot in
            fields.write(&bytes, snapshot)
            past.write(&bytes, snapshot.past)
        } _: { reader throws(CodingError) in
            var snapshot = try fields.read(&reader)
            snapshot.past = try past.read(&reader)
            return snapshot
        }
    }
}

/// What a joining member cannot read from the log, for streams whose last events are older.
package struct ClusterPast: Sendable, Equatable {
    /// For each client and subscription the numbers of the last events (see `EventHub.lastEvents`).
    package var lastEvents: [String: [UInt64]] = [:]
    /// The positions at which prepared streams got their last sources.
    package internal(set) var additions: [String: UInt64] = [:]

    fileprivate static let wire = Wire<Self>(
        Self.init,
        (\.lastEvents, .dictionary(.string, .list(.varint))),
        (\.additions, .dictionary(.string, .varint))
    )
}

extension Wire<String> {
    /// The id of a subscription, whose events follow.
    fileprivate static let subscribed = Wire<SubscriptionID>.subscription.map(
        { (id: String) in SubscriptionID(id) },
        from: \.rawValue
    )
}

extension Wire<Duration> {
    static let duration = Wire<UInt64>.varint.map { (duration: Duration) in
        UInt64(clamping: duration.clampedNanoseconds)
    } from: {
        .nanoseconds(Int64(clamping: $0))
    }
}

extension Wire<Set<UInt64>> {
    static let members = Wire<[UInt64]>.list(.fixed64).map({ $0.sorted() }, from: { Set($0) })
}

extension ClusterLedger {
    /// A ledger. The events that follow have the layouts of its subscriptions.
    static let wire = Wire<Self> { writer, ledger in
        fields.write(&writer, ledger)
    } _: { reader throws(CodingError) in
        let ledger = try fields.read(&reader)
        reader.layouts = { ledger.subscriptions[$0]?.layout }
        return ledger
    }

    private static let fields = Wire<Self>(
        ClusterLedger(epoch: 0, position: 0, groups: 1),
        [
            Field(\.topics.groups, .groups) { $0.topics = SharedTopics(groups: $1) },
            Field(\.epoch, .fixed64),
            Field(\.epochPosition, .fixed64),
            Field(\.position, .fixed64),
            Field(\.digest.value, .fixed64),
            Field(\.earlierEpochs, .list(.fixed64)),
            Field(\.removed, .list(.fixed64)),
            Field(\.members, .dictionary(.fixed64, Member.wire)) { ledger, members in
                ledger.members = members
                ledger.noteFormats()
            },
            Field(\.clients, .dictionary(.string, ClientEntry.wire)),
            Field(\.sessions, .dictionary(.string, OfferedUpstreamSession.wire)),
            Field(\.subscriptions, .dictionary(.string, SubscriptionEntry.wire)),
            Field(\.topics.byID, .dictionary(.string, SharedTopic.wire)) { ledger, topics throws(CodingError) in
                for (id, topic) in topics {
                    guard let properties = ledger.subscriptions[id]?.properties else { throw .malformed }
                    ledger.topics.restore(id, topic, properties)
                }
            },
            Field(\.requests, IdempotentRequests.wire),
            Field(\.quotas, SharedQuotas.wire),
            Field(\.credits, SharedCredits.wire),
            Field(\.ticketUses, TicketUses.wire),
            Field(\.specified, .dictionary(.string, SpecifiedResource.wire)),
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

extension Wire<SubscriptionLayout> {
    /// The counts and positions that the server confirmed. The names are those of the subscription.
    static let confirmed = Wire(
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

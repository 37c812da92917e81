package import Changes
package import SessionCore

/// The state of the cluster at a position of the log: its members, the shared subscriptions, their owners, and the members with
/// readers of them. It is a function of the frames alone, so it is the same on every member at the same position.
package struct ClusterLedger: Sendable, Equatable {
    /// A running gateway process.
    package struct Member: Sendable, Equatable {
        /// The information of its `join` record.
        package var info: MemberInfo
        /// The position of its first frame.
        package var joinedAt: UInt64
        /// The number of its last frame.
        package var counter: UInt64
        /// The parts of an incomplete record, up to `longestRecord` bytes.
        var partial: [UInt8] = []

        /// The greatest length of a record in parts, in bytes. A longer one is cut off, so that no member can read the record.
        static let longestRecord = 128 << 20

        /// Adds a part of a record; returns the record with its last part.
        mutating func add(_ part: ArraySlice<UInt8>, isLast: Bool) -> [UInt8]? {
            partial += part.prefix(max(0, Self.longestRecord - partial.count))
            guard isLast else { return nil }
            defer { partial = [] }
            return partial
        }

        static let wire = Wire<Self>(
            Self.init,
            (\.info, MemberInfo.wire),
            (\.joinedAt, .varint),
            (\.counter, .varint),
            (\.partial, .blob)
        )
    }

    /// The state of a subscription, as far as the ledger needs it for its decisions.
    package struct SubscriptionEntry: Sendable, Equatable {
        package var properties: SubscriptionProperties
        /// The member that owns it; nil for a shared one.
        package internal(set) var owner: UInt64?
        /// The position at which it was added.
        package internal(set) var madeAt: UInt64 = 0
        package var isActive = false
        package var carrier: String?
        /// The layout of its updates; nil while it is not subscribed.
        package var layout: SubscriptionLayout?
        /// The number of a shared one in the session of its carrier; nil: it cannot be continued.
        var number: UInt64?

        static let wire = Wire<Self>(
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

    /// A client of a member.
    package struct ClientEntry: Sendable, Equatable {
        package internal(set) var owner: UInt64
        package var status: ClientStatus
        /// The position at which it was added.
        package internal(set) var madeAt: UInt64 = 0

        static let wire = Wire<Self>(Self.init, (\.owner, .fixed64), (\.status, .raw(.string)), (\.madeAt, .varint))
    }

    /// A resource that a request created, and that another member recreates when its owner is removed.
    package struct SpecifiedResource: Sendable, Equatable {
        /// The specification from which it is recreated.
        package internal(set) var specification: ResourceSpecification
        /// The member that owns it; nil while no member can.
        package internal(set) var owner: UInt64?
        /// Whether a prepared stream is open on its owner; nil for anything else.
        package internal(set) var isOpen: Bool?

        static let wire = Wire<Self>(
            Self.init,
            (\.specification, ResourceSpecification.wire),
            (\.owner, .optional(.fixed64)),
            (\.isOpen, .optional(.bool))
        )
    }

    /// The number of the present epoch, and the position at which it began.
    package internal(set) var epoch: UInt64
    package internal(set) var epochPosition: UInt64
    /// The numbers of earlier epochs, newest last.
    var earlierEpochs: [UInt64] = []
    /// The position of the last frame that was applied.
    package internal(set) var position: UInt64
    /// The formats that all members read; nil: there are no members, or no such formats.
    package internal(set) var formats: Formats?
    /// The digest of the frames of the epoch up to this position.
    package internal(set) var digest = LogDigest()
    package internal(set) var members: [UInt64: Member] = [:]
    package internal(set) var topics: SharedTopics
    package internal(set) var subscriptions: [String: SubscriptionEntry] = [:]
    package internal(set) var clients: [String: ClientEntry] = [:]
    package internal(set) var specified: [String: SpecifiedResource] = [:]
    /// The upstream sessions that a new owner can continue, by client.
    package internal(set) var sessions: [String: OfferedUpstreamSession] = [:]
    var ticketUses = TicketUses()
    package internal(set) var requests = IdempotentRequests()
    package internal(set) var quotas = SharedQuotas()
    /// The sessions, subscriptions and items that the members may have open on the upstreams.
    package internal(set) var credits = SharedCredits()
    /// The members that were removed in this epoch and in earlier epochs, newest last. A late repetition of the first frame of
    /// a removed member does not add the member again, and a process that returns does not report resources that other members
    /// have inherited. The removed members of earlier epochs, which write no frames of this epoch, may differ between ledgers.
    var removed: [UInt64] = []
    /// The effects so far of the frame that is being applied; else none.
    var effects: [LedgerEffect] = []

    /// A ledger at the beginning of an epoch.
    init(epoch: UInt64, position: UInt64, groups: Int, earlierEpochs: [UInt64] = []) {
        self.epoch = epoch
        epochPosition = position
        self.position = position
        topics = SharedTopics(groups: groups)
        self.earlierEpochs = earlierEpochs
    }

    /// The result of applying a frame.
    package enum FrameResult: Sendable, Equatable {
        /// The frame was applied, with these effects in order.
        case taken([LedgerEffect])
        /// A new epoch began; the ledger is empty otherwise.
        case epochStarted
        /// A repetition of a frame that was applied.
        case again
        /// The frame was ignored: its writer is no member or wrote under an earlier epoch, or its bytes are not valid.
        case stale
        /// All members ignored the frame, because some of them do not read its format.
        case unreadable
        /// The checksum is wrong: the engine has changed the frame.
        case damaged
        /// A frame before it is missing from the log, or it belongs to an epoch whose beginning is missing.
        case lost
    }

    /// The number of earlier epochs, and of removed members, that are kept.
    static let remembered = 64
}

/// An effect of a frame beyond the change of the ledger. A later record of the frame can take from a new owner what an earlier one
/// has given, as when two members are removed at once: the effect for the owner that the ledger has in the end counts.
package enum LedgerEffect: Sendable, Equatable {
    /// A change of the hub.
    case hub(Change)
    /// A member joined.
    case joined(UInt64)
    /// A member was removed.
    case removed(UInt64)
    /// A shared subscription has a new owner.
    case assigned(String, to: UInt64)
    /// The session of a client has a new owner, with the shared subscriptions that the client carries.
    case adopted(client: String, by: UInt64)
    /// A member has readers of a shared subscription.
    case interestAdded(String, by: UInt64)
    /// A member no longer has readers of a shared subscription.
    case interestRemoved(String)
    /// A shared subscription ended, and is removed from the hubs of members whose streams do not read it.
    case retired(String, wasSubscribed: Bool)
    /// A specified resource has a new owner.
    case inherited(String, by: UInt64)
    /// A removed member had streams that tickets have opened.
    case ticketsOrphaned(of: UInt64)
    /// A member has lost its prepared stream to another one, has never owned it, or has removed it.
    case streamLost(String, by: UInt64)
    /// A prepared stream has sources that it did not have before.
    case sourcesAdded(String)
    /// The claim at a position waits for the members to release the credits of an upstream that they do not use.
    case creditsSought(upstream: String, claim: UInt64)
    /// An action of one member.
    indirect case order(MemberAction, to: UInt64)
}

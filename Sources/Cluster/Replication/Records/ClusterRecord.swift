package import Changes
package import SessionCore

/// The key of a shared subscription: streams with equal keys share one upstream subscription.
package struct SharedTopicKey: Sendable, Hashable {
    /// The configured upstream.
    package let upstream: String
    package let properties: SubscriptionProperties

    package init(upstream: String, properties: SubscriptionProperties) {
        self.upstream = upstream
        self.properties = properties
    }

    /// The key as bytes: equal only for equal keys.
    package var bytes: [UInt8] { Self.wire.bytes(self) }

    static let wire = Wire<Self>(Self.init, (\.upstream, .string), (\.properties, .properties))
}

/// The information that a member announces when it joins.
package struct MemberInfo: Sendable, Equatable {
    /// A name of the process for operators, for instance its host name and port.
    package var name: String
    /// The version of the program.
    package var version: String
    /// The upstreams that it can connect to.
    package var upstreams: [String]
    /// The number of the process, to which calls are sent; set by its `MemberMachine`.
    package internal(set) var process: UInt64 = 0
    /// The formats that it reads and writes; set by its `MemberMachine`.
    package internal(set) var formats = Formats.supported

    package init(name: String, version: String, upstreams: [String]) {
        self.name = name
        self.version = version
        self.upstreams = upstreams
    }

    static let wire = Wire<Self>(
        MemberInfo(name: "", version: "", upstreams: []),
        [
            Field(\.name, .string),
            Field(\.version, .string),
            Field(\.upstreams, .list(.string)),
            Field(\.process, .fixed64),
            Field(\.formats, Formats.wire),
        ]
    )
}

/// The specification from which another member recreates a resource of a request after the removal of its owner.
package struct ResourceSpecification: Sendable, Equatable {
    /// Resources with equal groups are assigned to the same member.
    package var group: String
    /// The upstream that its owner must have; nil: any member can own it.
    package var upstream: String?
    /// The identity of the caller that created the resource; nil: none.
    package var owner: String?
    /// The remaining content, in the format of the gateway.
    package var content: [UInt8]

    /// Whether the subscription of this id is one of the pool, and not of a dedicated client.
    func isPooled(_ id: String) -> Bool { group == id }

    package init(group: String, upstream: String?, owner: String? = nil, content: [UInt8]) {
        self.group = group
        self.upstream = upstream
        self.owner = owner
        self.content = content
    }

    static let wire = Wire<Self>(
        Self.init,
        (\.group, .string),
        (\.upstream, .optional(.string)),
        (\.owner, .optional(.string)),
        (\.content, .blob)
    )
}

/// An upstream session as its owner describes it to the other members.
package struct OfferedUpstreamSession: Sendable, Equatable {
    /// The name and address of the session, in the format of the gateway, encrypted.
    package let content: [UInt8]
    /// The number of data notifications whose events are in the log.
    package internal(set) var processed: UInt64

    package init(content: [UInt8], processed: UInt64) {
        self.content = content
        self.processed = processed
    }

    static let wire = Wire<Self>(Self.init, (\.content, .blob), (\.processed, .varint))
}

/// One entry of a frame.
package enum ClusterRecord: Sendable, Equatable {
    /// The writer joins the cluster.
    case join(MemberInfo)
    /// A member is removed from the cluster: the writer itself, or a silent one.
    case remove(UInt64)
    /// The writer has readers of a shared subscription.
    case addInterest(id: String, SharedTopicKey)
    /// The writer no longer has readers of a shared subscription.
    case removeInterest(id: String)
    /// The owner ends a shared subscription in which no member has an interest. Without effect if a member has one in the meantime,
    /// or if the term is not the present one.
    case retire(id: String, term: UInt64)
    /// A change of the hubs. The change of a shared subscription is valid only in the present term of its owner. `number`: that
    /// of the data notification that its event comes from, in the session of the carrying client; nil: none.
    case change(Change, term: UInt64, number: UInt64? = nil)
    /// The session of a client of the writer, which a new owner of its subscriptions can continue; nil: none.
    case session(client: String, OfferedUpstreamSession?)
    /// The number of a shared subscription in the session of its client; followed by `subscribed`.
    case upstreamNumber(id: String, term: UInt64, number: UInt64)
    /// The specification of a subscription or client of the writer, which replaces an earlier one. It is refused if
    /// another member owns the resource.
    case specify(id: String, ResourceSpecification)
    /// The stream of a ticket is opened, or has closed.
    case ticket(TicketRecord)
    /// A change of a prepared stream.
    case stream(PreparedStreamRecord)
    /// A request with an `Idempotency-Key`.
    case request(RequestRecord)
    /// The use of a quota of the whole cluster.
    case quota(QuotaRecord)
    /// The credits of an upstream.
    case credit(CreditRecord)
    /// The resources and shared subscriptions of an upstream end that have no owner. Without effect if a member has the
    /// upstream, or if members have different versions: earlier versions skip the record.
    case endUpstream(String)
    /// The writer has these upstreams from now on. Without effect if members have different versions.
    case upstreams([String])
    /// A part of a record that is too large for one frame; the record is complete with its last part.
    case part(ArraySlice<UInt8>, isLast: Bool)
}

/// The subject of a record whose outcome a request waits for.
package enum RecordSubject: Sendable, Hashable {
    /// The use of a ticket.
    case ticket(RecordKey)
    /// The opening of a prepared stream.
    case stream(String)
    /// A request with an `Idempotency-Key`, and the digest of its body: a decision about one body is none about another.
    case request(RecordKey, body: RecordKey)
    /// The claim of units of quotas, by its number.
    case quota(UInt64)
    /// The claim of credits of an upstream, by its number.
    case credits(UInt64)
}

/// The decision of the log, which is the same on every member.
package enum RecordOutcome: Sendable, Equatable {
    /// The request may be performed.
    case accepted
    /// Another request was first.
    case refused
    /// There is nothing that the request could be about.
    case unknown
    /// A member is performing the request.
    case pending
    /// A member has performed the request, with this response.
    case answered([UInt8])
}

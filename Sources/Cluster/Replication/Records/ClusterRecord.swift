package import Changes
package import SessionCore

/// The key of a shared subscription: streams with equal keys share one upstream subscription.
package struct SharedTopicKey: Sendable, Hashable {
    /// The configured upstream.
    package let upstream: String
    /// The properties of the subscription.
    package let properties: SubscriptionProperties

    /// A key.
    package init(upstream: String, properties: SubscriptionProperties) {
        self.upstream = upstream
        self.properties = properties
    }

    /// The key as bytes: equal only for equal keys.
    package var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.key(self)
        return writer.bytes
    }
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

    /// The information of a member.
    package init(name: String, version: String, upstreams: [String]) {
        self.name = name
        self.version = version
        self.upstreams = upstreams
    }
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

    /// A specification.
    package init(group: String, upstream: String?, owner: String? = nil, content: [UInt8]) {
        self.group = group
        self.upstream = upstream
        self.owner = owner
        self.content = content
    }
}

/// An upstream session as its owner describes it to the other members.
package struct OfferedUpstreamSession: Sendable, Equatable {
    /// Its name and address, in the format of the gateway, encrypted.
    package let content: [UInt8]
    /// The number of data notifications whose events are in the log.
    package internal(set) var processed: UInt64

    /// A session.
    package init(content: [UInt8], processed: UInt64) {
        self.content = content
        self.processed = processed
    }
}

/// One entry of a frame.
package enum ClusterRecord: Sendable, Equatable {
    /// The writer joins the cluster.
    case join(MemberInfo)
    /// A member is removed from the cluster: the writer itself, or a silent one.
    case remove(UInt64)
    /// The writer has readers of a shared subscription.
    case want(id: String, SharedTopicKey)
    /// The writer no longer has readers of a shared subscription.
    case unwant(id: String)
    /// The owner ends a shared subscription that no member wants. Without effect if a member wants it in the meantime,
    /// or if the tenure is not the present one.
    case retire(id: String, tenure: UInt64)
    /// A change of the hubs. The change of a shared subscription is valid only in the present tenure of its owner.
    case change(Change, tenure: UInt64)
    /// As `change`, for an event of a shared subscription that comes from the data notification of this number, in the
    /// session of the client that carries the subscription.
    case numberedChange(Change, tenure: UInt64, number: UInt64)
    /// The session of a client of the writer, which a new owner of its subscriptions can continue; nil: not, or no
    /// longer.
    case session(client: String, OfferedUpstreamSession?)
    /// The number of a shared subscription in the session of its client; followed by `subscribed`.
    case upstreamNumber(id: String, tenure: UInt64, number: UInt64)
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
    /// A part of a record that is too large for one frame; the record is complete with its last part.
    case part(ArraySlice<UInt8>, isLast: Bool)
}

/// One byte for each case of a `ClusterRecord`; numbers are never reused.
enum RecordTag {
    static let join: UInt8 = 1
    static let remove: UInt8 = 2
    static let want: UInt8 = 3
    static let unwant: UInt8 = 4
    static let retire: UInt8 = 5
    static let change: UInt8 = 6
    static let part: UInt8 = 7
    static let specify: UInt8 = 8
    static let stream: UInt8 = 10
    static let request: UInt8 = 11
    static let numberedChange: UInt8 = 12
    static let session: UInt8 = 13
    static let upstreamNumber: UInt8 = 14
    static let quota: UInt8 = 15
    static let credit: UInt8 = 16
    // 9 was the first use of a ticket, without its stream.
    static let ticket: UInt8 = 17
}

extension ClusterRecord {
    /// The record without its length.
    var body: [UInt8] {
        var writer = ByteWriter()
        switch self {
        case .join(let info):
            writer.byte(RecordTag.join)
            writer.info(info)
        case .remove(let member):
            writer.byte(RecordTag.remove)
            writer.fixed64(member)
        case .want(let id, let key):
            writer.byte(RecordTag.want)
            writer.string(id)
            writer.key(key)
        case .unwant(let id):
            writer.byte(RecordTag.unwant)
            writer.string(id)
        case .retire(let id, let tenure):
            writer.byte(RecordTag.retire)
            writer.string(id)
            writer.varint(tenure)
        case .change(let change, let tenure):
            writer.byte(RecordTag.change)
            writer.varint(tenure)
            writer.change(change)
        case .specify(let id, let specification):
            writer.byte(RecordTag.specify)
            writer.string(id)
            writer.specification(specification)
        case .ticket(let record):
            writer.byte(RecordTag.ticket)
            writer.ticket(record)
        case .stream(let record):
            writer.byte(RecordTag.stream)
            writer.stream(record)
        case .request(let record):
            writer.byte(RecordTag.request)
            writer.request(record)
        case .numberedChange(let change, let tenure, let number):
            writer.byte(RecordTag.numberedChange)
            writer.varint(tenure)
            writer.varint(number)
            writer.change(change)
        case .session(let client, let session):
            writer.byte(RecordTag.session)
            writer.string(client)
            writer.optional(session) { $0.session($1) }
        case .upstreamNumber(let id, let tenure, let number):
            writer.byte(RecordTag.upstreamNumber)
            writer.string(id)
            writer.varint(tenure)
            writer.varint(number)
        case .quota(let record):
            writer.byte(RecordTag.quota)
            writer.quota(record)
        case .credit(let record):
            writer.byte(RecordTag.credit)
            writer.credit(record)
        case .part(let bytes, let isLast):
            writer.byte(RecordTag.part)
            writer.bool(isLast)
            writer.blob(bytes)
        }
        return writer.bytes
    }

    /// The record as it stands in a frame: its length, then its bytes.
    package var encoded: [UInt8] { Self.framed(body[...]) }

    /// The length of a record's bytes, then the bytes.
    static func framed(_ body: ArraySlice<UInt8>) -> [UInt8] {
        var writer = ByteWriter()
        writer.blob(body)
        return writer.bytes
    }

    /// Reads a record; nil for one of a kind that this build does not know.
    static func read(
        _ body: ArraySlice<UInt8>,
        layout: (String) -> SubscriptionLayout?
    ) throws(CodingError) -> ClusterRecord? {
        var reader = ByteReader(body)
        let record: ClusterRecord
        switch try reader.byte() {
        case RecordTag.join: record = .join(try reader.info())
        case RecordTag.remove: record = .remove(try reader.fixed64())
        case RecordTag.want: record = .want(id: try reader.string(), try reader.key())
        case RecordTag.unwant: record = .unwant(id: try reader.string())
        case RecordTag.retire: record = .retire(id: try reader.string(), tenure: try reader.varint())
        case RecordTag.change:
            let tenure = try reader.varint()
            record = .change(try reader.change(layout: layout), tenure: tenure)
        case RecordTag.specify: record = .specify(id: try reader.string(), try reader.specification())
        case RecordTag.ticket: record = .ticket(try reader.ticketRecord())
        case RecordTag.stream: record = .stream(try reader.stream())
        case RecordTag.request: record = .request(try reader.request())
        case RecordTag.numberedChange:
            let (tenure, number) = (try reader.varint(), try reader.varint())
            record = .numberedChange(try reader.change(layout: layout), tenure: tenure, number: number)
        case RecordTag.session:
            record = .session(
                client: try reader.string(),
                try reader.optional { reader throws(CodingError) in try reader.session() }
            )
        case RecordTag.upstreamNumber:
            record = .upstreamNumber(id: try reader.string(), tenure: try reader.varint(), number: try reader.varint())
        case RecordTag.quota: record = .quota(try reader.quota())
        case RecordTag.credit: record = .credit(try reader.credit())
        case RecordTag.part:
            let isLast = try reader.bool()
            record = .part(try reader.blob(), isLast: isLast)
        default: return nil
        }
        try reader.finish()
        return record
    }
}

extension ByteWriter {
    mutating func info(_ info: MemberInfo) {
        string(info.name)
        string(info.version)
        list(info.upstreams) { $0.string($1) }
        fixed64(info.process)
        formats(info.formats)
    }

    mutating func session(_ session: OfferedUpstreamSession) {
        blob(session.content)
        varint(session.processed)
    }

    mutating func specification(_ specification: ResourceSpecification) {
        string(specification.group)
        optional(specification.upstream) { $0.string($1) }
        optional(specification.owner) { $0.string($1) }
        blob(specification.content)
    }

    mutating func key(_ key: SharedTopicKey) {
        string(key.upstream)
        properties(key.properties)
    }
}

extension ByteReader {
    mutating func info() throws(CodingError) -> MemberInfo {
        var info = MemberInfo(
            name: try string(),
            version: try string(),
            upstreams: try strings()
        )
        info.process = try fixed64()
        info.formats = try formats()
        return info
    }

    mutating func session() throws(CodingError) -> OfferedUpstreamSession {
        OfferedUpstreamSession(content: Array(try blob()), processed: try varint())
    }

    mutating func specification() throws(CodingError) -> ResourceSpecification {
        ResourceSpecification(
            group: try string(),
            upstream: try optionalString(),
            owner: try optionalString(),
            content: Array(try blob())
        )
    }

    mutating func key() throws(CodingError) -> SharedTopicKey {
        SharedTopicKey(upstream: try string(), properties: try properties())
    }
}

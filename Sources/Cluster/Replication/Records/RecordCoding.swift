package import Changes
internal import Primitives
internal import SessionCore

extension ClusterRecord {
    /// The record without its length.
    var body: [UInt8] { Self.wire.bytes(self) }

    /// The record as it stands in a frame: its length, then its bytes.
    package var encoded: [UInt8] { Self.framed(body) }

    /// The length of a record's bytes, then the bytes.
    static func framed(_ body: [UInt8]) -> [UInt8] { Wire<[UInt8]>.blob.bytes(body) }

    /// Reads a record. An unknown kind is malformed: every member skips records that it cannot read.
    static func read(
        _ body: ArraySlice<UInt8>,
        layout: @escaping (String) -> SubscriptionLayout?
    ) throws(CodingError) -> ClusterRecord {
        try wire.value(ByteReader(body, layouts: layout))
    }

    // 9 was the first use of a ticket, without its stream.
    private static let wire = Wire<Self>(cases: [
        Case(12, .varint, .varint, .change, make: { .change($2, term: $0, number: $1) }) {
            if case .change(let change, let term, let number?) = $0 { (term, number, change) } else { nil }
        },
        Case(6, .varint, .change, make: { .change($1, term: $0) }) {
            if case .change(let change, let term, nil) = $0 { (term, change) } else { nil }
        },
        Case(1, MemberInfo.wire, make: Self.join) { if case .join(let info) = $0 { info } else { nil } },
        Case(2, .fixed64, make: Self.remove) { if case .remove(let member) = $0 { member } else { nil } },
        Case(3, .string, SharedTopicKey.wire, make: Self.addInterest) {
            if case .addInterest(let id, let key) = $0 { (id, key) } else { nil }
        },
        Case(4, .string, make: Self.removeInterest) { if case .removeInterest(let id) = $0 { id } else { nil } },
        Case(5, .string, .varint, make: Self.retire) {
            if case .retire(let id, let term) = $0 { (id, term) } else { nil }
        },
        Case(8, .string, ResourceSpecification.wire, make: Self.specify) {
            if case .specify(let id, let specification) = $0 { (id, specification) } else { nil }
        },
        Case(17, TicketRecord.wire, make: Self.ticket) { if case .ticket(let record) = $0 { record } else { nil } },
        Case(10, PreparedStreamRecord.wire, make: Self.stream) {
            if case .stream(let record) = $0 { record } else { nil }
        },
        Case(11, RequestRecord.wire, make: Self.request) { if case .request(let record) = $0 { record } else { nil } },
        Case(13, .string, .optional(OfferedUpstreamSession.wire), make: Self.session) {
            if case .session(let client, let session) = $0 { (client, session) } else { nil }
        },
        Case(14, .string, .varint, .varint, make: Self.upstreamNumber) {
            if case .upstreamNumber(let id, let term, let number) = $0 { (id, term, number) } else { nil }
        },
        Case(15, QuotaRecord.wire, make: Self.quota) { if case .quota(let record) = $0 { record } else { nil } },
        Case(16, CreditRecord.wire, make: Self.credit) { if case .credit(let record) = $0 { record } else { nil } },
        Case(18, .string, make: Self.endUpstream) { if case .endUpstream(let upstream) = $0 { upstream } else { nil } },
        Case(19, .list(.string), make: Self.upstreams) {
            if case .upstreams(let upstreams) = $0 { upstreams } else { nil }
        },
        Case(7, .bool, .slice, make: { .part($1, isLast: $0) }) {
            if case .part(let bytes, let isLast) = $0 { (isLast, bytes) } else { nil }
        },
    ])
}

extension Wire<ClientID> { package static let client = Wire<String>.string.map(\.rawValue) { ClientID($0) } }

extension Wire<SubscriptionID> {
    /// The id of a subscription, whose updates have its layout from then on.
    package static let subscription = Wire { bytes, id in
        Wire<String>.string.write(&bytes, id.rawValue)
    } _: { reader throws(CodingError) in
        let id = try Wire<String>.string.read(&reader)
        reader.layout = reader.layouts(id)
        return SubscriptionID(id)
    }
}

extension Wire<Change> {
    static let change = Wire(cases: [
        Case(8, .subscription, .subscriptionEvent, make: { .subscription($0, .event($1)) }) {
            if case .subscription(let id, .event(let event)) = $0 { (id, event) } else { nil }
        },
        Case(7, .client, .clientEvent, make: { .client($0, .event($1)) }) {
            if case .client(let id, .event(let event)) = $0 { (id, event) } else { nil }
        },
        Case(1, .client, .raw(.string), make: { .client($0, .added($1)) }) {
            if case .client(let id, .added(let status)) = $0 { (id, status) } else { nil }
        },
        Case(2, .client, make: { .client($0, .removed) }) {
            if case .client(let id, .removed) = $0 { id } else { nil }
        },
        Case(3, .subscription, .properties, make: { .subscription($0, .added($1)) }) {
            if case .subscription(let id, .added(let properties)) = $0 { (id, properties) } else { nil }
        },
        Case(4, .subscription, make: { .subscription($0, .removed) }) {
            if case .subscription(let id, .removed) = $0 { id } else { nil }
        },
        Case(5, .subscription, .optional(.client), make: { .subscription($0, .carried(by: $1)) }) {
            if case .subscription(let id, .carried(let client)) = $0 { (id, client) } else { nil }
        },
        Case(6, .subscription, .bool, make: { .subscription($0, .activity(isActive: $1)) }) {
            if case .subscription(let id, .activity(let isActive)) = $0 { (id, isActive) } else { nil }
        },
        Case(9, .subscription, .properties, make: { .subscription($0, .propertiesChanged($1)) }) {
            if case .subscription(let id, .propertiesChanged(let properties)) = $0 { (id, properties) } else { nil }
        },
    ])
}

extension SubscriptionLimits {
    /// Throws for counts, and positions of fields, that a client accepts from no server: the sizes of tables follow from them.
    static func check(itemCount: Int = 0, fieldCount: Int, _ positions: Int?...) throws(CodingError) {
        guard admit(itemCount: itemCount, fieldCount: fieldCount),
            positions.allSatisfy({ position in position.map { $0 >= 1 && $0 <= fieldCount } ?? true })
        else { throw .malformed }
    }
}

extension Wire<SubscriptionEvent> {
    /// An event of the subscription that was read or written before.
    static let subscriptionEvent = Wire(cases: [
        Case(4, .update, make: Value.update) { if case .update(let update) = $0 { update } else { nil } },
        Case(
            1,
            .signed,
            .signed,
            .optional(.signed),
            .optional(.signed),
            make: { items, fields, key, command throws(CodingError) in
                try SubscriptionLimits.check(itemCount: items, fieldCount: fields, key, command)
                return .subscribed(itemCount: items, fieldCount: fields, keyPosition: key, commandPosition: command)
            }
        ) {
            if case .subscribed(let items, let fields, let key, let command) = $0 {
                (items, fields, key, command)
            } else {
                nil
            }
        },
        Case(2, .bool, make: Value.unsubscribed) { if case .unsubscribed(let isFinal) = $0 { isFinal } else { nil } },
        Case(3, .signed, .string, make: Value.failed) {
            if case .failed(let code, let message) = $0 { (code, message) } else { nil }
        },
        Case(5, .signed, make: Value.endOfSnapshot) { if case .endOfSnapshot(let item) = $0 { item } else { nil } },
        Case(6, .signed, make: Value.clearSnapshot) { if case .clearSnapshot(let item) = $0 { item } else { nil } },
        Case(7, .signed, .signed, make: Value.lostUpdates) {
            if case .lostUpdates(let count, let item) = $0 { (count, item) } else { nil }
        },
        Case(8, .signed, .string, .string, make: Value.secondLevelFailed) {
            if case .secondLevelFailed(let code, let message, let key) = $0 { (code, message, key) } else { nil }
        },
        Case(9, .signed, .string, make: Value.secondLevelLostUpdates) {
            if case .secondLevelLostUpdates(let count, let key) = $0 { (count, key) } else { nil }
        },
        Case(10, .optional(.realFrequency), make: Value.realMaxFrequency) {
            if case .realMaxFrequency(let frequency) = $0 { .some(frequency) } else { nil }
        },
    ])
}

extension Wire<RealMaxFrequency> {
    fileprivate static let realFrequency = Wire<Double>.double.map { (frequency: RealMaxFrequency) in
        if case .limited(let value) = frequency { value } else { Double(LimitCode.unlimited) }
    } from: {
        $0 == Double(LimitCode.unlimited) ? .unlimited : .limited($0)
    }
}

extension Wire<ItemUpdate> {
    /// An update contains all values, so that it can be read without the earlier ones. An update of a subscription without
    /// a layout is malformed, because no `subscribed` precedes it.
    fileprivate static let update = Wire(
        { (layout: SubscriptionLayout?, item, isSnapshot, values, positions, patches, itemRow) throws(CodingError) in
            guard let layout else { throw .malformed }
            var changed = FieldSet()
            for position in positions {
                guard position <= values.count else { throw .malformed }
                changed.insert(position)
            }
            return ItemUpdate(
                layout: layout,
                itemPos: item,
                isSnapshot: isSnapshot,
                values: values,
                changed: changed,
                patches: patches
            )
            .made(from: itemRow)
        },
        (\.layout, .layout),
        (\.itemPos, .signed),
        (\.isSnapshot, .bool),
        (\.values, .list(.cell)),
        (\.changed.positions, .list(.size)),
        (\.patches, .dictionary(.signed, .string)),
        (\.itemRow, .optional(.list(.cell)))
    )
}

extension Wire<SubscriptionLayout?> {
    /// The layout of the subscription that was read before; no bytes.
    fileprivate static let layout = Wire({ _, _ in }, { reader in reader.layout })
}

extension Wire<String?> {
    /// A value is preceded by its length plus one; null is 0.
    fileprivate static let cell = Wire { bytes, value in
        guard let value else { return bytes.append(0) }
        Varint.append(UInt64(value.utf8.count) + 1, to: &bytes)
        bytes += value.utf8
    } _: { reader throws(CodingError) in
        let length = try reader.varint()
        return length == 0 ? nil : String(decoding: try reader.raw(length - 1), as: UTF8.self)
    }
}

/// The numbers that stand for limits without a number.
private enum LimitCode {
    static let unlimited = -1
    static let unfiltered = -2
    static let noSnapshot = -1
    static let wholeSnapshot = 0
}

extension Wire<SubscriptionProperties> {
    /// The properties with which reading begins.
    static let blank = SubscriptionProperties(mode: .merge, items: .list([]), fields: .list([]))

    static let properties = Wire(
        blank,
        [
            Field(\.mode, .raw(.string)),
            Field(\.items, .names),
            Field(\.fields, .names),
            Field(\.dataAdapter, .optional(.string)),
            Field(\.selector, .optional(.string)),
            Field(\.requestedSnapshot, .optional(.snapshot)),
            Field(\.requestedMaxFrequency, .optional(.frequency)),
            Field(\.requestedBufferSize, .optional(.bufferSize)),
            Field(\.secondLevelFields, .optional(.names)),
            Field(\.secondLevelDataAdapter, .optional(.string)),
        ]
    )
}

extension Wire<NameSource> {
    static let names = Wire(cases: [
        Case(0, .list(.string), make: Value.list) { if case .list(let names) = $0 { names } else { nil } },
        Case(1, .string, make: Value.group) { if case .group(let name) = $0 { name } else { nil } },
    ])
}

extension Wire<RequestedSnapshot> {
    fileprivate static let snapshot = Wire<Int>.signed.map { (snapshot: RequestedSnapshot) in
        switch snapshot {
        case .no: LimitCode.noSnapshot
        case .yes: LimitCode.wholeSnapshot
        case .length(let length): length
        }
    } from: {
        switch $0 {
        case LimitCode.noSnapshot: .no
        case LimitCode.wholeSnapshot: .yes
        default: .length($0)
        }
    }
}

extension Wire<RequestedMaxFrequency> {
    fileprivate static let frequency = Wire<Double>.double.map { (frequency: RequestedMaxFrequency) in
        switch frequency {
        case .unfiltered: Double(LimitCode.unfiltered)
        case .unlimited: Double(LimitCode.unlimited)
        case .limited(let value): value
        }
    } from: {
        switch $0 {
        case Double(LimitCode.unfiltered): .unfiltered
        case Double(LimitCode.unlimited): .unlimited
        default: .limited($0)
        }
    }
}

extension Wire<RequestedBufferSize> {
    fileprivate static let bufferSize = Wire<Int>.signed.map { (size: RequestedBufferSize) in
        if case .limited(let value) = size { value } else { LimitCode.unlimited }
    } from: {
        $0 == LimitCode.unlimited ? .unlimited : .limited($0)
    }
}

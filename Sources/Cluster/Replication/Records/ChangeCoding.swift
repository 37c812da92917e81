internal import Changes
internal import SessionCore

/// The numbers that stand for limits without a number.
private enum LimitCode {
    static let unlimited = -1
    static let unfiltered = -2
    static let noSnapshot = -1
    static let wholeSnapshot = 0
}

extension Wire<ClientID> { static let client = Wire<String>.string.map(\.rawValue) { ClientID($0) } }

extension Wire<SubscriptionID> {
    /// The id of a subscription, whose updates have its layout from then on.
    static let subscription = Wire { writer, id in
        writer.string(id.rawValue)
    } _: { reader throws(CodingError) in
        let id = try reader.string()
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

extension Wire<SubscriptionProperties> {
    static let properties = Wire(
        SubscriptionProperties(mode: .merge, items: .list([]), fields: .list([])),
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
        Case(0, .list(.string), make: { .list($0) }) { if case .list(let names) = $0 { names } else { nil } },
        Case(1, .string, make: { .group($0) }) { if case .group(let name) = $0 { name } else { nil } },
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
        switch size {
        case .unlimited: LimitCode.unlimited
        case .limited(let value): value
        }
    } from: {
        $0 == LimitCode.unlimited ? .unlimited : .limited($0)
    }
}
